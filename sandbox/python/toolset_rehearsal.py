"""Tools and values for the rehearsal: one use of everything that loads files when it is used for the first time."""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import importlib
import ipaddress
import os
import pathlib
import pkgutil
import re
import typing
import uuid

import covalt_toolset

import pydantic
import typing_extensions
from pydantic.alias_generators import to_camel
from pydantic.plugin import _loader

# Parts of pydantic that are for other programs: version 1, and a plugin of a type checker.
OTHERS = ("pydantic.v1", "pydantic.mypy")


def load():
    """Loads every module of pydantic, because pydantic loads many of them late. There are no plugins to look for."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    _loader._plugins = {}  # For code that clears its environment.
    for name in _modules(pydantic):
        importlib.import_module(name)


def _modules(package):
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if found.name not in OTHERS:
            yield found.name
            if found.ispkg:
                yield from _modules(importlib.import_module(found.name))


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Options(typing.TypedDict, total=False):
    depth: typing.Required[int]
    name: typing_extensions.ReadOnly[str]


class Pair(typing.NamedTuple):
    left: int
    right: str = ""


@dataclasses.dataclass
class Tree:
    """A dataclass that contains itself."""

    name: str
    data: bytes = b""
    children: list["Tree"] = dataclasses.field(default_factory=list)


class Node(pydantic.BaseModel):
    """A model that contains itself."""

    model_config = pydantic.ConfigDict(populate_by_name=True, alias_generator=to_camel)
    price: float = pydantic.Field(1.5, gt=0, title="Price")
    sub_nodes: list["Node"] = []
    secret: pydantic.SecretStr | None = None

    @pydantic.field_validator("price")
    @classmethod
    def is_small(cls, price):
        if price > 1000:
            raise ValueError("too dear")
        return price

    @pydantic.model_validator(mode="after")
    def is_whole(self):
        return self

    @pydantic.computed_field
    def double(self) -> float:
        return 2 * self.price

    @pydantic.field_serializer("price")
    def write(self, price):
        return price


@pydantic.dataclasses.dataclass
class Box:
    size: typing.Annotated[int, pydantic.Field(ge=0)]


class Cat(pydantic.BaseModel):
    kind: typing.Literal["cat"]


class Dog(pydantic.BaseModel):
    kind: typing.Literal["dog"]
    age: int


class Numbers(pydantic.RootModel[list[int]]):
    pass


T = typing.TypeVar("T")


class Page(pydantic.BaseModel, typing.Generic[T]):
    items: list[T]


class Strict(pydantic.BaseModel, strict=True, frozen=True, extra="allow"):
    when: datetime.datetime


@covalt_toolset.tool(name="First", description="The first tool of the rehearsal", requires_confirmation=True)
def first(
    config: Node,
    tree: "Tree",
    colour: Colour = Colour.RED,
    level: Level = Level.LOW,
    pair: Pair = Pair(1),
    options: Options | None = None,
    pet: Cat | Dog = pydantic.Field(None, discriminator="kind"),
    mode: typing.Literal["a", "b"] = "a",
    numbers: Numbers = Numbers([1]),
    page: Page[Strict] | None = None,
    box: Box | None = None,
    **rest: int,
) -> Page[Tree]:
    """Does it all.

    Args:
        config (Node): The configuration,
            in two lines.
        tree: The tree.
    """


async def second(
    when: datetime.datetime,
    day: datetime.date,
    time: datetime.time,
    span: datetime.timedelta,
    id: uuid.UUID,
    amount: decimal.Decimal,
    ratio: fractions.Fraction,
    file: pathlib.Path,
    data: bytes,
    pattern: re.Pattern,
    address: ipaddress.IPv4Address | ipaddress.IPv6Network,
    url: pydantic.HttpUrl,
    size: pydantic.ByteSize,
    text: typing.Annotated[str, pydantic.StringConstraints(pattern="^a+$", strip_whitespace=True), "A text"],
    number: typing.Annotated[int, pydantic.Field(multiple_of=2), pydantic.AfterValidator(abs)],
    names: set[str],
    frozen: frozenset[int],
    queue: collections.deque[int],
    counts: collections.Counter[str],
    table: collections.defaultdict[str, list[int]],
    both: tuple[int, ...] | tuple[str, int],
    parsed: pydantic.Json[dict[str, int]],
    aware: pydantic.AwareDatetime,
    complex: complex,
    any,
    workspace: str,
    sequence: collections.abc.Sequence[int] = (),
    mapping: typing.Mapping[str, float] = {},
    key: object = object(),
) -> typing.Optional[list[Pair]]:
    """Does it all again.

    Parameters
    ----------
    when : datetime
        The time.

    :param day: The day.
    """


def third(
    arguments: dict, workspace: pathlib.Path, *, flag: bool = False, **rest: typing_extensions.Unpack[Options]
) -> Node: ...


def no_tool(*values: int, workspace): ...


def no_hint(value: "nowhere"): ...  # noqa: F821


def no_type(value: typing.Callable[[], int], other: re.Match): ...


def no_schema(value: typing.Callable[[], int]): ...


_when = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)

TOOLS = [
    (
        first,
        {
            "config": {"price": "2", "subNodes": [{"price": 3}], "secret": "x"},
            "tree": {"name": "a", "data": "AA==", "children": [{"name": "b"}]},
            "colour": "red",
            "level": 1,
            "pair": [1, "b"],
            "options": {"depth": 1},
            "pet": {"kind": "dog", "age": 1},
            "numbers": [1],
            "page": {"items": [{"when": "2026-01-02T03:04:05Z"}]},
            "box": {"size": 1},
            "more": 1,
        },
        {
            "config": {"price": "2000", "subNodes": [{"price": "x"}], "nothing": 1},
            "tree": {"name": 1, "data": "é", "children": {}},
            "colour": "blue",
            "level": 2,
            "pair": [1, "b", 3],
            "options": {},
            "pet": {"kind": "bird"},
            "mode": "c",
            "numbers": "\ud800",
            "box": {"size": -1},
            "more": "x",
        },
    ),
    (
        second,
        {
            "when": "2026-01-02T03:04:05Z",
            "day": "2026-01-02",
            "time": "03:04",
            "span": "P1DT2H",
            "id": "12345678-1234-5678-1234-567812345678",
            "amount": "1.10",
            "ratio": "1/3",
            "file": "a/b.txt",
            "data": "AA==",
            "pattern": "a+",
            "address": "127.0.0.1",
            "url": "https://example.com/a?b#c",
            "size": "10MB",
            "text": " aa ",
            "number": -2,
            "names": ["a"],
            "frozen": [1],
            "queue": [1],
            "counts": {"a": 1},
            "table": {"a": [1]},
            "both": [1, 2, 3],
            "parsed": '{"a": 1}',
            "aware": 1_700_000_000,
            "complex": "1+2j",
            "any": None,
        },
        dict.fromkeys(
            "when day time span id amount ratio file data pattern address url size text number names frozen queue counts "
            "table both parsed aware complex".split(),
            "?",
        ),
    ),
    (third, {"flag": "yes", "depth": 1}, {"flag": "perhaps", "arguments": []}),
]

NO_TOOLS = [no_tool, no_hint, no_type, no_schema, len, dict, 1]

VALUES = [
    Node(price=1, sub_nodes=[Node()]),
    Tree("a", b"\xff", [Tree("b")]),
    [Box(1), Numbers([1]), Pair(1), Colour.RED, Level.LOW, Page[int](items=[1]), Strict(when=_when, more=b"\xff")],
    {Colour.RED: {1, 2}, 1: collections.deque([1.5, None, True]), _when: frozenset("ab"), uuid.UUID(int=1): range(2)},
    [_when, _when.date(), _when.time(), datetime.timedelta(1), decimal.Decimal("1.10"), fractions.Fraction(1, 3), 1 + 2j],
    [
        uuid.UUID(int=1),
        pathlib.Path("a"),
        re.compile("a"),
        ipaddress.ip_network("::/64"),
        ipaddress.ip_address("127.0.0.1"),
    ],
    [
        b"\xff",
        bytearray(b"a"),
        memoryview(b"a"),
        pydantic.HttpUrl("https://example.com"),
        pydantic.SecretStr("a"),
        float("nan"),
    ],
    Strict(when=_when, more=b"\xff"),
    object(),
    iter(()),
    {(): 1},
]
VALUES.append(VALUES)
