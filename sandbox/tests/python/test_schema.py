"""The schema of a whole function: its parameters, defaults, descriptions, and what its code cannot say."""

import datetime
import enum
import functools
import pathlib
import sys
import types
import typing
import warnings
from typing import Annotated, Any

import covalt_toolset
import toolset_binding
from pydantic import BaseModel, Field
from support import Case, cases, property_of, schema


class Colour(enum.Enum):
    RED = "red"


class Item(BaseModel):
    name: str = "n"


class Later(typing.TypedDict, total=False):
    depth: typing.Required[Annotated[int, "How deep"]]
    name: str


def of(source, **names):
    """A function `f` of a module of its own, whose hints may be texts."""
    module = types.ModuleType("main")
    vars(module).update(names)
    exec(compile(source, "main.py", "exec", dont_inherit=True), vars(module))
    return vars(module)["f"]


class Defaults(Case):
    @cases(
        text=("value: str = 'a'", "a"),
        number=("value: float = 1.5", 1.5),
        false=("value: bool = False", False),
        null=("value: int | None = None", None),
        list=("value: list[int] = [1]", [1]),
        tuple=("value: tuple[int, ...] = (1, 2)", [1, 2]),
        path=("value: pathlib.Path = pathlib.Path('a')", "a"),
        date=("value: datetime.date = datetime.date(2026, 1, 2)", "2026-01-02"),
        enum=("value: Colour = Colour.RED", "red"),
        model=("value: Item = Item()", {"name": "n"}),
        unhinted=("value=1", 1),
        bytes=("value: bytes = b'\\xff'", "/w=="),
        field=("value: int = Field(5, ge=1)", 5),
        annotated_field=("value: Annotated[int, Field(5)]", 5),
        keyword_only=("*, value: int = 3", 3),
    )
    def is_in_the_schema(self, parameter, expected):
        function = of(
            f"def f({parameter}): ...",
            pathlib=pathlib,
            datetime=datetime,
            Colour=Colour,
            Item=Item,
            Field=Field,
            Annotated=Annotated,
        )
        made = schema(function)
        self.assertEqual(made["properties"]["value"]["default"], expected)
        self.assertNotIn("required", made)

    @cases(
        object=("value: Any = object()", "no short JSON value"),
        not_a_number=("value: float = float('nan')", "no short JSON value"),
        long=("value: str = 'x' * 20_000", "no short JSON value"),
        wrong=("value: int = 'x'", "does not fit"),
        ellipsis=("value: Any = ...", "no short JSON value"),
        lambda_=("value: Any = lambda: 1", "no short JSON value"),
        constrained=("value: int = Field(0, ge=1)", "does not fit"),
    )
    def is_not_in_the_schema(self, parameter, note):
        described = toolset_binding.describe(of(f"def f({parameter}): ...", Any=Any, Field=Field))
        self.assertNotIn("default", described["parameters_schema"]["properties"]["value"])
        self.assertNotIn("required", described["parameters_schema"])
        self.assertEqual(len(described["warnings"]), 1)
        self.assertIn(note, described["warnings"][0])

    def test_a_factory_makes_the_parameter_optional(self):
        described = toolset_binding.describe(of("def f(value: list[int] = Field(default_factory=list)): ...", Field=Field))
        self.assertEqual(
            described["parameters_schema"]["properties"]["value"], {"type": "array", "items": {"type": "integer"}}
        )
        self.assertNotIn("required", described["parameters_schema"])
        self.assertEqual(described["warnings"], [])

    def test_none_as_default_allows_null(self):
        function = of("def f(value: str = None): ...")
        self.assertEqual(property_of(function), {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None})

    def test_null_is_allowed_once(self):
        function = of("def f(value: Annotated[str | None, Field(description='d')] = None): ...", Annotated=Annotated, Field=Field)
        either = [{"type": "string"}, {"type": "null"}]
        self.assertEqual(property_of(function), {"anyOf": either, "description": "d", "default": None})

    def test_required_fields_of_pydantic(self):
        function = of("def f(value: int = Field(..., description='d')): ...", Field=Field)
        self.assertEqual(schema(function)["required"], ["value"])
        self.assertEqual(property_of(function), {"type": "integer", "description": "d"})


class Functions(Case):
    def test_no_parameters(self):
        def function(): ...

        self.assertEqual(schema(function), {"type": "object", "properties": {}, "additionalProperties": False})
        self.assertEqual(covalt_toolset.function_to_json_schema(function), schema(function))

    def test_the_order_is_that_of_the_function(self):
        def function(z: int, a: str, *, m: bool, b: int = 1): ...

        made = schema(function)
        self.assertEqual(list(made["properties"]), ["z", "a", "m", "b"])
        self.assertEqual(made["required"], ["z", "a", "m"])

    @cases(
        plain=("**rest", True),
        any=("**rest: Any", True),
        typed=("**rest: int", {"type": "integer"}),
        model=("**rest: Item", {"$ref": "#/$defs/Item"}),
    )
    def rest(self, parameter, expected):
        made = schema(of(f"def f(a: int, {parameter}): ...", Any=Any, Item=Item))
        self.assertEqual(made["additionalProperties"], expected)
        self.assertEqual(list(made["properties"]), ["a"])

    def test_unpacked_rest(self):
        made = schema(of("def f(**rest: Unpack[Later]): ...", Unpack=typing.Unpack, Later=Later))
        self.assertEqual(
            made["properties"], {"depth": {"type": "integer", "description": "How deep"}, "name": {"type": "string"}}
        )
        self.assertEqual((made["required"], made["additionalProperties"]), (["depth"], False))

    @cases(
        positional_only=("a: int, /", "a: ", "positional-only"),
        any_positions=("*values", "*values: ", "cannot take *values"),
    )
    def not_named(self, parameters, *texts):
        function = of(f"def f({parameters}): ...")
        self.refused(lambda: toolset_binding.describe(function), *texts)
        self.refused(lambda: covalt_toolset.function_to_json_schema(function), *texts)

    @cases(
        future=("from __future__ import annotations\n", "Item"),
        quoted=("", "'Item'"),
        inside=("", "list['Item']"),
        nested_text=("from __future__ import annotations\n", "'Item | None'"),
    )
    def forward_reference(self, head, hint):
        """The class is defined after the function, in the module of the function alone."""
        source = f"{head}def f(value: {hint}): ...\nfrom pydantic import BaseModel\nclass Item(BaseModel):\n    own: int\n"
        made = schema(of(source))
        self.assertEqual(made["$defs"]["Item"]["required"], ["own"])

    def test_hints_of_a_wrapped_function_are_read_in_its_module(self):
        def decorator(function):
            @functools.wraps(function)
            def wrapper(*values, **named):
                return function(*values, **named)

            return wrapper

        source = "from __future__ import annotations\nfrom pydantic import BaseModel\nclass Own(BaseModel): ...\n"
        source += "@decorator\ndef f(value: Own): ...\n"
        self.assertEqual(property_of(of(source, decorator=decorator)), {"$ref": "#/$defs/Own"})

    def test_a_recursive_class_of_the_module(self):
        source = "from __future__ import annotations\nimport dataclasses\n@dataclasses.dataclass\nclass Tree:\n"
        source += "    inner: list[Tree]\ndef f(value: Tree): ..."
        module = types.ModuleType("own_module")
        sys.modules["own_module"] = module
        self.addCleanup(sys.modules.pop, "own_module")
        exec(compile(source, "own.py", "exec", dont_inherit=True), vars(module))
        self.assertEqual(property_of(module.f), {"$ref": "#/$defs/Tree"})

    @cases(
        partial=lambda: functools.partial(of("def f(a: int, b: str = 'x'):\n    'Doc.'"), b="y"),
        method=lambda: of("class C:\n    def m(self, a: int, b: str = 'y'):\n        'Doc.'\nf = C().m"),
        object=lambda: of("class C:\n    def __call__(self, a: int, b: str = 'y'):\n        'Doc.'\nf = C()"),
        static=lambda: of("class C:\n    @staticmethod\n    def m(a: int, b: str = 'y'):\n        'Doc.'\nf = C.m"),
        async_=lambda: of("async def f(a: int, b: str = 'y'):\n    'Doc.'"),
    )
    def other_callables(self, make):
        described = toolset_binding.describe(make())
        expected = {"a": {"type": "integer"}, "b": {"type": "string", "default": "y"}}
        self.assertEqual(described["parameters_schema"]["properties"], expected)
        self.assertEqual(described["description"], "Doc.")

    def test_two_classes_of_one_name(self):
        class One:
            class Item(BaseModel):
                a: int

        def function(a: One.Item, b: Item): ...

        made = schema(function)
        self.assertEqual(len(made["$defs"]), 2)
        self.assertNotEqual(made["properties"]["a"], made["properties"]["b"])

    def test_the_schema_belongs_to_the_caller(self):
        def function(value: Item): ...

        schema(function)["$defs"].clear()
        self.assertIn("Item", schema(function)["$defs"])


class Descriptions(Case):
    def described(self, function):
        return toolset_binding.describe(function)

    def test_an_undecorated_function(self):
        def function(a: int):
            """Does it.

            Args:
                a: A number.
            """

        told = self.described(function)
        self.assertEqual((told["decorated"], told["name"], told["requires_confirmation"]), (False, None, None))
        self.assertEqual(told["description"], "Does it.")
        self.assertEqual(told["parameters_schema"]["properties"]["a"]["description"], "A number.")

    def test_a_bare_decorator(self):
        @covalt_toolset.tool
        def function():
            """Does it."""

        told = self.described(function)
        self.assertEqual((told["decorated"], told["name"], told["requires_confirmation"]), (True, None, False))
        self.assertEqual(told["description"], "Does it.")

    def test_the_decorator_wins(self):
        @covalt_toolset.tool(name="N", description="D", requires_confirmation=True)
        def function():
            """Does it."""

        told = self.described(function)
        self.assertEqual((told["name"], told["description"], told["requires_confirmation"]), ("N", "D", True))

    def test_a_hint_wins_over_the_docstring(self):
        def function(a: Annotated[int, "Of the hint"], b: int = Field(1, description="Of the field"), c: int = 1):
            """Does it.

            :param a: Of the docstring
            :param b: Of the docstring
            :param c: Of the docstring
            """

        made = self.described(function)["parameters_schema"]["properties"]
        self.assertEqual([made[name]["description"] for name in "abc"], ["Of the hint", "Of the field", "Of the docstring"])

    def test_no_docstring(self):
        self.assertIsNone(self.described(lambda: 1)["description"])

    @cases(
        unhinted=("value", "value: it has no type hint"),
        workspace=("workspace: int", "workspace: it gets the directory"),
        unhinted_rest=("**rest", None),
        workspace_path=("workspace: pathlib.Path", None),
        workspace_text=("workspace: str | None = None", None),
        workspace_bare=("workspace", None),
        workspace_unknown=("workspace: 'nowhere.Path'", None),
    )
    def warnings(self, parameters, expected):
        told = self.described(of(f"def f({parameters}): ...", pathlib=pathlib))["warnings"]
        self.assertEqual(len(told), int(expected is not None))
        self.assertIn(expected or "", "".join(told))

    @cases(as_usual="default", as_errors="error")
    def warnings_of_a_type(self, action):
        """They are for the author, whatever his modules did with Python's filters. Python would open a file to print one."""

        class Odd:
            @classmethod
            def __get_pydantic_core_schema__(cls, _source, handler):
                warnings.warn("careful", DeprecationWarning, stacklevel=1)
                return handler(int)

        def function(a: Odd): ...

        with warnings.catch_warnings():
            warnings.simplefilter(action)
            for _ in range(2):
                self.assertEqual(self.described(function)["warnings"], ["careful"])

    def test_workspace_is_no_property(self):
        def function(a: int, workspace: pathlib.Path): ...

        self.assertEqual(list(schema(function)["properties"]), ["a"])
        self.assertEqual(schema(function)["required"], ["a"])
