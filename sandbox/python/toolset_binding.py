"""Describes functions as tools, and turns the JSON arguments of a call into those of a Python function."""

import json
import os
import pathlib
import typing

import toolset_docstring
import toolset_rehearsal
from covalt_toolset import get_tool_metadata
from toolset_errors import complaint
from toolset_returns import returns_schema
from toolset_schema import REST, Model, check_named, has_own_default
from toolset_signature import ANY_POSITIONS, MISSING, POSITIONAL, POSITIONAL_ONLY, WORKSPACE, BindingError, Signature
from toolset_types import UNIONS
from toolset_values import to_json_value

import pydantic

__all__ = ["BindingError", "bind", "describe", "rehearse", "to_json_value"]

PATHS = (pathlib.Path, pathlib.PurePath, pathlib.PosixPath, pathlib.PurePosixPath, os.PathLike)


def describe(function):
    """What a tool of this function is: all that its code tells. Raises BindingError if the function cannot be a tool."""
    signature = Signature(function)
    check_named(signature)
    model = Model(signature, signature.without_workspace())
    schema = model.schema()
    metadata = get_tool_metadata(function)
    description = metadata.description if metadata else None
    return {
        "decorated": metadata is not None,
        "name": metadata.name if metadata else None,
        "description": description or toolset_docstring.read(signature.docstring)[0],
        "requires_confirmation": metadata.requires_confirmation if metadata else None,
        "category": metadata.category if metadata else None,
        "parameters_schema": schema,
        "returns_schema": returns_schema(signature, model.notes),
        "warnings": [*_notes_on_hints(signature), *model.notes],
    }


def _notes_on_hints(signature):
    for parameter in signature.parameters:
        if parameter.name == WORKSPACE:
            hint = _hint_of_workspace(signature)
            if hint is not MISSING and hint is not typing.Any and not _mentions(hint, (*PATHS, str)):
                yield "workspace: it gets the directory of the session's files as a Path, whatever its type hint says"
        elif parameter.written is MISSING:
            yield f"{parameter.name}: it has no type hint, so the schema allows every value"


def bind(function, arguments, properties, workspace):
    """The positional and the keyword arguments of a call. Raises BindingError if the arguments do not fit the hints.

    `properties` are the names in the tool's schema, if somebody wrote one. A function that has other parameters gets all
    arguments as one dictionary. Without `properties`, the schema is the function's own.
    """
    signature = Signature(function)
    known = None if properties is None else set(properties)
    parameters = signature.without_workspace()
    injected = signature.has_workspace()
    if known is not None and WORKSPACE in known:
        parameters, injected = signature.parameters, False
    if known is not None and not _all_named(parameters, known):
        return _bind_one(signature, arguments, workspace)
    check_named(signature)
    given = _given(signature, parameters, arguments, injected, strict=known is None)
    named = _checked(Model(signature, parameters), given)
    if injected:
        named[WORKSPACE] = _directory(signature, workspace)
    return (), named


def _all_named(parameters, known):
    return all(each.name in known and each.kind not in (POSITIONAL_ONLY, ANY_POSITIONS) for each in parameters)


def _given(signature, parameters, arguments, injected, strict):
    """The arguments for the model. Only the server says where the workspace is: an argument of this name is refused."""
    names = {each.name for each in parameters}
    given = {name: value for name, value in arguments.items() if name in names}
    others = {name: value for name, value in arguments.items() if name not in names}
    smuggled = {WORKSPACE: others.pop(WORKSPACE)} if injected and WORKSPACE in others else {}
    if signature.rest is not None:
        given[REST] = others
    elif strict:
        given.update(others)
    return {**given, **smuggled} if strict else given


def _checked(model, given):
    """The keyword arguments: what was given, as instances of the hinted types, and the defaults that are in a `Field`."""
    checked = _validated(model.made, given)
    named = {}
    for field, parameter in model.parameters.items():
        if field in checked.model_fields_set:
            named[parameter.name] = given[parameter.name] if parameter.written is MISSING else checked.__dict__[field]
        elif not has_own_default(parameter):
            named[parameter.name] = checked.__dict__[field]
    if model.rest is not None:
        named.update(checked.__dict__["rest"])
    return named


def _validated(model, given):
    try:
        return _read(model, given)
    except pydantic.ValidationError as error:
        raise BindingError(complaint(error, given)) from None


def _read(model, given):
    """Checks arguments as the JSON that they came from, so that even strict models take texts for dates and the like."""
    try:
        return model.model_validate_json(json.dumps(given))
    except RecursionError:
        pass
    except pydantic.ValidationError as error:
        if error.errors(include_url=False, include_input=False)[0]["type"] != "json_invalid":
            raise
    return model.model_validate(given)  # It is very deep, or has half a surrogate pair, which pydantic does not read.


def _bind_one(signature, arguments, workspace):
    """One dictionary, for a function whose parameters are not those of the schema; and the workspace, if it is wanted."""
    positional, named, taken = [], {}, None
    for parameter in signature.parameters:
        if parameter.name == WORKSPACE and parameter.kind is not ANY_POSITIONS:
            if parameter.kind in POSITIONAL and (taken is None or parameter.kind is POSITIONAL_ONLY):
                positional.append(_directory(signature, workspace))
            else:
                named[WORKSPACE] = _directory(signature, workspace)
        elif taken is None and parameter.kind in (*POSITIONAL, ANY_POSITIONS):
            taken = parameter
            positional.append(_dictionary(signature, parameter, arguments))
        elif parameter.default is MISSING and parameter.kind is not ANY_POSITIONS:
            raise BindingError(_mismatch(signature))
    if taken is None:
        raise BindingError(_mismatch(signature))
    return tuple(positional), named


def _dictionary(signature, parameter, arguments):
    """All arguments, as an instance of what the parameter's hint wants. `*arguments: X` hints at each one."""
    if parameter.written is MISSING:
        return arguments
    return _validated(Model.of_all(signature, parameter), {REST: arguments}).value


def _mismatch(signature):
    names = ", ".join(each.name for each in signature.without_workspace())
    return f"the function takes {names}: these are not all properties of the schema, and one dictionary is not enough"


def _directory(signature, workspace):
    hint = _hint_of_workspace(signature)
    return str(workspace) if _mentions(hint, (str,)) and not _mentions(hint, PATHS) else workspace


def _hint_of_workspace(signature):
    """The hint of the one parameter that does not come from JSON. So a hint that cannot be evaluated does no harm."""
    try:
        return signature.hint(next(each for each in signature.parameters if each.name == WORKSPACE))
    except BindingError:
        return MISSING


def _mentions(hint, kinds):
    origin = typing.get_origin(hint)
    if origin in (*UNIONS, typing.Annotated):
        return any(_mentions(each, kinds) for each in typing.get_args(hint))
    return any(each is hint or each is origin for each in kinds)


def rehearse():
    """Uses everything once, so that pydantic and Python load now what they load when it is needed.

    A call that is locked in cannot load a file. Afterwards, the functions of this module open no file.
    """
    toolset_rehearsal.load()
    for function, arguments, wrong in toolset_rehearsal.TOOLS:
        json.dumps(describe(function))
        for properties in (None, list(arguments), ["other"]):
            for given in (arguments, wrong):
                _try(lambda: bind(function, given, properties, pathlib.Path("/")))
    for function in toolset_rehearsal.NO_TOOLS:
        _try(lambda: describe(function))
    for value in toolset_rehearsal.VALUES:
        _try(lambda: to_json_value(value))


def _try(action):
    """Some of the rehearsal fails, because errors load files too."""
    try:
        action()
    except (BindingError, TypeError, ValueError):
        pass
