"""The child's report about its call, as one JSON text on the result pipe."""

import io
import json
import linecache
import traceback

FILENAME = "main.py"  # The name of the code in tracebacks.
MAX_RESULT_BYTES = 1 << 20
MAX_ERROR_CHARACTERS = 16_000
NO_MEMORY = b'{"kind":"memory","error":"MemoryError: the code needs more memory than it may have"}'

_name_of = vars(type)["__name__"].__get__  # A class may lie about its own __name__.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class BadSource(Exception):
    """The code could not be compiled. The cause of this exception is the reason."""


class BadCall(Exception):
    """The function cannot be called with these arguments. The text of this exception is the reason."""


class BadResult(Exception):
    """The value of a function is not valid JSON. The text of this exception is the reason."""


class _Source(str):
    """The code, split into lines as Python counts them; `str.splitlines` knows other line ends as well."""

    def splitlines(self):
        return [line.rstrip("\n") for line in io.StringIO(self, newline=None)]


def shown(filename):
    """The name under which tracebacks show a file of the code; none for other files. The second room has more files."""
    return filename if filename == FILENAME else None


def compile_source(code):
    remember(code)
    try:
        return compile(code, FILENAME, "exec", dont_inherit=True)
    except MemoryError:
        raise
    except Exception as error:  # Not only SyntaxError: NUL, surrogates and deep nesting raise other errors.
        raise BadSource from error


def remember(code):
    """Lets warnings and tracebacks show the code's lines. The lines are made on demand."""
    linecache.cache[FILENAME] = (lambda: _Source(code),)


def as_json(function, result):
    try:
        text = _encode(result)
    except MemoryError:
        raise
    except Exception as error:
        raise BadResult(f"what {function}() returned is not JSON: {type(error).__name__}: {error}") from None
    size = len(text.encode(errors="replace"))
    if size > MAX_RESULT_BYTES:
        raise BadResult(f"what {function}() returned is {size} bytes long as JSON, and {MAX_RESULT_BYTES} are allowed")
    return text


def succeeded(result):
    return b'{"result":%s}' % (result or "null").encode(errors="replace")


def left(error, in_function):
    """The code raised SystemExit. Its argument may be an object of the code that fails when it is read."""
    try:
        status = int(error.code) if isinstance(error.code, int) else int(error.code is not None)
        if status == 0 and not in_function:
            return succeeded(None), 0
        return _frame("exception", f"SystemExit: {error.code}"), status & 0xFF or 1
    except BaseException:
        return _frame("exception", "SystemExit"), 1


def failed(error, code):
    """The code failed. If memory is short, the report becomes shorter and shorter."""
    try:
        return _describe(error, code), 1
    except BaseException:
        return NO_MEMORY if isinstance(error, MemoryError) else _frame("exception", _name_of(type(error))), 1


def _describe(error, code):
    if isinstance(error, BadSource):
        return _frame("syntax", told(error.__cause__, code))
    if isinstance(error, (BadCall, BadResult)):
        return _frame("exception", str(error))
    kind = "memory" if isinstance(error, MemoryError) else "import" if isinstance(error, ImportError) else "exception"
    return _frame(kind, told(error, code))


def told(error, code):
    """The traceback as Python prints it, without the lines that are not the code's own."""
    remember(code)
    described = traceback.TracebackException.from_exception(error, limit=_bound(error), compact=True)
    _keep_own(described)
    # Memory often runs out again while the error is handled; such a second error tells nothing.
    return "".join(described.format(chain=not isinstance(error, MemoryError))).strip("\n")


def _bound(error):
    """None; or, for a traceback that would take too long to print, the number of its last entries to print."""
    at, depth = error.__traceback__, 0
    while at:
        at, depth = at.tb_next, depth + 1
    return None if depth < 3000 else -100


def _keep_own(described):
    described.stack[:] = [frame for frame in described.stack if shown(frame.filename)]
    for frame in described.stack:
        frame.filename = shown(frame.filename)
    for other in (described.__cause__, described.__context__, *(getattr(described, "exceptions", None) or ())):
        if other is not None:
            _keep_own(other)


def _frame(kind, error):
    if len(error) > MAX_ERROR_CHARACTERS:
        half = MAX_ERROR_CHARACTERS // 2
        error = f"{error[:half]}\n…\n{error[-half:]}"
    return _encode({"kind": kind, "error": error}).encode(errors="replace")
