"""The environment of code that works on files: its modules, its context, and the call of its function."""

import importlib
import inspect
import os
import pathlib
import socket
import sys
import types

import covalt_toolset
import file_loop
import report
import toolset_binding

MODULE = "main"  # The name of the module that is made of a request's code.
_bundle = None  # The folder of the bundle's files.
PACKAGES = ("covalt_toolset", "pydantic")  # What can be imported besides the standard library.
REFUSALS = (PermissionError, socket.gaierror)  # What Python raises if the kernel refuses a system call.
REFUSED = "(The sandbox has no network and no processes, and can write only the session's files.)"


def settle(bundle):
    """Prepares for the modules of a bundle: they can be imported, and tracebacks show their lines.

    Python's own modules come first, because those that are loaded already come first in any case.
    """
    global _bundle
    sys.path += [bundle, os.path.join(bundle, "tools")]
    importlib.invalidate_caches()
    own = _bundle = bundle + os.sep

    def shown(filename):
        if filename.startswith(own):
            return filename[len(own) :]
        return filename if filename == report.FILENAME else None

    report.shown = shown


def run(request, workspace):
    """Calls the function, and returns its value as JSON."""
    wanted = request["function"]
    function = _function(_module(request.get("module"), request.get("code")), wanted)
    given = request.get("context") or {}
    covalt_toolset.set_context(
        covalt_toolset.ToolContext(
            workspace=pathlib.Path(workspace),
            chat_id=given.get("chat_id") or "",
            toolset_id=given.get("toolset_id"),
            extra=given.get("extra") or {},
        )
    )
    try:
        value = _call(function, request, pathlib.Path(workspace))
    finally:
        covalt_toolset.clear_context()
    return report.as_json(wanted, _plain(wanted, value))


def inspect_all(request, _workspace):
    """Describes the functions of some entry points. The fault of one does not hide the others."""
    tools = [_described(each, request.get("code")) for each in request["inspect"]]
    return report.as_json("inspect", {"tools": tools})


def explain(error):
    """Says what the sandbox lacks, if that may be the reason of an error. Python says only that it is not permitted."""
    try:
        # Libraries raise errors of their own, with the refusal as the reason. Code could make a very long chain.
        causes = [error]
        while len(causes) < 10 and (last := causes[-1].__cause__ or causes[-1].__context__) is not None:
            causes.append(last)
        if issubclass(type(error), OSError) and any(issubclass(type(each), REFUSALS) for each in causes):
            BaseException.add_note(error, REFUSED)
    except BaseException:  # The error may be an object of the code that fails when it is read.
        pass


def _call(function, request, workspace):
    try:
        given, named = toolset_binding.bind(function, request["arguments"], request.get("properties"), workspace)
    except toolset_binding.BindingError as error:
        raise report.BadCall(str(error)) from None
    value = function(*given, **named)
    return file_loop.run(value) if inspect.isawaitable(value) else value


def _plain(wanted, value):
    try:
        return toolset_binding.to_json_value(value)
    except MemoryError:
        raise
    except Exception as error:
        raise report.BadResult(f"what {wanted}() returned is not JSON: {type(error).__name__}: {error}") from None


def _module(name, code):
    try:
        if name is not None:
            module = importlib.import_module(name)
            if not (getattr(module, "__file__", None) or "").startswith(_bundle):
                raise ImportError(f"the bundle has no module {name!r}, or Python has a module of this name", name=name)
            return module
        if MODULE not in sys.modules:
            module = types.ModuleType(MODULE)
            module.__file__ = report.FILENAME
            sys.modules[MODULE] = module
            exec(report.compile_source(code), module.__dict__)
        return sys.modules[MODULE]
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] not in sys.stdlib_module_names:
            error.add_note(f"(There are the standard library, {' and '.join(PACKAGES)}, and the modules of the bundle.)")
        raise


def _function(module, wanted):
    function = getattr(module, wanted, None)
    if not callable(function):
        raise NameError(f"the module {module.__name__} defines no function {wanted!r}")
    return function


def _described(entrypoint, code):
    told = {"entrypoint": entrypoint, "fault": None, "decorated": False, "name": None, "description": None}
    told.update(requires_confirmation=None, parameters_schema=None, returns_schema=None, warnings=[])
    try:
        module, _, wanted = entrypoint.partition(":")
        found = _module(None if code is not None and module == MODULE else module, code)
        told.update(toolset_binding.describe(_function(found, wanted)))
    except MemoryError:
        raise
    except toolset_binding.BindingError as error:
        told["fault"] = str(error)
    except BaseException as error:  # Code may end itself while it is loaded: this, too, is a fault of its entry point.
        explain(error)
        told["fault"] = report.told(error, code or "")
    return told
