"""Runs the tests of what toolsets import: run.py PACKAGES, where PACKAGES has what sandbox/requirements.txt lists:

    python3 -m pip install --target PACKAGES --only-binary=:all: -r sandbox/requirements.txt
    python3 -I -S -B sandbox/tests/python/run.py PACKAGES

The interpreter is started as the sandbox starts it. Further arguments choose tests, such as `test_bind`.
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    if len(sys.argv) < 2 or not os.path.isdir(os.path.join(sys.argv[1], "pydantic")):
        sys.exit("usage: run.py PACKAGES [TEST…], where PACKAGES is a folder with pydantic: see the comment in run.py")
    packages = os.path.abspath(sys.argv[1])
    sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "python"), packages]
    loader = unittest.TestLoader()
    tests = loader.loadTestsFromNames(sys.argv[2:]) if sys.argv[2:] else loader.discover(HERE)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(tests)
    if not result.testsRun:
        print("there are no tests")
    sys.exit(not result.wasSuccessful() or not result.testsRun)


main()
