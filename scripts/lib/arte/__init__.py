"""ART-E's questions about mail, asked through the playground: the work of scripts/arte, which documents the options.

`questions` reads them, `run` asks them, `scoring` decides which answers are right, `results` keeps what is done, and
`report` and `plot` tell the figures. Only the standard library is needed.
"""
