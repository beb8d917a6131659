"""Helpers of the tests: tables of cases, and short names for what the sandbox does with a function."""

import pathlib
import unittest

import toolset_binding
from toolset_binding import BindingError

DIRECTORY = pathlib.Path("/workspace")


def cases(**table):
    """Makes one test of each row of a table. The test is called as `test(self, *row)`."""

    def decorate(test):
        test.table = table
        return test

    return decorate


class Case(unittest.TestCase):
    maxDiff = None

    def __init_subclass__(cls):
        for name, test in list(vars(cls).items()):
            for row, values in getattr(test, "table", {}).items():
                values = values if isinstance(values, tuple) else (values,)
                setattr(cls, f"test_{name}_{row}", lambda self, test=test, values=values: test(self, *values))

    def refused(self, action, *texts):
        """Asserts that something is refused, and that the refusal says these texts; returns the refusal."""
        with self.assertRaises(BindingError) as caught:
            action()
        for text in texts:
            self.assertIn(text, str(caught.exception))
        return str(caught.exception)


def schema(function):
    return toolset_binding.describe(function)["parameters_schema"]


def property_of(function, name="value"):
    return schema(function)["properties"][name]


def bound(function, arguments, properties=None):
    """What a call with these arguments gives to the function."""
    positional, named = toolset_binding.bind(function, arguments, properties, DIRECTORY)
    return (*positional, named) if positional else named


def taken(hint, value):
    """What a parameter with this hint gets for a JSON value."""

    def function(value): ...

    function.__annotations__["value"] = hint
    return bound(function, {"value": value})["value"]


def hinted(hint):
    """The schema of a parameter with this hint, and its definitions."""

    def function(value): ...

    function.__annotations__["value"] = hint
    made = schema(function)
    return made["properties"]["value"], made.get("$defs", {})
