"""The pipes of a call: its output as text streams, and its report."""

import io
import os
import sys

STDOUT, STDERR, RESULT = 1, 2, 3

_streams = []  # The original streams. The code may have replaced sys.stdout and sys.stderr.


def open_all():
    """Replaces the standard streams, once, in the zygote."""
    sys.stdin = io.StringIO()
    sys.stdout, sys.stderr = _streams[:] = _text(STDOUT), _text(STDERR)


def connect(pipes):
    """Puts the three pipes in their places, and closes standard input."""
    for pipe, place in zip(pipes, (STDOUT, STDERR, RESULT)):
        os.dup2(pipe, place, inheritable=False)
    os.close(0)


def flush():
    for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None), *_streams):
        try:
            stream.flush()
        except BaseException:
            pass  # The code may have replaced the stream by any object.


def report(frame):
    """Writes the report of the call."""
    try:
        while frame:
            frame = frame[os.write(RESULT, frame) :]
    except OSError:
        pass  # The code has closed the pipe: the supervisor reports this case.


def _text(descriptor):
    """Streams that are flushed after each line, so that the output of killed code is complete up to then."""
    raw = io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="\n", line_buffering=True)
