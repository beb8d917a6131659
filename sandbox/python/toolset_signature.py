"""Reads the signature of a tool's function: its parameters, and what their type hints mean in the function's module."""

import dataclasses
import functools
import inspect
import sys
import types
import typing

from toolset_paths import told

import typing_extensions

WORKSPACE = "workspace"
MISSING = inspect.Parameter.empty  # No hint, or no default.
ABSENT = object()  # The default of an optional key of a TypedDict: the function gets no such argument.
MAX_WRAPPERS = 100
MAX_HINT_DEPTH = 60  # Pydantic takes several calls a level, and Python allows about 1,000.
MAX_HINT_PARTS = 20_000

POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY
POSITIONAL = (POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
ANY_POSITIONS = inspect.Parameter.VAR_POSITIONAL
ANY_NAMES = inspect.Parameter.VAR_KEYWORD

# The modules typing and typing_extensions may have different objects for the same word.
UNPACK = (typing.Unpack, typing_extensions.Unpack)
QUALIFIERS = {
    **{typing.Required: True, typing_extensions.Required: True},
    **{typing.NotRequired: False, typing_extensions.NotRequired: False},
    typing_extensions.ReadOnly: None,
}


class BindingError(ValueError):
    """A function cannot be a tool, or arguments do not fit a function. The text of this exception is the reason."""


@dataclasses.dataclass
class Parameter:
    """One parameter of a function. The hint is as written, until `Signature.hint` evaluates it."""

    name: str
    kind: object
    written: object = MISSING
    default: object = MISSING


class Signature:
    def __init__(self, function):
        try:
            found = inspect.signature(function)
            inner = _behind(function)
            self.docstring = _docstring(function, inner)
            self.names, self.type_parameters = _namespace(inner)
            parameters = [
                Parameter(each.name, each.kind, each.annotation, each.default) for each in found.parameters.values()
            ]
        except MemoryError:
            raise
        except Exception as error:  # A decorator may have left any object in the place of a signature.
            raise BindingError(f"the function's signature cannot be read: {told(error)}") from None
        self.rest = next((each for each in parameters if each.kind is ANY_NAMES), None)
        self.parameters = [each for each in parameters if each is not self.rest]
        self.returned = found.return_annotation
        if self.rest is not None:
            self._unpack_rest()

    def _unpack_rest(self):
        """`**rest: Unpack[Options]` means that the keys of the TypedDict are parameters, and that there are no others."""
        hint = self.hint(self.rest)
        if typing.get_origin(hint) not in UNPACK:
            return
        (options,) = typing.get_args(hint)
        try:
            hints, required = typing.get_type_hints(options, include_extras=True), options.__required_keys__
        except MemoryError:
            raise
        except Exception as error:
            raise BindingError(f"**{self.rest.name}: its type hint is no TypedDict: {told(error)}") from None
        for name, written in hints.items():
            needed = name in required
            while (qualifier := typing.get_origin(written)) in QUALIFIERS:
                needed = QUALIFIERS[qualifier] if QUALIFIERS[qualifier] is not None else needed
                (written,) = typing.get_args(written)
            kind, default = inspect.Parameter.KEYWORD_ONLY, MISSING if needed else ABSENT
            self.parameters.append(Parameter(name, kind, written, default))
        self.rest = None

    def has_workspace(self):
        return any(each.name == WORKSPACE and each.kind is not ANY_POSITIONS for each in self.parameters)

    def without_workspace(self):
        return [each for each in self.parameters if each.name != WORKSPACE or each.kind is ANY_POSITIONS]

    def hint(self, parameter):
        """What the hint of a parameter means; `MISSING` if there is none."""
        stars = "**" if parameter.kind is ANY_NAMES else ""
        return self._evaluated(parameter.written, stars + parameter.name)

    def returned_hint(self):
        return self._evaluated(self.returned, "return")

    def _evaluated(self, written, name):
        """Evaluates a hint as Python does, and only this hint, so that an error is about one parameter."""
        if written is MISSING:
            return MISSING
        holder = types.SimpleNamespace(__annotations__={name: written})
        check_size(written, name)
        try:
            hint = typing.get_type_hints(holder, self.names, self.type_parameters, include_extras=True)[name]
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:  # A hint in quotes is an expression that may do anything.
            raise BindingError(f"{name}: its type hint cannot be evaluated: {told(error)}") from None
        check_size(hint, name)
        return hint


def check_size(hint, what):
    """A hint is a tree, and pydantic climbs it by calling itself."""
    left, parts = [(hint, 0)], 0
    while left:
        each, depth = left.pop()
        parts += 1
        if depth > MAX_HINT_DEPTH or parts > MAX_HINT_PARTS:
            raise BindingError(f"{what}: its type hint is too large or too deep")
        left.extend((inner, depth + 1) for inner in typing.get_args(each))


def _behind(function):
    """The function that a decorator, a method or `functools.partial` calls in the end, as `inspect.signature` sees it."""
    for _ in range(MAX_WRAPPERS):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif hasattr(function, "__wrapped__") and not hasattr(function, "__signature__"):
            function = function.__wrapped__
        elif isinstance(function, (type, types.FunctionType, types.BuiltinFunctionType)):
            return function
        else:
            call = getattr(type(function), "__call__", None)
            return call if isinstance(call, types.FunctionType) else function
    raise ValueError(f"it is wrapped more than {MAX_WRAPPERS} times")


def _docstring(function, inner):
    """A wrapper usually has a copy of the docstring. Other callable objects have that of their class, which is no use."""
    own = function.__doc__ if isinstance(function, (types.FunctionType, types.MethodType)) else None
    return own or inner.__doc__


def _namespace(function):
    names = getattr(function, "__globals__", None)
    if not isinstance(names, dict):
        names = vars(sys.modules.get(function.__module__, types))
    parameters = getattr(function, "__type_params__", ())
    return names, {each.__name__: each for each in parameters}
