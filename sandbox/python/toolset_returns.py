"""The schema of what a function returns, if its hint says something that a caller can rely on.

A result that does not fit its schema fails the call. So there is a schema for a model, a dataclass, a TypedDict, a
NamedTuple, an enum, a Literal, a scalar, and for lists, dictionaries and unions of these. There is none for `None`, `Any`,
`object`, `dict`, `list` and `dict[str, Any]`.
"""

import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import typing
import uuid

from toolset_signature import MAX_HINT_DEPTH, MISSING, BindingError
from toolset_types import UNIONS, schema_of

import pydantic
import typing_extensions

SCALARS = (
    *(str, int, float, bool, bytes, decimal.Decimal, uuid.UUID, pathlib.PurePath, enum.Enum),
    *(datetime.date, datetime.time, datetime.timedelta, ipaddress.IPv4Address, ipaddress.IPv6Address),
)
LISTS = (list, tuple, set, frozenset, collections.deque, collections.abc.Sequence, collections.abc.Set)
OBJECTS = (dict, collections.OrderedDict, collections.defaultdict, collections.abc.Mapping)
ALIASES = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))


def returns_schema(signature, notes):
    """The schema or none. A hint that means nothing is no fault of the tool, only a note for its author."""
    try:
        hint = signature.returned_hint()
        return schema_of(hint, "serialization", "return") if _says_something(hint) else None
    except BindingError as error:
        notes.append(f"{error}; so there is no schema for the result")
        return None


def _says_something(hint, depth=0):
    if hint is MISSING or depth > MAX_HINT_DEPTH:
        return False
    if isinstance(hint, ALIASES):
        return _says_something(hint.__value__, depth + 1)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _says_something(inner[0], depth + 1)
    if origin is typing.Literal:
        return True
    if origin in UNIONS:
        return all(each is type(None) or _says_something(each, depth + 1) for each in inner)
    if origin in LISTS:
        return all(each is ... or _says_something(each, depth + 1) for each in inner)
    if origin in OBJECTS:
        return _says_something(inner[1], depth + 1)
    return _is_concrete(hint if origin is None else origin)


def _is_concrete(kind):
    if not isinstance(kind, type) or kind is pydantic.BaseModel or kind is enum.Enum:
        return False
    if issubclass(kind, tuple):
        return bool(getattr(kind, "_fields", None))
    has_fields = dataclasses.is_dataclass(kind) or typing_extensions.is_typeddict(kind)
    return has_fields or issubclass(kind, (pydantic.BaseModel, *SCALARS))
