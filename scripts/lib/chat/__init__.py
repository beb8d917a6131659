"""A chat with an agent in the terminal: the work of scripts/chat, which documents the options.

The answer's text goes to stdout, and everything else to stderr, so that a script gets the answer alone. `screen` writes both,
`turn` shows one answer, `stored` reads answers that have ended, `conversation` talks to the server, `ctrl_c` stops turns, and
`commands` reads the lines of the user. Only the standard library is needed.
"""
