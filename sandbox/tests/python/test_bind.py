"""Binding: by keywords or as one dictionary, with the workspace or without."""

import functools
import pathlib
import typing
from typing import Annotated, Any

import pydantic
import toolset_binding
from pydantic import BaseModel, Field
from support import DIRECTORY, Case, bound, cases


class Item(BaseModel):
    name: str


class Later(typing.TypedDict, total=False):
    depth: typing.Required[int]
    name: str


def plain(a: int, b: str = "x"): ...


def unhinted(a, b=None): ...


def with_path(a: int, workspace: pathlib.Path): ...


def path_first(workspace: pathlib.Path, a: int = 1): ...


def with_text(workspace: str): ...


def with_any(workspace): ...


def with_optional(workspace: pathlib.Path | None = None): ...


def with_optional_text(workspace: "str | None" = None): ...


def with_both(workspace: str | pathlib.Path): ...


def with_unknown(workspace: "nowhere.Path"): ...  # noqa: F821


def with_rest(a: int, **rest): ...


def with_typed_rest(**rest: int): ...


def with_rest_and_path(workspace, **rest): ...


def unpacked(**rest: typing.Unpack[Later]): ...


def one(arguments): ...


def one_dict(arguments: dict): ...


def one_model(arguments: Item): ...


def one_and_path(arguments, workspace): ...


def path_and_one(workspace: str, arguments): ...


def one_and_named_path(arguments, *, workspace): ...


def one_and_option(arguments, verbose=False): ...


def positional(arguments, /): ...


def positional_and_path(arguments, workspace, /): ...


def any_positions(*values): ...


def path_and_positions(workspace, *values): ...


def any_workspaces(*workspace): ...


def two(first, second): ...


def only_named(*, first): ...


def nothing(): ...


def only_path(workspace): ...


class Keywords(Case):
    @cases(
        all=(plain, {"a": "1", "b": "y"}, {"a": 1, "b": "y"}),
        default_is_left_to_python=(plain, {"a": 1}, {"a": 1}),
        unhinted_as_is=(unhinted, {"a": [{"x": 1}]}, {"a": [{"x": 1}]}),
        null=(unhinted, {"a": None, "b": None}, {"a": None, "b": None}),
        path=(with_path, {"a": 1}, {"a": 1, "workspace": DIRECTORY}),
        path_first=(path_first, {}, {"workspace": DIRECTORY}),
        text=(with_text, {}, {"workspace": "/workspace"}),
        any=(with_any, {}, {"workspace": DIRECTORY}),
        optional=(with_optional, {}, {"workspace": DIRECTORY}),
        optional_text=(with_optional_text, {}, {"workspace": "/workspace"}),
        both=(with_both, {}, {"workspace": DIRECTORY}),
        unknown_hint=(with_unknown, {}, {"workspace": DIRECTORY}),
        rest=(with_rest, {"a": "1", "b-c": 2, "": 3}, {"a": 1, "b-c": 2, "": 3}),
        typed_rest=(with_typed_rest, {"x": "1"}, {"x": 1}),
        rest_and_path=(with_rest_and_path, {"x": 1}, {"x": 1, "workspace": DIRECTORY}),
        unpacked=(unpacked, {"depth": "1"}, {"depth": 1}),
        nothing=(nothing, {}, {}),
        partial=(functools.partial(plain, b="z"), {"a": "1"}, {"a": 1}),
    )
    def without_properties(self, function, arguments, expected):
        self.assertEqual(bound(function, arguments), expected)

    @cases(
        missing=(plain, {}, "a: Field required"),
        wrong=(plain, {"a": "x"}, "a: Input should be a valid integer"),
        unknown=(plain, {"a": 1, "c": 1}, "c: Extra inputs are not permitted"),
        all_at_once=(
            plain,
            {"b": 1, "c": 1},
            "a: Field required\nb: Input should be a valid string\nc: Extra inputs are not permitted",
        ),
        workspace_of_a_caller=(with_path, {"a": 1, "workspace": "/etc"}, "workspace: Extra inputs are not permitted"),
        workspace_in_rest=(with_rest_and_path, {"x": 1, "workspace": "/etc"}, "workspace: Extra inputs are not permitted"),
        typed_rest=(with_typed_rest, {"x": "y"}, "x: Input should be a valid integer"),
        unpacked=(unpacked, {"other": 1}, "depth: Field required\nother: Extra inputs are not permitted"),
        our_field_name=(plain, {"p0": 1}, "a: Field required\np0: Extra inputs are not permitted"),
        our_name_of_the_rest=(plain, {"a": 1, "**": 1}, '["**"]: Extra inputs are not permitted'),
        positional_only=(positional, {}, "positional-only"),
        any_positions=(any_positions, {}, "*values"),
    )
    def refused_without_properties(self, function, arguments, text):
        self.assertIn(text, self.refused(lambda: bound(function, arguments)))

    @cases(
        all=(plain, {"a": "1"}, ["a", "b"], {"a": 1}),
        more_properties=(plain, {"a": 1, "c": 2}, ["a", "b", "c"], {"a": 1}),
        unknown_argument=(plain, {"a": 1, "d": 2}, ["a", "b"], {"a": 1}),
        path=(with_path, {"a": 1}, ["a"], {"a": 1, "workspace": DIRECTORY}),
        workspace_of_a_caller=(with_path, {"a": 1, "workspace": "/etc"}, ["a"], {"a": 1, "workspace": DIRECTORY}),
        workspace_in_rest=(with_rest_and_path, {"workspace": "/etc"}, [], {"workspace": DIRECTORY}),
        workspace_as_property=(with_text, {"workspace": "mine"}, ["workspace"], {"workspace": "mine"}),
        workspace_as_converted_property=(
            with_optional,
            {"workspace": "mine"},
            ["workspace"],
            {"workspace": pathlib.Path("mine")},
        ),
        rest=(with_rest, {"a": 1, "z": 2}, ["a"], {"a": 1, "z": 2}),
        only_path=(only_path, {"a": 1}, ["a"], {"workspace": DIRECTORY}),
        nothing=(nothing, {"a": 1}, ["a"], {}),
        odd_properties=(plain, {"a": 1, "": 2}, ["a", "b", "", "a b", "é", "class", "**", "p0"], {"a": 1}),
    )
    def with_properties(self, function, arguments, properties, expected):
        self.assertEqual(bound(function, arguments, properties), expected)

    def test_missing_and_wrong_with_properties(self):
        self.refused(lambda: bound(plain, {"b": 1}, ["a", "b"]), "a: Field required", "b: Input should be a valid string")

    @cases(
        private="_a",
        double="__a",
        config="model_config",
        dump="model_dump",
        fields="model_fields",
        json="json",
        schema="schema",
        copy="copy",
        self="self",
        cls="cls",
        ours="p1",
        value="value",
        rest="rest",
        unicode="größe",
        root="root",
        pydantic="__pydantic_extra__",
    )
    def odd_name(self, name):
        names = {}
        exec(f"def f(other: int, {name}: int): return locals()", names)
        function = names["f"]
        self.assertEqual(bound(function, {"other": "1", name: "2"}), {"other": 1, name: 2})
        self.assertEqual(list(toolset_binding.describe(function)["parameters_schema"]["properties"]), ["other", name])
        self.assertEqual(function(**bound(function, {"other": 1, name: 2}))[name], 2)
        self.refused(lambda: bound(function, {"other": 1}), f"{name}: Field required")


class Defaults(Case):
    def test_a_field_gives_its_default(self):
        def function(
            a: int = Field(5), b: list[int] = Field(default_factory=list), c: Annotated[str, Field("c")] = "python"
        ): ...

        self.assertEqual(bound(function, {}), {"a": 5, "b": []})
        self.assertEqual(bound(function, {"a": "6", "b": ["1"], "c": "x"}), {"a": 6, "b": [1], "c": "x"})

    def test_a_field_in_the_hint_gives_its_default(self):
        def function(a: Annotated[int, Field(5)]): ...

        self.assertEqual(bound(function, {}), {"a": 5})

    def test_a_field_has_its_constraints(self):
        def function(a: int = Field(5, ge=1)): ...

        self.refused(lambda: bound(function, {"a": 0}), "a: Input should be greater than or equal to 1")

    def test_an_alias_in_a_field_is_not_the_name(self):
        def function(a: int = Field(alias="b"), c: Annotated[int, Field(validation_alias="d")] = 1): ...

        self.assertEqual(bound(function, {"a": "1", "c": "2"}), {"a": 1, "c": 2})
        self.refused(lambda: bound(function, {"b": 1}), "a: Field required", "b: Extra inputs")

    def test_null_where_none_is_the_default(self):
        def function(a: str = None, b: int = Field(None)): ...

        self.assertEqual(bound(function, {"a": None, "b": None}), {"a": None, "b": None})
        self.assertEqual(bound(function, {}), {"b": None})

    def test_null_where_it_is_not(self):
        def function(a: str = "x"): ...

        self.refused(lambda: bound(function, {"a": None}), "a: Input should be a valid string")

    def test_a_tagged_union_as_default_field(self):
        class Cat(BaseModel):
            kind: typing.Literal["cat"]

        class Dog(BaseModel):
            kind: typing.Literal["dog"]

        def function(pet: Cat | Dog = Field(discriminator="kind")): ...

        self.assertEqual(bound(function, {"pet": {"kind": "dog"}}), {"pet": Dog(kind="dog")})


class OneDictionary(Case):
    GIVEN = {"name": "n", "more": [1]}

    @cases(
        plain=(one, (GIVEN,), {}),
        hinted=(one_dict, (GIVEN,), {}),
        and_path=(one_and_path, (GIVEN,), {"workspace": DIRECTORY}),
        path_first=(path_and_one, ("/workspace", GIVEN), {}),
        named_path=(one_and_named_path, (GIVEN,), {"workspace": DIRECTORY}),
        option=(one_and_option, (GIVEN,), {}),
        positional=(positional, (GIVEN,), {}),
        positional_and_path=(positional_and_path, (GIVEN, DIRECTORY), {}),
        any_positions=(any_positions, (GIVEN,), {}),
        path_and_positions=(path_and_positions, (DIRECTORY, GIVEN), {}),
        any_workspaces=(any_workspaces, (GIVEN,), {}),
    )
    def given(self, function, positional, named):
        found = toolset_binding.bind(function, self.GIVEN, ["name", "more"], DIRECTORY)
        self.assertEqual(found, (positional, named))
        function(*found[0], **found[1])

    def test_a_model_of_all_arguments(self):
        self.assertEqual(bound(one_model, {"name": "n"}, ["name"]), (Item(name="n"), {}))
        self.refused(lambda: bound(one_model, {"name": 1}, ["name"]), "name: Input should be a valid string")
        self.refused(lambda: bound(one_model, {}, ["name"]), "name: Field required")

    def test_workspace_is_injected_even_if_it_is_a_property(self):
        found = toolset_binding.bind(one_and_path, {"workspace": "mine"}, ["workspace"], DIRECTORY)
        self.assertEqual(found, (({"workspace": "mine"},), {"workspace": DIRECTORY}))

    @cases(
        two=(two, "takes first, second"),
        only_named=(only_named, "takes first"),
    )
    def impossible(self, function, text):
        self.refused(lambda: bound(function, {}, ["other"]), text, "not all properties of the schema")

    def test_a_hint_that_no_dictionary_fits(self):
        def function(a: int): ...

        self.refused(lambda: bound(function, {"b": 1}, ["b"]), "Input should be a valid integer")


class Validation(Case):
    def test_arguments_are_not_changed(self):
        given = {"a": {"x": [1]}, "b": None}
        bound(unhinted, given)
        self.assertEqual(given, {"a": {"x": [1]}, "b": None})

    @cases(surrogate="\ud800", deep=functools.reduce(lambda inner, _: [inner], range(300), 1))
    def what_pydantic_does_not_read_as_json(self, value):
        def function(a: Any, b, c: int): ...

        self.assertEqual(bound(function, {"a": value, "b": value, "c": "1"}), {"a": value, "b": value, "c": 1})

    def test_a_model_of_pydantic_decides_about_other_keys(self):
        self.assertEqual(bound(one_model, {"arguments": {"name": "a", "x": 1}})["arguments"], Item(name="a"))

    def test_an_instance_of_a_validated_type_is_new_for_each_call(self):
        def function(a: list[int] = Field(default_factory=list)): ...

        self.assertIsNot(bound(function, {})["a"], bound(function, {})["a"])

    def test_functions_with_validators_of_their_own(self):
        @pydantic.validate_call
        def function(a: int, b: Item) -> str:
            return f"{a} {b.name}"

        self.assertEqual(function(**bound(function, {"a": "1", "b": {"name": "n"}})), "1 n")
