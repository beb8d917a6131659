"""Functions and arguments that are wrong on purpose: each is refused in words, or works, and nothing takes long."""

import dataclasses
import functools
import inspect
import time
import typing
from typing import Annotated, Any, Literal

import pydantic
import toolset_binding
from covalt_toolset import function_to_json_schema
from pydantic import BaseModel, Field
from support import DIRECTORY, Case, bound, cases, hinted, schema, taken
from toolset_signature import MAX_HINT_DEPTH


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Liar(type):
    @property
    def __name__(cls):
        raise RuntimeError("no name")


class Raising(Exception, metaclass=Liar):
    pass


def fail(error):
    raise error


def hint_of(expression):
    def function(value): ...

    function.__annotations__["value"] = expression
    function.__globals__.setdefault("fail", fail)
    return function


class Hints(Case):
    @cases(
        unknown=("nowhere", "NameError"),
        attribute=("typing.Nowhere", "AttributeError"),
        syntax=("int[", "SyntaxError"),
        text=("the file to read", "SyntaxError"),
        division=("1 / 0", "ZeroDivisionError"),
        leaving=("fail(SystemExit(3))", "SystemExit"),
        recursion=("fail(RecursionError('deep'))", "RecursionError: deep"),
        unspeakable=("fail(Unspeakable())", "Unspeakable"),
        nameless=("fail(Raising())", "Raising"),
        long=("fail(ValueError('x' * 100_000))", "ValueError: xxx"),
        index=("list[int, 'x', nowhere]", "NameError"),
        nul=("int\0", "Error"),
        import_=("__import__('nowhere')", "ModuleNotFoundError"),
        number_text=("'\\ud800'", "Error"),
    )
    def that_raises(self, expression, text):
        function = hint_of(expression)
        told = self.refused(lambda: toolset_binding.describe(function), "value: its type hint cannot be evaluated", text)
        self.assertLess(len(told), 500)
        self.refused(lambda: bound(function, {"value": 1}), "value: its type hint cannot be evaluated")

    @cases(
        number=5,
        list=[int],
        object=object(),
        module=typing,
        function=len,
        plain_class=type("Plain", (), {}),
        class_var=typing.ClassVar[int],
        init_var=dataclasses.InitVar[int],
        callable=typing.Callable[[int], str],
        self_=typing.Self,
        never_built=Annotated[int, pydantic.GetPydanticSchema(lambda *_: fail(KeyError("x")))],
        bad_pattern=Annotated[str, Field(pattern="(")],
        look_ahead=Annotated[str, Field(pattern="(?=a)b")],
        email=pydantic.EmailStr,
        discriminator=Annotated[int | str, Field(discriminator="kind")],
    )
    def that_is_no_type(self, hint):
        self.refused(lambda: hinted(hint), "value: ")

    @cases(none="None", field="Field(1)", number="2")
    def that_is_no_type_with_a_default(self, default):
        space = {"Field": Field}
        exec(f"def f(value: 5 = {default}): ...", space)
        self.refused(lambda: toolset_binding.describe(space["f"]), "value: its type cannot be had from JSON")
        self.refused(lambda: bound(space["f"], {"value": 1}), "value: its type cannot be had from JSON")

    @cases(unknown="Unpack[Odd]", number="Unpack[tuple[int, str]]", class_="Unpack[int]")
    def that_cannot_be_unpacked(self, hint):
        space = {"Unpack": typing.Unpack}
        exec("import typing\nclass Odd(typing.TypedDict):\n    a: 'nowhere'", space)
        exec(f"def f(**rest: {hint}): ...", space)
        self.refused(lambda: toolset_binding.describe(space["f"]), "**rest: ")

    def test_all_wrong_hints_are_told(self):
        def function(a: len, b: int, c: typing.Callable, d: object()): ...

        text = self.refused(lambda: toolset_binding.describe(function))
        self.assertEqual([line.partition(":")[0] for line in text.splitlines()], ["a", "d"])

    @cases(
        list=lambda depth: functools.reduce(lambda inner, _: list[inner], range(depth), int),
        dict=lambda depth: functools.reduce(lambda inner, _: dict[str, inner], range(depth), int),
        union=lambda depth: functools.reduce(lambda inner, _: list[inner] | None, range(depth // 2), int),
        annotated=lambda depth: functools.reduce(lambda inner, _: list[Annotated[inner, "x"]], range(depth // 2), int),
    )
    def depth(self, make):
        hinted(make(MAX_HINT_DEPTH - 5))
        for depth in (200, 800):
            self.refused(lambda: hinted(make(depth)), "value: its type hint is too large or too deep")

    def test_a_long_chain_of_models(self):
        inner = int
        for number in range(400):
            inner = pydantic.create_model(
                f"M{number}", inner=(inner, ...), __config__=pydantic.ConfigDict(defer_build=True)
            )
        try:
            hinted(inner)
        except toolset_binding.BindingError as error:
            self.assertIn("RecursionError", str(error))

    def test_large_hints(self):
        self.assertEqual(len(hinted(Literal[tuple(map(str, range(10_000)))])[0]["enum"]), 10_000)
        self.refused(lambda: hinted(Literal[tuple(map(str, range(30_000)))]), "too large")

    def test_a_type_that_fails_when_its_schema_is_made(self):
        class Odd(BaseModel):
            model_config = pydantic.ConfigDict(json_schema_extra=lambda _: fail(Unspeakable()))

        self.refused(lambda: hinted(Odd), "value: there is no JSON Schema for its type: Unspeakable")

    def test_a_model_with_a_reference_to_nowhere(self):
        class Odd(BaseModel):
            inner: "Nowhere"  # noqa: F821

        self.refused(lambda: hinted(Odd), "value: ", "Nowhere")


class Parameters(Case):
    def test_two_thousand(self):
        names = [f"parameter_{number}" for number in range(2_000)]
        source = ", ".join(f"{name}: list[int] = [{number}]" for number, name in enumerate(names))
        space = {}
        exec(f"def f({source}):\n    'Does it.'", space)
        begun = time.monotonic()
        made = schema(space["f"])
        self.assertEqual(list(made["properties"]), names)
        self.assertEqual(made["properties"]["parameter_1999"]["default"], [1999])
        self.assertEqual(len(bound(space["f"], dict.fromkeys(names, ["1"]))), 2_000)
        self.refused(lambda: bound(space["f"], dict.fromkeys(names, "x")), "… and 1980 more")
        self.assertLess(time.monotonic() - begun, 20)

    def test_two_thousand_that_are_wrong(self):
        space = {}
        exec("def f(%s): ..." % ", ".join(f"p{number}: len" for number in range(2_000)), space)
        text = self.refused(lambda: schema(space["f"]), "p0: ", "p19: ")
        self.assertEqual(len(text.splitlines()), 20)

    def test_a_long_name(self):
        name = "n" * 50_000
        space = {}
        exec(f"def f({name}: int): ...", space)
        self.assertEqual(list(schema(space["f"])["properties"]), [name])
        self.assertLess(len(self.refused(lambda: bound(space["f"], {}))), 200)

    def test_odd_defaults(self):
        class Odd:
            def __eq__(self, other):
                raise RuntimeError("no comparison")

            def __repr__(self):
                raise RuntimeError("no text")

            __hash__ = None
            __class__ = property(lambda self: fail(RuntimeError("no class")))

        def function(a: Any = Odd(), b: int = 1): ...

        described = toolset_binding.describe(function)
        self.assertEqual(described["parameters_schema"]["properties"], {"a": {}, "b": {"type": "integer", "default": 1}})
        self.assertEqual(bound(function, {"b": "2"}), {"b": 2})

    def test_a_validator_that_fails_for_a_default(self):
        def function(a: Annotated[int, pydantic.AfterValidator(lambda value: value / 0)] = 1, b: int = 2): ...

        described = toolset_binding.describe(function)
        self.assertNotIn("default", described["parameters_schema"]["properties"]["a"])
        self.assertEqual(len(described["warnings"]), 2)


def wrapped_in_itself():
    def function(a: int): ...

    function.__wrapped__ = function
    return function


def wrapped_in_a_circle():
    def one(): ...

    def two(): ...

    one.__wrapped__, two.__wrapped__ = two, one
    return one


def wrapped_often():
    def inner(a: int): ...

    for _ in range(2_000):

        def outer(): ...

        outer.__wrapped__ = inner
        inner = outer
    return inner


def with_attribute(name, value):
    def function(a: int): ...

    setattr(function, name, value)
    return function


class NoSignature:
    __signature__ = property(lambda self: fail(Unspeakable()))

    def __call__(self, a: int): ...


class NoAttributes:
    def __getattribute__(self, name):
        raise RuntimeError("no attributes")

    def __call__(self): ...


class Liars(Case):
    @cases(
        itself=wrapped_in_itself,
        circle=wrapped_in_a_circle,
        often=wrapped_often,
        number=lambda: with_attribute("__wrapped__", 5),
        signature_text=lambda: with_attribute("__signature__", "no signature"),
        signature_number=lambda: with_attribute("__signature__", 5),
        property=NoSignature,
        attributes=NoAttributes,
        no_function=lambda: 5,
        none=lambda: None,
    )
    def refused_as_a_tool(self, make):
        function = make()
        self.refused(lambda: toolset_binding.describe(function), "signature cannot be read")
        self.refused(lambda: toolset_binding.bind(function, {}, None, DIRECTORY), "signature cannot be read")
        self.refused(lambda: function_to_json_schema(function), "signature cannot be read")

    def test_a_signature_that_is_not_the_functions_own(self):
        """The signature counts. The call then fails with Python's own error."""

        def function(a: int): ...

        def other(b: "int", *, c: str = "x"): ...

        function.__signature__ = inspect.signature(other)
        self.assertEqual(list(schema(function)["properties"]), ["b", "c"])
        self.assertEqual(bound(function, {"b": "1"}), {"b": 1})
        with self.assertRaises(TypeError):
            function(**bound(function, {"b": 1}))

    def test_a_wrapped_function_that_is_another(self):
        def other(b: int):
            """Is another."""

        function = with_attribute("__wrapped__", other)
        self.assertEqual(list(schema(function)["properties"]), ["b"])

    @cases(number=5, none=None, bytes=b"x", object=object())
    def docstring(self, value):
        function = with_attribute("__doc__", value)
        self.assertIsNone(toolset_binding.describe(function)["description"])


class Arguments(Case):
    def test_deep_arguments_of_a_recursive_model(self):
        class Node(BaseModel):
            inner: "Node | None" = None

        value = functools.reduce(lambda inner, _: {"inner": inner}, range(5_000), None)
        self.refused(lambda: taken(Node, value), "Recursion error")
        shallow = functools.reduce(lambda inner, _: {"inner": inner}, range(50), None)
        self.assertIsInstance(taken(Node, shallow), Node)

    def test_many_errors(self):
        begun = time.monotonic()
        text = self.refused(lambda: taken(list[int], ["x"] * 200_000), "… and 199980 more")
        self.assertLess(len(text), 5_000)
        self.assertLess(time.monotonic() - begun, 20)

    def test_a_long_number(self):
        self.assertEqual(taken(int, 10**4000), 10**4000)
        self.refused(lambda: taken(float, "1" * 5_000 + "x"), "value: Input should be a valid number")

    def test_a_long_text_in_an_error(self):
        class Long(BaseModel):
            kind: Literal[tuple("k" * 1_000 + str(number) for number in range(50))]

        self.assertLess(len(self.refused(lambda: taken(Long, {"kind": "x"}))), 1_000)

    @cases(proto="__proto__", class_="__class__", dict_="__dict__", init="__init__", fields="__pydantic_fields_set__")
    def odd_keys(self, name):
        def function(**rest): ...

        self.assertEqual(bound(function, {name: 1}), {name: 1})

        def closed(a: int): ...

        self.refused(lambda: bound(closed, {"a": 1, name: 1}), "Extra inputs are not permitted")
        self.assertEqual(bound(closed, {"a": 1, name: 1}, ["a", name]), {"a": 1})
