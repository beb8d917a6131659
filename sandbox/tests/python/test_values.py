"""What a function returns, as plain JSON."""

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import types
import typing
import uuid
import warnings

import pydantic
from support import Case, cases
from toolset_binding import to_json_value
from toolset_values import MAX_DEPTH, MAX_VALUES

UTC = datetime.timezone.utc


class Colour(enum.Enum):
    RED = "red"
    BOTH = ("red", 2)


class Level(enum.IntEnum):
    LOW = 1


class Text(str, enum.Enum):
    A = "a"


class OwnStr(str):
    def __str__(self):
        return "a lie"


class Node(pydantic.BaseModel):
    sub_nodes: list["Node"] = pydantic.Field([], serialization_alias="subNodes")
    when: datetime.date | None = None
    anything: typing.Any = None


class Base64(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(ser_json_bytes="base64")
    data: bytes


class Open(pydantic.BaseModel, extra="allow"):
    pass


class Secret(pydantic.BaseModel):
    key: pydantic.SecretStr


class Numbers(pydantic.RootModel[list[int]]):
    pass


class OwnDump(pydantic.BaseModel):
    a: int = 1

    def model_dump(self, **_options):
        return {"own": {1, 2}}


@dataclasses.dataclass
class Point:
    x: int
    data: bytes = b"\xff"
    inner: typing.Any = None


@pydantic.dataclasses.dataclass
class Box:
    size: int = pydantic.Field(1, serialization_alias="boxSize")


class Pair(typing.NamedTuple):
    left: int
    right: pathlib.Path


def nested(levels, wrap=lambda inner: [inner]):
    value = 1
    for _ in range(levels):
        value = wrap(value)
    return value


class Values(Case):
    @cases(
        null=(None, None),
        text=("a", "a"),
        true=(True, True),
        number=(1, 1),
        large=(10**30, 10**30),
        float=(1.5, 1.5),
        object=({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        tuple=((1, (2,)), [1, [2]]),
        set=({3, 1, 2}, [1, 2, 3]),
        frozenset=(frozenset("ba"), ["a", "b"]),
        deque=(collections.deque([1]), [1]),
        range=(range(3), [0, 1, 2]),
        keys=({"a": 1}.keys(), ["a"]),
        values=({"a": 1}.values(), [1]),
        items=({"a": 1}.items(), [["a", 1]]),
        counter=(collections.Counter("aa"), {"a": 2}),
        proxy=(types.MappingProxyType({"a": 1}), {"a": 1}),
        enum=(Colour.RED, "red"),
        enum_of_tuple=(Colour.BOTH, ["red", 2]),
        int_enum=(Level.LOW, 1),
        str_enum=(Text.A, "a"),
        date=(datetime.date(2026, 1, 2), "2026-01-02"),
        datetime=(datetime.datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00Z"),
        time=(datetime.time(1, 2), "01:02:00"),
        timedelta=(datetime.timedelta(days=1), "P1D"),
        uuid=(uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        decimal=(decimal.Decimal("1.10"), "1.10"),
        path=(pathlib.Path("a/b"), "a/b"),
        bytes=(b"\xff\xef", "/+8="),
        bytearray=(bytearray(b"\xff"), "/w=="),
        memoryview=(memoryview(b"\xff"), "/w=="),
        url=(pydantic.HttpUrl("https://example.com"), "https://example.com/"),
        secret=(pydantic.SecretStr("a"), "**********"),
        model=(
            Node(sub_nodes=[Node()], when=datetime.date(2026, 1, 2)),
            {"subNodes": [{"subNodes": [], "when": None, "anything": None}], "when": "2026-01-02", "anything": None},
        ),
        base64_model=(Base64(data=b"\xff"), {"data": "_w=="}),
        extra=(Open(a=datetime.date(2026, 1, 2)), {"a": "2026-01-02"}),
        secret_model=(Secret(key="a"), {"key": "**********"}),
        root=(Numbers([1]), [1]),
        own_dump=(OwnDump(), {"own": [1, 2]}),
        dataclass=(
            Point(1, inner=Node()),
            {"x": 1, "data": "/w==", "inner": {"subNodes": [], "when": None, "anything": None}},
        ),
        pydantic_dataclass=(Box(2), {"boxSize": 2}),
        named_tuple=(Pair(1, pathlib.Path("a")), [1, "a"]),
        models_in_lists=([{"a": Box(1)}, (Numbers([2]),)], [{"a": {"boxSize": 1}}, [[2]]]),
        keys_of_all_kinds=(
            {2: 0, Level.LOW: 1, None: 2, 1.5: 4, Text.A: 5, pathlib.Path("p"): 6, datetime.date(2026, 1, 2): 7},
            {"2": 0, "1": 1, "null": 2, "1.5": 4, "a": 5, "p": 6, "2026-01-02": 7},
        ),
        true_as_key=({True: 1, False: 2}, {"true": 1, "false": 2}),
    )
    def become(self, value, expected):
        got = to_json_value(value)
        json.dumps(got)
        self.assertEqual(json.loads(json.dumps(got)), json.loads(json.dumps(expected)))
        self.assertEqual(got, expected)

    def test_plain_values_stay(self):
        text = OwnStr("content")
        self.assertIs(to_json_value(text), text)
        self.assertEqual(json.dumps(to_json_value([text])), '["content"]')
        self.assertTrue(math.isnan(to_json_value(float("nan"))))
        self.assertEqual(to_json_value([math.inf]), [math.inf])

    def test_a_value_may_be_there_twice(self):
        shared = {"a": [1]}
        self.assertEqual(to_json_value([shared, shared]), [{"a": [1]}, {"a": [1]}])

    def test_the_deepest(self):
        self.assertEqual(to_json_value(nested(MAX_DEPTH)), nested(MAX_DEPTH))

    @cases(
        object=(object(), "the result is of type object, which is no JSON value"),
        inside=({"a": [1, object()]}, "the result's a[1] is of type object"),
        function=([len], "the result's [0] is of type builtin_function_or_method"),
        type=(int, "the result is of type type"),
        exception=(ValueError("x"), "the result is of type ValueError"),
        namespace=(types.SimpleNamespace(a=1), "the result is of type SimpleNamespace"),
        generator=((each for each in ()), "the result is a generator, which is no JSON value: return a list"),
        iterator=({"a b": iter([])}, 'the result\'s ["a b"] is a list_iterator'),
        dataclass_type=(Point, "the result is of type type"),
        tuple_key=({(1, 2): 1}, "the result has a key of type tuple"),
        enum_key=({Colour.BOTH: 1}, "the result has a key of type tuple"),
    )
    def refused_for_its_type(self, value, text):
        with self.assertRaises(TypeError) as caught:
            to_json_value(value)
        self.assertIn(text, str(caught.exception))

    def test_a_coroutine(self):
        async def function(): ...

        coroutine = function()
        self.addCleanup(coroutine.close)
        with self.assertRaisesRegex(TypeError, "is a coroutine"):
            to_json_value(coroutine)


def list_in_itself():
    value = []
    value.append(value)
    return value


def dict_in_itself():
    value = {}
    value["a"] = [value]
    return value


def model_in_itself():
    value = Node()
    value.sub_nodes.append(value)
    return value


def model_around_a_list():
    return Node.model_construct(sub_nodes=[], anything=list_in_itself())


def dataclass_in_itself():
    value = Point(1)
    value.inner = {"a": value}
    return value


def enum_in_itself():
    value = enum.Enum("Odd", {"A": [1]}).A
    value.value.append(value)
    return value


def bomb(wrap):
    """Few objects that are very many values."""
    value = "x"
    for _ in range(40):
        value = wrap(value)
    return value


class Endless(collections.abc.Sequence):
    def __len__(self):
        return 1 << 60

    def __getitem__(self, _number):
        return 1


class EndlessMapping(collections.abc.Mapping):
    def __len__(self):
        return 1

    def __iter__(self):
        number = 0
        while True:
            yield (number := number + 1)

    def __getitem__(self, _key):
        return 1


class Limits(Case):
    @cases(
        list=list_in_itself,
        dict=dict_in_itself,
        model=model_in_itself,
        model_around=model_around_a_list,
        dataclass=dataclass_in_itself,
        enum=enum_in_itself,
        deep_list=lambda: nested(MAX_DEPTH + 1),
        deep_dict=lambda: nested(100_000, lambda inner: {"a": inner}),
        deep_tuple=lambda: nested(100_000, lambda inner: (inner,)),
        deep_model=lambda: nested(200, lambda inner: Node.model_construct(anything=inner)),
        deep_in_a_model=lambda: Node.model_construct(anything=nested(100_000)),
        deep_in_a_list_in_a_model=lambda: nested(
            60, lambda inner: [inner if inner != 1 else Node.model_construct(anything=nested(60))]
        ),
    )
    def depth(self, make):
        with self.assertRaisesRegex(ValueError, f"nested in more than {MAX_DEPTH} levels, or contains itself"):
            to_json_value(make())

    @cases(
        list=lambda: [0] * (MAX_VALUES + 1),
        bomb_of_lists=lambda: bomb(lambda inner: [inner, inner]),
        bomb_of_dicts=lambda: bomb(lambda inner: {"a": inner, "b": inner}),
        bomb_of_models=lambda: bomb(lambda inner: Open.model_construct(a=inner, b=inner)),
        bomb_in_a_model=lambda: Node.model_construct(anything=bomb(lambda inner: [inner] * 10)),
        bombs_in_models=lambda: [Node.model_construct(anything=bomb(lambda inner: [inner] * 2))] * 1000,
        bomb_of_dataclasses=lambda: bomb(lambda inner: Point(1, inner=[inner, inner])),
        range=lambda: range(10**15),
        sequence=Endless,
        mapping=EndlessMapping,
        list_in_a_model=lambda: Node.model_construct(anything=[0] * (MAX_VALUES + 1)),
    )
    def count(self, make):
        with self.assertRaisesRegex(ValueError, f"more than {MAX_VALUES} values"):
            to_json_value(make())

    def test_keys_that_become_the_same(self):
        with self.assertRaisesRegex(ValueError, "the result's a has two keys that are '1' in JSON"):
            to_json_value({"a": {1: "a", "1": "b"}})

    def test_bytes_in_a_model(self):
        class Plain(pydantic.BaseModel):
            data: bytes

        self.assertEqual(to_json_value(Plain(data=b"text")), {"data": "text"})
        with self.assertRaisesRegex(ValueError, "the result's a has bytes that are no UTF-8 text: say ser_json_bytes"):
            to_json_value({"a": Plain(data=b"\xff")})

    def test_a_model_that_cannot_be_written(self):
        with self.assertRaisesRegex(ValueError, r"the result's \[0\] cannot be written as JSON"):
            to_json_value([Node.model_construct(anything=object())])

    def test_nothing_is_printed_about_a_wrong_model(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(to_json_value(Numbers.model_construct("x")), "x")
