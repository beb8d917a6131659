"""The environment that the code sees. It only makes errors helpful: nothing here protects anything."""

import builtins
import io
import sys

import report

ALLOWED = ("json", "re", "typing")

# Flags of a code object: the function has `*parameters`, or `**parameters`.
TAKES_REST, TAKES_ALL_NAMES = 0x04, 0x08


def run(request):
    """Runs the code, and returns the value of its function, if the request names a function."""
    names = {"__name__": "__main__", "__builtins__": _builtins}
    exec(report.compile_source(request["code"]), names)
    wanted = request.get("function")
    if wanted is None:
        return None
    function = names.get(wanted)
    if not callable(function):
        raise NameError(f"the code defines no function {wanted!r}")
    arguments = request["arguments"]
    named = _named(function, arguments, request.get("properties"))
    return report.as_json(wanted, _awaited(function(arguments) if named is None else function(**named)))


def _named(function, arguments, properties):
    """The keyword arguments for a function, if all of its parameters are names of the schema's properties; else none.

    An argument that the schema does not name is left out, unless the function takes all names.
    """
    if properties is None or type(function) is not type(run):
        return None
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = set(properties)
    if code.co_posonlyargcount or code.co_flags & TAKES_REST or not known.issuperset(names):
        return None
    if code.co_flags & TAKES_ALL_NAMES:
        return arguments
    return {name: value for name, value in arguments.items() if name in known}


def _awaited(value):
    """The value that a coroutine returns; any other value as it is.

    There is no event loop: the allowed modules have nothing that a coroutine could wait for.
    """
    if not isinstance(value, _coroutine):
        return value
    try:
        value.send(None)
    except StopIteration as end:
        return end.value
    value.close()
    raise RuntimeError("the function waits for something that never happens: there is no event loop")


def _type_of_coroutines():
    async def nothing():
        pass

    coroutine = nothing()
    coroutine.close()
    return type(coroutine)


_coroutine = _type_of_coroutines()


def may_import(name):
    return name.partition(".")[0] in (*ALLOWED, "__future__")


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and may_import(name):
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
