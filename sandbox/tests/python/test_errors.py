"""What the caller is told about wrong arguments: the path, the reason, and never the value."""

import datetime
import decimal
import enum
import ipaddress
import typing
import uuid
import zoneinfo
from typing import Annotated, Literal

import pydantic
from pydantic import BaseModel, Field
from support import Case, bound, cases, taken

SECRET = "S3CRET: val+ue!"


class Colour(enum.Enum):
    RED = "red"


class Item(BaseModel):
    price: float
    tags: dict[str, int] = {}


class Config(BaseModel):
    items: list[Item]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]


class Pair(typing.NamedTuple):
    left: int
    right: int


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Paths(Case):
    @cases(
        top=(int, "x", "value: Input should be a valid integer, unable to parse string as an integer"),
        item=(list[int], [1, "x"], "value[1]: Input should be a valid integer, unable to parse string as an integer"),
        nested=(
            Config,
            {"items": [{"price": 1}, {"price": 2}, {"price": "x"}]},
            "value.items[2].price: Input should be a valid number, unable to parse string as a number",
        ),
        missing=(Config, {}, "value.items: Field required"),
        missing_inside=(Config, {"items": [{}]}, "value.items[0].price: Field required"),
        dictionary=(
            Item,
            {"price": 1, "tags": {"a b": "x"}},
            'value.tags["a b"]: Input should be a valid integer, unable to parse string as an integer',
        ),
        key=(
            dict[int, int],
            {"x": 1},
            "the key value.x: Input should be a valid integer, unable to parse string as an integer",
        ),
        union=(
            int | list[int],
            "x",
            "value: Input should be a valid integer, unable to parse string as an integer"
            "; or: Input should be a valid array",
        ),
        union_of_models=(Cat | Dog, {}, "value.kind: Field required\nvalue.lives: Field required"),
        optional=(
            Item | None,
            {"price": "x"},
            "value.price: Input should be a valid number, unable to parse string as a number",
        ),
        tag=(
            Pet,
            {"kind": "cat", "lives": "x"},
            "value.lives: Input should be a valid integer, unable to parse string as an integer",
        ),
        wrong_tag=(Pet, {"kind": SECRET}, "value: Input should have a 'kind' that is one of 'cat', 'dog'"),
        no_tag=(Pet, {}, "value: Unable to extract tag using discriminator 'kind'"),
        literal=(Literal["a", "b"], "c", "value: Input should be 'a' or 'b'"),
        enum=(Colour, "blue", "value: Input should be 'red'"),
        no_object=(Item, [1], "value: Input should be an object"),
        tuple=(tuple[int, int], [1], "value[1]: Field required"),
    )
    def told(self, hint, value, expected):
        self.assertEqual(self.refused(lambda: taken(hint, value)), expected)

    @cases(
        long="k" * 10_000,
        quotes='a"b',
        empty="",
        dots="a.b",
        lines="a\nb",
    )
    def name_of_an_argument(self, name):
        def function(): ...

        text = self.refused(lambda: bound(function, {name: 1}), "Extra inputs are not permitted")
        self.assertLess(len(text), 200)

    def test_there_are_not_too_many_lines(self):
        text = self.refused(lambda: taken(list[int], ["x"] * 1000))
        self.assertEqual(len(text.splitlines()), 21)
        self.assertTrue(text.endswith("… and 980 more"), text)

    def test_a_name_and_a_member_of_a_union_are_told_apart(self):
        def function(value: int | dict[str, int]): ...

        text = self.refused(lambda: bound(function, {"value": {"a": "x"}}))
        self.assertIn("value.a: ", text)
        self.assertNotIn("dict[str,int]", text)


class Secrets(Case):
    @cases(
        int=int,
        float=float,
        bool=bool,
        date=datetime.date,
        datetime=datetime.datetime,
        time=datetime.time,
        timedelta=datetime.timedelta,
        uuid=uuid.UUID,
        decimal=decimal.Decimal,
        bytes=bytes,
        complex=complex,
        url=pydantic.HttpUrl,
        dsn=pydantic.PostgresDsn,
        address=ipaddress.IPv4Address,
        network=ipaddress.IPv6Network,
        enum=Colour,
        literal=Literal["a"],
        pattern=Annotated[str, Field(pattern="^a$")],
        short=Annotated[str, Field(max_length=1)],
        list=list[int],
        dict=dict[str, int],
        model=Item,
        tagged=Pet,
        named_tuple=Pair,
        json=pydantic.Json[int],
        base64=pydantic.Base64Bytes,
        size=pydantic.ByteSize,
        name=pydantic.ImportString,
        secret=Annotated[pydantic.SecretStr, Field(max_length=1)],
        union=int | float | None,
        zone=zoneinfo.ZoneInfo,
    )
    def value(self, hint):
        def function(value): ...

        function.__annotations__["value"] = hint
        try:
            bound(function, {"value": SECRET})
        except ValueError as error:
            self.assertNotIn("S3CRET", str(error))
            self.assertNotIn("://", str(error))
            self.assertTrue(str(error).startswith("value"), str(error))
            self.assertIsNone(error.__cause__)
            self.assertTrue(error.__suppress_context__)
            return
        self.fail("the value was taken")

    def test_inside_of_an_object(self):
        text = self.refused(lambda: taken(Config, {"items": [{"price": SECRET}]}))
        self.assertNotIn("S3CRET", text)

    def test_the_author_may_say_what_he_likes(self):
        def check(value):
            raise ValueError(f"{value} is no name")

        text = self.refused(lambda: taken(Annotated[str, pydantic.AfterValidator(check)], "x"))
        self.assertEqual(text, "value: x is no name")

    def test_an_assertion_without_text(self):
        def check(value):
            assert value == "y"
            return value

        text = self.refused(lambda: taken(Annotated[str, pydantic.AfterValidator(check)], "x"))
        self.assertEqual(text, "value: Input is refused")

    def test_a_validator_that_fails_is_no_fault_of_the_caller(self):
        with self.assertRaises(ZeroDivisionError):
            taken(Annotated[int, pydantic.AfterValidator(lambda value: value / 0)], 1)
