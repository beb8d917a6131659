"""A toolset as somebody may write it, with usual and unusual types. `rehearsed.py` uses it, and watches what is opened."""

from __future__ import annotations

import abc
import array
import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import ipaddress
import json
import pathlib
import re
import typing
import uuid
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, Protocol, TypedDict, TypeVar, Union

from covalt_toolset import function_to_json_schema, get_context, get_tool_metadata, tool, type_to_json_schema
from pydantic import (
    UUID4,
    AliasChoices,
    AliasPath,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    Base64Str,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Discriminator,
    Field,
    FiniteFloat,
    FutureDate,
    HttpUrl,
    Json,
    NaiveDatetime,
    NonNegativeInt,
    PastDatetime,
    PlainSerializer,
    PositiveFloat,
    PrivateAttr,
    RootModel,
    SecretBytes,
    SecretStr,
    StrictInt,
    StringConstraints,
    Tag,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    computed_field,
    conint,
    conlist,
    constr,
    create_model,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
    validate_call,
)
from pydantic.alias_generators import to_pascal, to_snake
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic.experimental.missing_sentinel import MISSING
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError, PydanticUndefined

UserId = NewType("UserId", int)
T = TypeVar("T", bound="Shape")
K = TypeVar("K")


class Flags(enum.Flag):
    A = 1
    B = 2


class Names(enum.StrEnum):
    ONE = "one"


class Shape(BaseModel, abc.ABC):
    model_config = ConfigDict(
        alias_generator=to_pascal, validate_assignment=True, use_enum_values=True, str_strip_whitespace=True
    )
    kind: str
    _cache: int = PrivateAttr(0)

    @model_validator(mode="before")
    @classmethod
    def before(cls, data):
        return data

    @model_validator(mode="wrap")
    @classmethod
    def wrap(cls, data, handler):
        return handler(data)


class Circle(Shape):
    kind: Literal["circle"] = "circle"
    radius: PositiveFloat
    centre: Optional[Circle] = None


class Square(Shape):
    kind: Literal["square"] = "square"
    side: Annotated[decimal.Decimal, Field(max_digits=5, decimal_places=2)]

    @computed_field
    @functools.cached_property
    def area(self) -> decimal.Decimal:
        return self.side**2


class Group(BaseModel, Generic[T]):
    items: list[T] = Field(min_length=1)
    by_name: dict[Names, T] = {}


class Account(BaseModel):
    id: UUID4 = Field(validation_alias=AliasChoices("id", AliasPath("ids", 0)))
    key: SecretStr
    token: SecretBytes | None = None
    born: datetime.date = Field(examples=["2026-01-02"], deprecated=True)
    site: HttpUrl | AnyUrl | None = None
    raw: Json[list[int]] = []
    blob: Base64Bytes = b""
    text: Base64Str = ""
    size: ByteSize = ByteSize(1)

    @field_validator("born", mode="before")
    @classmethod
    def check(cls, value):
        if value == "never":
            raise PydanticCustomError("never", "Input should be a day")
        return value

    @field_serializer("born", when_used="json")
    def write(self, value):
        return value.isoformat()


class Own(BaseModel):
    a: int

    @model_serializer
    def dump(self) -> dict[str, int]:
        return {"a": self.a}


class Matrix(RootModel[list[list[float]]]):
    pass


class Row(TypedDict, Generic[K], total=False):
    key: typing.Required[K]
    next: Row[K]


class Base(TypedDict):
    a: int


class Derived(Base, total=False):
    b: str


class Version(NamedTuple):
    major: int
    minor: int = 0


@dataclasses.dataclass(slots=True, kw_only=True, frozen=True)
class Settings:
    name: str
    versions: tuple[Version, ...] = ()
    inner: Settings | None = None


@pydantic_dataclass(config=ConfigDict(extra="forbid"))
class Checked:
    n: conint(ge=1) = 1


class Named(Protocol):
    name: str


@tool(name="Shapes", requires_confirmation=True)
def shapes(
    shape: Annotated[Circle | Square, Field(discriminator="kind")],
    group: Group[Circle],
    other: Annotated[Annotated[Circle, Tag("c")] | Annotated[Square, Tag("s")], Discriminator(lambda v: "c")] | None = None,
    matrix: Matrix = Matrix([[1.0]]),
    row: Row[int] | None = None,
    derived: Derived = {"a": 1},
    settings: Settings = Settings(name="x"),
    checked: Checked = Checked(),
    names: Names = Names.ONE,
    **rest: FiniteFloat,
) -> Group[Square]:
    """Draws shapes.

    Args:
        shape: The shape.
    """
    return Group[Square](items=[Square(Side=1)])


@tool
async def account(
    account: Account,
    user: UserId,
    when: AwareDatetime | NaiveDatetime | PastDatetime,
    until: FutureDate,
    number: StrictInt | NonNegativeInt = 1,
    text: constr(pattern=r"^\w+$", to_lower=True) = "a",
    many: conlist(int, max_length=3) = [],
    short: Annotated[str, StringConstraints(max_length=3), BeforeValidator(str), WrapValidator(lambda v, h: h(v))] = "a",
    special: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 7}), PlainSerializer(str)] = 7,
    hidden: int | SkipJsonSchema[None] = None,
    absent: int | MISSING = MISSING,
    anything: Any = PydanticUndefined,
    *,
    counts: collections.Counter[str] = collections.Counter(),
    table: collections.OrderedDict[str, int] | None = None,
    pattern: re.Pattern[str] | None = None,
    network: ipaddress.IPv4Network | ipaddress.IPv6Interface | None = None,
    iterable: typing.Iterable[int] = (),
    union: Union[int, float, bool, None, list[dict[str, set[uuid.UUID]]]] = None,
    workspace: pathlib.Path,
) -> list[Account | None]:
    """Reads an account.

    :param user: Whose.
    """
    return [None]


@validate_call
def checked(a: int, b: Literal[1, "x", None, True] = 1, c: bytes = b"\x00") -> Own:
    return Own(a=a)


def plain(arguments: dict[str, Any], workspace: str) -> Version:
    return Version(1)


def wrong_hint(a: Nowhere): ...  # noqa: F821


def wrong_type(a: array.array, b: Named): ...


def wrong_kind(a, /, *b): ...


def wrong_schema(a: typing.Callable): ...


ACCOUNT = {
    "id": str(uuid.UUID(int=1, version=4)),
    "key": "k",
    "born": "2026-01-02",
    "site": "https://example.com",
    "raw": "[1]",
}

CALLS = [
    (
        shapes,
        {
            "shape": {"kind": "circle", "Kind": "circle", "Radius": "2", "Centre": {"Radius": 1}},
            "group": {"items": [{"Radius": 1}], "by_name": {"one": {"Radius": 1}}},
            "matrix": [[1, 2]],
            "row": {"key": 1, "next": {"key": "2"}},
            "settings": {"name": "a", "versions": [[1, 2]], "inner": {"name": "b"}},
            "checked": {"n": 2},
            "more": 1.5,
        },
        {
            "shape": {"kind": "x"},
            "group": {"items": [], "by_name": {"two": {}}},
            "matrix": [["x"]],
            "row": {},
            "settings": {"x": 1},
            "checked": 0,
            "more": "nan",
        },
    ),
    (
        account,
        {
            "account": ACCOUNT,
            "user": "1",
            "when": "2020-01-02T03:04:05+02:00",
            "until": "2999-01-01",
            "union": [{"a": [ACCOUNT["id"]]}],
            "network": "10.0.0.0/8",
        },
        {
            "account": {"id": "x", "born": "never", "raw": "{", "blob": "é", "size": "many"},
            "user": "x",
            "when": "x",
            "until": "2000-01-01",
            "union": [{"a": ["x"]}],
            "text": "?",
            "pattern": "(",
        },
    ),
    (checked, {"a": 1, "c": "AA=="}, {"a": "x", "b": 2, "c": "é"}),
    (plain, {"arguments": {"a": 1}}, {"arguments": 5}),
]
WRONG = [wrong_hint, wrong_type, wrong_kind, wrong_schema, print, Settings, object()]
VALUES = [
    Group[Square](items=[Square(Side=1)]),
    Circle(Radius=1, Centre=Circle(Radius=2)),
    Account.model_validate(ACCOUNT),
    Settings(name="a", inner=Settings(name="b", versions=(Version(1),))),
    [
        Checked(),
        Own(a=1),
        Matrix([[1.5]]),
        Version(1),
        Names.ONE,
        Flags.A,
        collections.ChainMap({"a": 1}),
        array.array("i", [1]),
    ],
    [
        datetime.timedelta(weeks=1),
        datetime.timezone.utc.utcoffset(None),
        decimal.Decimal("NaN"),
        1e400,
        pathlib.PurePosixPath("a"),
    ],
    [ipaddress.ip_interface("10.0.0.1/8"), re.compile(b"a"), SecretBytes(b"a"), AnyUrl("ftp://a"), 2**200],
    {uuid.UUID(int=1): {decimal.Decimal("1.5"): {Names.ONE: 1}}, 2.5: {None}},
    datetime.timezone.utc,
    MISSING,
    NotImplemented,
    (each for each in ()),
    {"a": {b"k": 1}},
]


def more():
    """What the code of a tool may do with pydantic itself."""
    made = create_model("Made", a=(int, Field(gt=1)), b=(list["Own"], []))
    made.model_rebuild(_types_namespace={"Own": Own})
    for text in ('{"a": 2}', '{"a": "x"}', "{", '{"a": 1, "b": [{}]}'):
        try:
            found = made.model_validate_json(text)
            json.dumps(
                [
                    found.model_dump(),
                    found.model_dump_json(indent=1),
                    found.model_copy(deep=True).model_dump(mode="json"),
                    repr(found),
                ]
            )
        except ValidationError as error:
            json.dumps([error.json(), str(error), error.errors()], default=str)
    adapter = TypeAdapter(dict[str, list[Version | Settings]])
    adapter.dump_json(adapter.validate_python({"a": [[1], {"name": "x"}]}))
    adapter.json_schema(mode="serialization")
    type_to_json_schema(Account), function_to_json_schema(account), get_tool_metadata(shapes)
    Account.model_json_schema(), Group[Square].model_json_schema(mode="serialization"), to_snake("aB")
    return get_context
