"""Turns the sources that come as arguments into modules, for none of them is a file that Python could find."""

import sys

# sys.argv: "-c", whose zygote this is (to be seen in `ps`), then pairs of name and source.
for name, source in zip(sys.argv[2::2], sys.argv[3::2]):
    module = type(sys)(name)
    sys.modules[name] = module
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)

del sys.argv[1:], sys.orig_argv[:]
sys.modules["zygote"].main()
