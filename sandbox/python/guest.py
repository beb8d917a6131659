"""The environment that the code sees. It only makes errors helpful: nothing here protects anything."""

import builtins
import io
import sys

import report

ALLOWED = ("json", "re", "typing")


def run(request):
    """Runs the code, and returns the value of its function, if the request names a function."""
    names = {"__name__": "__main__", "__builtins__": _builtins}
    exec(_compile(request["code"]), names)
    wanted = request.get("function")
    if wanted is None:
        return None
    function = names.get(wanted)
    if not callable(function):
        raise NameError(f"the code defines no function {wanted!r}")
    return report.as_json(wanted, function(request["arguments"]))


def _compile(code):
    report.remember(code)
    try:
        return compile(code, report.FILENAME, "exec", dont_inherit=True)
    except MemoryError:
        raise
    except Exception as error:  # Not only SyntaxError: NUL, surrogates and deep nesting raise other errors.
        raise report.BadSource from error


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name.partition(".")[0] in (*ALLOWED, "__future__"):
        return builtins.__import__(name, globals, locals, fromlist, level)
    raise ImportError(f"import of {name!r} is not allowed here: only {', '.join(ALLOWED)} can be imported", name=name)


def _open(*_arguments, **_options):
    raise PermissionError("there are no files here: open() is not available")


def _print(*values, file=None, flush=False, **options):
    """Prints at once, even half a line, because the code may be killed before the other half."""
    flush = flush or isinstance(sys.stdout if file is None else file, io.TextIOWrapper)
    builtins.print(*values, file=file, flush=flush, **options)


_print.__name__ = _print.__qualname__ = "print"

# The code's own builtins, made once: each call has a copy of all memory anyway. Modules keep the real builtins, so that
# they can still import other modules.
_builtins = {
    **vars(builtins),
    "__import__": _import,
    "exit": sys.exit,
    "open": _open,
    "print": _print,
    "quit": sys.exit,
}
