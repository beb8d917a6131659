"""Turns the sources in the arguments into modules, because none of them is a file that Python could find."""

import sys

# sys.argv: "-c", the supervisor's process id (visible in `ps`), then pairs of name and source.
for name, source in zip(sys.argv[2::2], sys.argv[3::2]):
    module = type(sys)(name)
    sys.modules[name] = module
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)

del sys.argv[1:], sys.orig_argv[:]
sys.modules["zygote"].main()
