"""The public names of `covalt_toolset`: the decorator, its metadata, and the context."""

import functools
import pathlib
import threading
import unittest

import covalt_toolset
from covalt_toolset import (
    ToolContext,
    ToolMetadata,
    clear_context,
    get_context,
    get_tool_metadata,
    is_tool,
    set_context,
    tool,
)
from support import Case, cases


class Decorator(Case):
    def test_the_function_stays_what_it_is(self):
        def function(a):
            return a + 1

        self.assertIs(tool(function), function)
        self.assertIs(tool(name="N")(function), function)
        self.assertEqual(function(1), 2)

    @cases(
        bare=(tool, ToolMetadata(None, None, False)),
        empty=(tool(), ToolMetadata(None, None, False)),
        positional=(tool("N"), ToolMetadata("N", None, False)),
        all=(tool(name="N", description="D", requires_confirmation=True), ToolMetadata("N", "D", True)),
        category=(tool(name="N", category="c"), ToolMetadata("N", None, False, "c")),
    )
    def metadata(self, decorator, expected):
        @decorator
        def function(): ...

        self.assertEqual(get_tool_metadata(function), expected)
        self.assertTrue(is_tool(function))

    @cases(
        function=lambda: 1,
        nothing=None,
        text="tool",
        builtin=len,
        mock=unittest.TestCase,
    )
    def without_it(self, value):
        self.assertFalse(is_tool(value))
        self.assertIsNone(get_tool_metadata(value))

    def test_an_object_that_has_every_attribute_is_no_tool(self):
        class Any:
            def __getattr__(self, name):
                return True

        self.assertFalse(is_tool(Any()))

    def test_a_wrapper_is_a_tool_too(self):
        @tool(name="N")
        def function(a: int): ...

        @functools.wraps(function)
        def wrapper(*values, **named): ...

        self.assertEqual(get_tool_metadata(wrapper).name, "N")

    @cases(
        name=({"name": 5}, "name must be a text, not int"),
        description=({"description": ["a"]}, "description must be a text, not list"),
        category=({"category": 5}, "category must be a text, not int"),
        confirmation=({"requires_confirmation": "no"}, "requires_confirmation must be True or False, not str"),
    )
    def wrong_options(self, options, text):
        with self.assertRaisesRegex(TypeError, text):
            tool(**options)

    def test_what_cannot_be_marked(self):
        with self.assertRaisesRegex(TypeError, "@tool is for functions, not for int"):
            tool(name="N")(5)
        with self.assertRaisesRegex(TypeError, "cannot mark a builtin_function_or_method"):
            tool(len)

    def test_metadata_cannot_be_changed(self):
        with self.assertRaises(AttributeError):
            ToolMetadata().name = "N"

    def test_the_public_names(self):
        expected = {
            *(
                "tool",
                "get_context",
                "set_context",
                "clear_context",
                "ToolContext",
                "ToolMetadata",
                "get_tool_metadata",
                "is_tool",
            ),
            *("function_to_json_schema", "type_to_json_schema"),
        }
        self.assertEqual(set(covalt_toolset.__all__), expected)
        for name in expected:
            self.assertTrue(callable(getattr(covalt_toolset, name)))


class Context(Case):
    def setUp(self):
        self.addCleanup(clear_context)

    def test_outside_of_a_call(self):
        with self.assertRaisesRegex(RuntimeError, "there is no context"):
            get_context()

    def test_inside_and_after_a_call(self):
        set_context(ToolContext(pathlib.Path("/w"), "chat", "set", {"a": 1}))
        context = get_context()
        self.assertEqual(
            (context.workspace, context.chat_id, context.toolset_id, context.extra),
            (pathlib.Path("/w"), "chat", "set", {"a": 1}),
        )
        clear_context()
        with self.assertRaises(RuntimeError):
            get_context()

    def test_fields_by_name(self):
        set_context(workspace="/w", chat_id="chat")
        self.assertEqual(get_context(), ToolContext(pathlib.Path("/w"), "chat", None, {}))

    def test_a_thread_has_the_context(self):
        set_context(workspace="/w", chat_id="chat")
        seen = []
        thread = threading.Thread(target=lambda: seen.append(get_context().chat_id))
        thread.start()
        thread.join()
        self.assertEqual(seen, ["chat"])

    def test_contexts_do_not_share_what_is_extra(self):
        self.assertIsNot(ToolContext("/w").extra, ToolContext("/w").extra)

    def test_what_is_no_context(self):
        with self.assertRaisesRegex(TypeError, "set_context\\(\\) takes a ToolContext"):
            set_context({"workspace": "/w"})
        with self.assertRaises(TypeError):
            set_context(ToolContext("/w"), chat_id="chat")
        with self.assertRaises(TypeError):
            set_context()
