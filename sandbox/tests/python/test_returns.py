"""The schema of what a function returns: only where the hint says something."""

import collections.abc
import dataclasses
import datetime
import enum
import pathlib
import typing
from typing import Any, Literal, Optional

import pydantic
import toolset_binding
from support import Case, cases
from toolset_binding import to_json_value

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


class Item(pydantic.BaseModel):
    unit_price: float = pydantic.Field(alias="unitPrice")
    data: bytes = b""

    @pydantic.computed_field
    def double(self) -> float:
        return 2 * self.unit_price


class Node(pydantic.BaseModel):
    children: list["Node"] = []


@dataclasses.dataclass
class Point:
    x: int
    data: bytes = b""


class Options(typing.TypedDict):
    depth: int


class Pair(typing.NamedTuple):
    left: int


class Colour(enum.Enum):
    RED = "red"


def returns(hint):
    def function(): ...

    function.__annotations__["return"] = hint
    return toolset_binding.describe(function)


class Returns(Case):
    @cases(
        str=(str, STRING),
        int=(int, INTEGER),
        bool=(bool, {"type": "boolean"}),
        literal=(Literal["a"], {"type": "string", "const": "a"}),
        list=(list[int], {"type": "array", "items": INTEGER}),
        sequence=(collections.abc.Sequence[str], {"type": "array", "items": STRING}),
        optional=(Optional[int], {"anyOf": [INTEGER, {"type": "null"}]}),
        dict=(dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        date=(datetime.date, {"type": "string", "format": "date"}),
        path=(pathlib.Path, {"type": "string", "format": "path"}),
        bytes=(bytes, {"type": "string", "contentEncoding": "base64"}),
        enum=(Colour, {"type": "string", "enum": ["red"]}),
        annotated=(typing.Annotated[int, pydantic.Field(ge=0)], {"type": "integer", "minimum": 0}),
        typed_dict=(Options, {"type": "object", "properties": {"depth": INTEGER}, "required": ["depth"]}),
        dataclass=(
            Point,
            {
                "type": "object",
                "properties": {"x": INTEGER, "data": {"type": "string", "contentEncoding": "base64", "default": ""}},
                "required": ["x"],
            },
        ),
        model=(
            Item,
            {
                "type": "object",
                "properties": {
                    "unitPrice": {"type": "number"},
                    "data": {"type": "string", "format": "binary", "default": ""},
                    "double": {"type": "number", "readOnly": True},
                },
                "required": ["unitPrice", "double"],
            },
        ),
        recursive=(
            Node,
            {
                "$ref": "#/$defs/Node",
                "$defs": {
                    "Node": {
                        "type": "object",
                        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}, "default": []}},
                    }
                },
            },
        ),
    )
    def told(self, hint, expected):
        self.assertEqual(returns(hint)["returns_schema"], expected)

    @cases(
        none=None,
        any=Any,
        object=object,
        dict=dict,
        list=list,
        dict_of_any=dict[str, Any],
        list_of_any=list[Any],
        list_of_dicts=list[dict],
        optional_dict=Optional[dict],
        union_with_any=typing.Union[int, list],
        tuple=tuple,
        base_model=pydantic.BaseModel,
        iterator=collections.abc.Iterator[int],
        generator=collections.abc.Generator[int, None, None],
        typevar=typing.TypeVar("T"),
        number=5,
    )
    def nothing(self, hint):
        told = returns(hint)
        self.assertIsNone(told["returns_schema"])
        self.assertEqual(told["warnings"], [])

    def test_no_hint(self):
        def function(): ...

        self.assertIsNone(toolset_binding.describe(function)["returns_schema"])

    @cases(unknown="nowhere", failing="1 / 0", leaving="exit()")
    def cannot_be_evaluated(self, hint):
        """The result is the author's own business, so the tool can be used, without a schema."""
        told = returns(hint)
        self.assertIsNone(told["returns_schema"])
        self.assertEqual(len(told["warnings"]), 1)
        self.assertIn("there is no schema for the result", told["warnings"][0])

    def test_a_field_without_schema(self):
        class Odd(pydantic.BaseModel):
            call: typing.Callable[[], int]

        told = returns(Odd)
        self.assertIsNone(told["returns_schema"])
        self.assertIn("there is no schema for the result", told["warnings"][0])

    def test_results_are_written_as_their_schema_says(self):
        self.assertEqual(to_json_value(Item(unitPrice=1)), {"unitPrice": 1.0, "data": "", "double": 2.0})
        self.assertEqual(to_json_value(Point(1, b"\xff")), {"x": 1, "data": "/w=="})
        self.assertEqual(to_json_value(Pair(1)), [1])
        self.assertEqual(returns(Pair)["returns_schema"]["type"], "array")
