"""One call, in a process of its own: the child locks itself in, runs the code, reports the outcome, and ends."""

import codecs
import json
import os

import check
import guest
import lockdown
import report
import streams

FILTERS = 1  # How many seccomp filters the supervisor sends.
DESCRIPTORS = 4  # Of a call: its request, and the pipes for stdout, stderr and the result.
NO_WALL = 70  # The exit status for code that was not run.
BALLAST_BYTES = 2 << 20  # Freed when memory has run out, so that the error can be reported.

# The usual encodings of documents, without the large ones of East Asia, which would double the start-up time.
ENCODINGS = (
    *("ascii", "idna", "punycode", "raw-unicode-escape", "utf-7", "utf-8-sig", "utf-16", "utf-32"),
    *("base64", "hex", "quopri", "rot13"),
    *(f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))),
    *(f"cp{page}" for page in (437, 850, 852, 866, *range(1250, 1259))),
    *("koi8-r", "koi8-u", "mac-roman"),
)

# Uses the features of the allowed modules that import other modules.
REHEARSAL = """
import json, re, typing

@typing.runtime_checkable
class Sized(typing.Protocol):
    def __len__(self) -> int: ...

class Pair(typing.NamedTuple):
    left: typing.Optional["int"]

class Named(typing.TypedDict):
    name: str

def f(arguments: typing.Dict[str, typing.Any]) -> typing.List[int]:
    return [len(arguments), isinstance(arguments, Sized)]

typing.get_type_hints(f), typing.get_type_hints(Pair), typing.get_type_hints(Named)
json.loads(json.dumps({"a": [1, 2.5, None]}, indent=2))
re.sub(r"(?P<a>\\w)+", r"\\g<a>", "abc", flags=re.IGNORECASE)
"""


def warm_up():
    """Loads files once, in the zygote. A call that is locked in can no longer load them."""
    streams.open_all()
    for name in ("__future__", "_pylong", "unicodedata"):
        try:
            __import__(name)
        except ImportError:
            pass  # Not every version of Python has it.
    for name in ENCODINGS:
        codecs.lookup(name)
    guest.run(json.loads(json.dumps({"code": REHEARSAL, "function": "f", "arguments": {}})))
    check.run({"code": REHEARSAL, "check": "f"})
    try:
        guest.run({"code": "def é():\n    raise ValueError('é')\né()"})
    except ValueError as error:
        report.failed(error, "def é():\n    raise ValueError('é')\né()")


def run(parent, limits, descriptors, filters):
    """Runs the call. This function does not return."""
    try:
        lockdown.die_with_parent()
        if os.getppid() != parent:
            os._exit(NO_WALL)
        source = _take(descriptors)
        address_space, cpu_seconds = limits
        ballast = [bytes(BALLAST_BYTES)]  # Not a bytearray, which Python would fill, and so occupy.
        lockdown.enter(filters, address_space + BALLAST_BYTES, cpu_seconds)
    except BaseException:
        os._exit(NO_WALL)
    status = 1
    try:
        status = _answer(source, ballast)
    finally:  # No exception may leave this function.
        os._exit(status)


def _answer(source, ballast):
    code = ""
    try:
        request = json.loads(source)
        source = None
        code = request["code"]
        work = check.run if "check" in request else guest.run
        frame, status = report.succeeded(work(request)), 0
    except SystemExit as error:
        frame, status = report.left(error, "function" in request)
    except BaseException as error:
        ballast.clear()
        frame, status = report.failed(error, code)
    streams.flush()
    streams.report(frame)
    return status


def _take(descriptors):
    """Reads the request, and closes all descriptors except the three pipes."""
    request, *pipes = descriptors
    source = os.pread(request, os.fstat(request).st_size, 0)
    streams.connect(pipes)
    os.closerange(streams.RESULT + 1, os.sysconf("SC_OPEN_MAX"))
    return source
