"""Turns what a function returns into plain JSON values.

Plain JSON stays what it is, also floats that JSON does not know, which the caller refuses. Bytes are base64. A pydantic
model writes itself, by its aliases and its own configuration, as its JSON Schema says.
"""

import base64
import collections.abc
import dataclasses
import enum
import os

# Pydantic looks for plugins in the files of all packages. It must not, and there are none.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

import pydantic
import pydantic_core

from toolset_paths import name_of, place, told

MAX_DEPTH = 100  # The server reads JSON of at most 128 levels, and adds some of its own.
MAX_VALUES = 600_000  # No result of more values fits into the longest JSON text that a call may return, 1 MiB.

PLAIN = (str, int, float, bool, type(None))
LISTS = (collections.abc.Sequence, collections.abc.Set, collections.abc.ValuesView)
ENDLESS = (collections.abc.Iterator, collections.abc.AsyncIterator, collections.abc.Awaitable)


def to_json_value(value):
    """Raises TypeError for a value that has no JSON form, and ValueError for one that is too large or contains itself."""
    return _Conversion().of(value)


class _Conversion:
    def __init__(self):
        self.path = []  # The keys and numbers that lead to the value at work.
        self.values = 0
        self.weighed = 0

    def of(self, value):
        self.values += 1
        self._check_count(self.values)
        if type(value) in PLAIN:
            return value
        if isinstance(value, enum.Enum):
            return self.of(value.value)
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            return base64.b64encode(value).decode()
        self._check_depth(len(self.path))
        if isinstance(value, pydantic.BaseModel):
            return self._model(value, value.model_dump)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._dataclass(value)
        if isinstance(value, collections.abc.Mapping):
            return self._object((self._key(key), each) for key, each in value.items())
        if isinstance(value, LISTS):
            return self._list(value)
        return self._leaf(value)

    def _inner(self, part, value):
        self.path.append(part)
        inner = self.of(value)
        self.path.pop()
        return inner

    def _object(self, items):
        made = {}
        for key, each in items:
            if key in made:
                raise ValueError(f"{self._here()} has two keys that are {key!r} in JSON")
            made[key] = self._inner(key, each)
        return made

    def _list(self, value):
        if isinstance(value, collections.abc.Set):
            value = _in_order(value)
        return [self._inner(number, each) for number, each in enumerate(value)]

    def _key(self, key):
        if isinstance(key, enum.Enum):
            key = key.value
        if isinstance(key, str):
            return key
        if isinstance(key, bool) or key is None:
            return {True: "true", False: "false", None: "null"}[key]
        if isinstance(key, (int, float)):
            return int.__repr__(key) if isinstance(key, int) else float.__repr__(key)
        written = self._leaf(key)
        if isinstance(written, str):
            return written
        raise TypeError(f"{self._here()} has a key of type {name_of(type(key))}, which is no key in JSON")

    def _dataclass(self, value):
        writer = getattr(type(value), "__pydantic_serializer__", None)
        if writer is not None:
            return self._model(value, lambda **options: writer.to_python(value, **options))
        return self._object((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))

    def _model(self, value, dump):
        """What the model writes is converted once more: its own serializers may write anything."""
        self._weigh(value)
        try:
            written = dump(mode="json", by_alias=True, warnings=False)
        except pydantic_core.PydanticSerializationError as error:
            raise ValueError(f"{self._here()} cannot be written as JSON: {told(error)}") from None
        except UnicodeDecodeError:
            advice = 'say ser_json_bytes="base64" in its model_config'
            raise ValueError(f"{self._here()} has bytes that are no UTF-8 text: {advice}") from None
        if isinstance(written, pydantic.BaseModel):
            raise TypeError(f"{self._here()} writes itself as a model, not as JSON")
        return self.of(written)

    def _weigh(self, model):
        """Looks at everything in a model before the model is written, because nothing stops a model that writes itself."""
        left = [(model, len(self.path))]
        while left:
            value, depth = left.pop()
            self.weighed += 1
            self._check_count(self.weighed)
            if isinstance(value, PLAIN):
                continue
            self._check_depth(depth)
            inside = _inside(value)
            self._check_count(len(left) + len(inside))
            left.extend((each, depth + 1) for each in inside)

    def _leaf(self, value):
        """Dates, paths, UUIDs, decimals, URLs and the like, as pydantic writes them."""
        if isinstance(value, ENDLESS):
            raise TypeError(f"{self._here()} is a {name_of(type(value))}, which is no JSON value: return a list instead")
        try:
            return pydantic_core.to_jsonable_python(value)
        except pydantic_core.PydanticSerializationError:
            raise TypeError(f"{self._here()} is of type {name_of(type(value))}, which is no JSON value") from None

    def _check_count(self, values):
        if values > MAX_VALUES:
            raise ValueError(f"the result has more than {MAX_VALUES} values")

    def _check_depth(self, outer):
        if outer >= MAX_DEPTH:
            raise ValueError(f"the result is nested in more than {MAX_DEPTH} levels, or contains itself")

    def _here(self):
        return f"the result's {place(self.path)}" if self.path else "the result"


def _inside(value):
    if isinstance(value, pydantic.BaseModel):
        return [*vars(value).values(), *(value.__pydantic_extra__ or {}).values()]
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return ()


def _in_order(values):
    """A set has another order in each process. The same set makes the same JSON, if its values can be compared."""
    try:
        return sorted(values)
    except TypeError:
        return list(values)
