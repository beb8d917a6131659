"""Type hints: the schema that a parameter has, and the object that arrives for a JSON value."""

import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import typing
import uuid
from typing import Annotated, Any, Literal, Optional, Union

import pydantic
import samples
import toolset_binding
import typing_extensions
from covalt_toolset import type_to_json_schema
from pydantic import BaseModel, ConfigDict, Field
from support import Case, cases, hinted, schema, taken


class Colour(enum.Enum):
    """The colours."""

    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Item(BaseModel):
    """A thing."""

    name: str
    price: float = Field(1.0, gt=0, description="In euros", title="The price")


class Node(BaseModel):
    children: list["Node"] = []


class Titled(BaseModel):
    model_config = ConfigDict(title="A title of the author")
    title: str


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    age: int


class Aliased(BaseModel):
    first_name: str = Field(alias="firstName")


class Strict(BaseModel, strict=True):
    when: datetime.datetime
    names: set[str]


@dataclasses.dataclass
class Point:
    x: int
    data: bytes = b""
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Tree:
    name: str
    data: bytes = b"\xff"
    children: list["Tree"] = dataclasses.field(default_factory=list)


class Row(typing.TypedDict):
    data: bytes
    rows: list["Row"]


class Options(typing.TypedDict, total=False):
    depth: typing.Required[int]
    name: str


class MoreOptions(Options):
    flag: bool


class NewOptions(typing_extensions.TypedDict):
    depth: int
    name: typing_extensions.NotRequired[str]


class Pair(typing.NamedTuple):
    left: int
    right: str = "r"


class Described(typing.TypedDict):
    depth: Annotated[int, "How deep"]


@dataclasses.dataclass
class DescribedClass:
    depth: Annotated[int, "How deep"] | None = None


class DescribedModel(BaseModel):
    depth: Annotated[int, "How deep"] = Field(alias="howDeep")
    name: Annotated[str, "No"] = Field(description="Yes")


T = typing.TypeVar("T")


class Page(BaseModel, typing.Generic[T]):
    items: list[T]


Alias = typing_extensions.TypeAliasType("Alias", list[int])

STRING, INTEGER, NUMBER, NULL = {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "null"}


BASE64 = {"type": "string", "contentEncoding": "base64"}


def array(items):
    return {"type": "array", "items": items}


def any_of(*schemas):
    return {"anyOf": list(schemas)}


def reference(name):
    return {"$ref": f"#/$defs/{name}"}


class Schemas(Case):
    @cases(
        str=(str, STRING),
        int=(int, INTEGER),
        float=(float, NUMBER),
        bool=(bool, {"type": "boolean"}),
        none=(None, NULL),
        any=(Any, {}),
        object=(object, {}),
        dict=(dict, {"type": "object", "additionalProperties": True}),
        list=(list, array({})),
        list_of=(list[int], array(INTEGER)),
        typing_list=(typing.List[str], array(STRING)),
        dict_of=(dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        set=(set[str], {**array(STRING), "uniqueItems": True}),
        frozenset=(frozenset[int], {**array(INTEGER), "uniqueItems": True}),
        tuple=(tuple[int, str], {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2}),
        tuple_of=(tuple[int, ...], array(INTEGER)),
        sequence=(collections.abc.Sequence[int], array(INTEGER)),
        deque=(collections.deque[int], array(INTEGER)),
        optional=(Optional[str], any_of(STRING, NULL)),
        union=(Union[int, str], any_of(INTEGER, STRING)),
        bar=(int | list[str] | None, any_of(INTEGER, array(STRING), NULL)),
        literal=(Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        one_literal=(Literal["a"], {"type": "string", "const": "a"}),
        mixed_literal=(Literal["a", 1, None], {"enum": ["a", 1, None]}),
        date=(datetime.date, {"type": "string", "format": "date"}),
        datetime=(datetime.datetime, {"type": "string", "format": "date-time"}),
        time=(datetime.time, {"type": "string", "format": "time"}),
        timedelta=(datetime.timedelta, {"type": "string", "format": "duration"}),
        uuid=(uuid.UUID, {"type": "string", "format": "uuid"}),
        path=(pathlib.Path, {"type": "string", "format": "path"}),
        decimal=(decimal.Decimal, any_of(NUMBER, STRING)),
        bytes=(bytes, {"type": "string", "contentEncoding": "base64"}),
        address=(ipaddress.IPv4Address, {"type": "string", "format": "ipv4"}),
        url=(pydantic.HttpUrl, {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083}),
        secret=(pydantic.SecretStr, {"type": "string", "format": "password", "writeOnly": True}),
        constrained=(Annotated[int, Field(ge=1, le=9)], {"type": "integer", "minimum": 1, "maximum": 9}),
        described=(Annotated[str, Field(description="A text")], {"type": "string", "description": "A text"}),
        plain_text=(Annotated[str, "A text"], {"type": "string", "description": "A text"}),
        doc=(Annotated[str, typing_extensions.Doc("A text")], {"type": "string", "description": "A text"}),
        field_before_text=(Annotated[str, "No", Field(description="Yes")], {"type": "string", "description": "Yes"}),
        pattern=(Annotated[str, Field(pattern="^a+$")], {"type": "string", "pattern": "^a+$"}),
        examples=(Annotated[int, Field(examples=[1])], {"type": "integer", "examples": [1]}),
        titled=(Annotated[int, Field(title="A title")], {"type": "integer", "title": "A title"}),
        items=(list[Annotated[int, Field(gt=0)]], array({"type": "integer", "exclusiveMinimum": 0})),
        alias=(Alias, reference("Alias")),
        typevar=(T, {}),
    )
    def one(self, hint, expected):
        self.assertEqual(hinted(hint)[0], expected)

    @cases(
        described_or_none=(Annotated[str, "A text"] | None, "A text"),
        field_or_none=(Optional[Annotated[str, Field(description="A text")]], "A text"),
        two_texts=(Annotated[str, "One"] | Annotated[int, "Two"], None),
    )
    def union_described(self, hint, expected):
        self.assertEqual(hinted(hint)[0].get("description"), expected)

    @cases(
        enum=(Colour, {"Colour": {"type": "string", "enum": ["red", "blue"], "description": "The colours."}}),
        int_enum=(Level, {"Level": {"type": "integer", "enum": [1, 2]}}),
        model=(
            Item,
            {
                "Item": {
                    "type": "object",
                    "description": "A thing.",
                    "properties": {
                        "name": STRING,
                        "price": {
                            "type": "number",
                            "exclusiveMinimum": 0,
                            "default": 1.0,
                            "description": "In euros",
                            "title": "The price",
                        },
                    },
                    "required": ["name"],
                }
            },
        ),
        recursive_model=(
            Node,
            {"Node": {"type": "object", "properties": {"children": {**array(reference("Node")), "default": []}}}},
        ),
        titled=(
            Titled,
            {
                "Titled": {
                    "type": "object",
                    "title": "A title of the author",
                    "properties": {"title": STRING},
                    "required": ["title"],
                }
            },
        ),
        aliased=(Aliased, {"Aliased": {"type": "object", "properties": {"firstName": STRING}, "required": ["firstName"]}}),
        dataclass=(
            Point,
            {
                "Point": {
                    "type": "object",
                    "properties": {
                        "x": INTEGER,
                        "data": {"type": "string", "contentEncoding": "base64", "default": ""},
                        "tags": array(STRING),
                    },
                    "required": ["x"],
                    "additionalProperties": False,
                }
            },
        ),
        recursive_dataclass=(
            Tree,
            {
                "Tree": {
                    "type": "object",
                    "properties": {
                        "name": STRING,
                        "data": {**BASE64, "default": "_w=="},
                        "children": array(reference("Tree")),
                    },
                    "required": ["name"],
                    "additionalProperties": False,
                }
            },
        ),
        recursive_typed_dict=(
            Row,
            {
                "Row": {
                    "type": "object",
                    "properties": {"data": BASE64, "rows": array(reference("Row"))},
                    "required": ["data", "rows"],
                    "additionalProperties": False,
                }
            },
        ),
        typed_dict=(
            MoreOptions,
            {
                "MoreOptions": {
                    "type": "object",
                    "properties": {"depth": INTEGER, "name": STRING, "flag": {"type": "boolean"}},
                    "required": ["depth", "flag"],
                    "additionalProperties": False,
                }
            },
        ),
        new_typed_dict=(
            NewOptions,
            {
                "NewOptions": {
                    "type": "object",
                    "properties": {"depth": INTEGER, "name": STRING},
                    "required": ["depth"],
                    "additionalProperties": False,
                }
            },
        ),
        named_tuple=(
            Pair,
            {
                "Pair": {
                    "type": "array",
                    "prefixItems": [
                        {"type": "integer", "title": "left"},
                        {"type": "string", "title": "right", "default": "r"},
                    ],
                    "minItems": 1,
                    "maxItems": 2,
                }
            },
        ),
        generic=(
            Page[int],
            {"Page_int_": {"type": "object", "properties": {"items": array(INTEGER)}, "required": ["items"]}},
        ),
    )
    def class_with_definition(self, hint, definitions):
        ((name, _),) = definitions.items()
        self.assertEqual(hinted(hint), (reference(name), definitions))

    @cases(
        typed_dict=(Described, {"depth": "How deep"}),
        dataclass=(DescribedClass, {"depth": "How deep"}),
        model=(DescribedModel, {"howDeep": "How deep", "name": "Yes"}),
    )
    def plain_texts_in_a_class(self, hint, expected):
        made = type_to_json_schema(hint)["properties"]
        self.assertEqual({name: each["description"] for name, each in made.items()}, expected)

    def test_a_tagged_union_has_no_keyword_of_openapi(self):
        made, _ = hinted(Annotated[Cat | Dog, Field(discriminator="kind")])
        self.assertEqual(made, {"oneOf": [reference("Cat"), reference("Dog")]})

    @cases(
        scalar=(int, INTEGER),
        text=(Annotated[str, Field(min_length=1)], {"type": "string", "minLength": 1}),
        bytes=(bytes, {"type": "string", "contentEncoding": "base64"}),
        model=(Aliased, {"type": "object", "properties": {"firstName": STRING}, "required": ["firstName"]}),
        list_of_models=(
            list[Aliased],
            {
                **array(reference("Aliased")),
                "$defs": {"Aliased": {"type": "object", "properties": {"firstName": STRING}, "required": ["firstName"]}},
            },
        ),
        recursive=(
            Node,
            {
                **reference("Node"),
                "$defs": {
                    "Node": {"type": "object", "properties": {"children": {**array(reference("Node")), "default": []}}}
                },
            },
        ),
    )
    def type_alone(self, hint, expected):
        self.assertEqual(type_to_json_schema(hint), expected)

    def test_a_type_without_schema_is_refused(self):
        self.refused(lambda: type_to_json_schema(object.__new__), "the type: there is no JSON Schema for its type")


# The words of JSON Schema 2020-12 that may be in a schema here, by what is in them.
SCHEMA_IN = ("items", "additionalProperties", "contentSchema", "propertyNames")
SCHEMAS_IN = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED_IN = ("$defs", "properties")
OTHERS = {
    *("$ref", "type", "required", "enum", "const", "default", "description", "title", "examples", "format", "pattern"),
    *("minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum"),
    *("exclusiveMaximum", "multipleOf", "contentEncoding", "contentMediaType", "readOnly", "writeOnly", "deprecated"),
}


class Words(Case):
    def check(self, schema, root):
        if isinstance(schema, bool):
            return
        self.assertLessEqual(set(schema), {*SCHEMA_IN, *SCHEMAS_IN, *NAMED_IN, *OTHERS})
        if "$ref" in schema:
            self.assertIn(schema["$ref"].removeprefix("#/$defs/"), root["$defs"])
        inner = [schema[word] for word in SCHEMA_IN if word in schema]
        inner += [each for word in SCHEMAS_IN for each in schema.get(word, ())]
        inner += [each for word in NAMED_IN for each in schema.get(word, {}).values()]
        for each in inner:
            self.check(each, root)

    def test_there_are_no_others(self):
        tables = [test.table for test in (*vars(Schemas).values(), *vars(Instances).values()) if hasattr(test, "table")]
        for hint, *_ in (row for table in tables for row in table.values()):
            made = type_to_json_schema(hint)
            self.check(made, made)
        for function, *_ in samples.CALLS:
            for made in (schema(function), toolset_binding.describe(function)["returns_schema"]):
                self.check(made, made)


class Instances(Case):
    @cases(
        str=(str, "a", "a"),
        int_of_text=(int, "12", 12),
        int_of_float=(int, 3.0, 3),
        float_of_int=(float, 3, 3.0),
        bool_of_text=(bool, "yes", True),
        any=(Any, {"a": [1]}, {"a": [1]}),
        enum=(Colour, "red", Colour.RED),
        int_enum=(Level, 2, Level.HIGH),
        literal=(Literal["a", "b"], "b", "b"),
        model=(Item, {"name": "a", "price": "2"}, Item(name="a", price=2)),
        list_of_models=(list[Item], [{"name": "a"}], [Item(name="a")]),
        dict_of_models=(dict[str, Item], {"k": {"name": "a"}}, {"k": Item(name="a")}),
        recursive_model=(Node, {"children": [{"children": []}]}, Node(children=[Node()])),
        dataclass=(Point, {"x": "1", "data": "/w=="}, Point(1, b"\xff")),
        recursive_dataclass=(Tree, {"name": "a", "data": "", "children": [{"name": "b"}]}, Tree("a", b"", [Tree("b")])),
        typed_dict=(Options, {"depth": "1"}, {"depth": 1}),
        named_tuple=(Pair, [1, "x"], Pair(1, "x")),
        named_tuple_with_default=(Pair, [1], Pair(1)),
        generic=(Page[int], {"items": ["1"]}, Page[int](items=[1])),
        tagged=(Annotated[Cat | Dog, Field(discriminator="kind")], {"kind": "dog", "age": 1}, Dog(kind="dog", age=1)),
        optional=(Optional[Item], None, None),
        union=(int | str, "12", "12"),
        tuple=(tuple[int, str], [1, "a"], (1, "a")),
        set=(set[int], [1, 1], {1}),
        deque=(collections.deque[int], [1], collections.deque([1])),
        date=(datetime.date, "2026-01-02", datetime.date(2026, 1, 2)),
        datetime=(datetime.datetime, "2026-01-02T03:04:05", datetime.datetime(2026, 1, 2, 3, 4, 5)),
        timedelta=(datetime.timedelta, "PT90M", datetime.timedelta(minutes=90)),
        uuid=(uuid.UUID, str(uuid.UUID(int=1)), uuid.UUID(int=1)),
        path=(pathlib.Path, "a/b", pathlib.Path("a/b")),
        decimal=(decimal.Decimal, "0.10", decimal.Decimal("0.10")),
        decimal_of_number=(decimal.Decimal, 0.1, decimal.Decimal("0.1")),
        bytes=(bytes, "/+8=", b"\xff\xef"),
        url_safe_bytes=(bytes, "_-8=", b"\xff\xef"),
        strict_model=(
            Strict,
            {"when": "2026-01-02T03:04:05", "names": ["a"]},
            Strict(when=datetime.datetime(2026, 1, 2, 3, 4, 5), names={"a"}),
        ),
        validator=(Annotated[int, pydantic.AfterValidator(lambda n: n * 2)], 2, 4),
        before_validator=(Annotated[list[str], pydantic.BeforeValidator(lambda v: v.split(","))], "a,b", ["a", "b"]),
        alias=(Alias, ["1"], [1]),
    )
    def one(self, hint, value, expected):
        got = taken(hint, value)
        self.assertEqual(got, expected)
        self.assertIs(type(got), type(expected))
