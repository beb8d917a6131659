"""What the Python code of a toolset imports: the decorator of tools, and the context of a call."""

import dataclasses
import pathlib

from toolset_schema import function_to_json_schema
from toolset_types import type_to_json_schema

__all__ = [
    "ToolContext",
    "ToolMetadata",
    "clear_context",
    "function_to_json_schema",
    "get_context",
    "get_tool_metadata",
    "is_tool",
    "set_context",
    "tool",
    "type_to_json_schema",
]

MARK = "__covalt_tool__"


@dataclasses.dataclass
class ToolContext:
    """Where a call works, and for whom."""

    workspace: pathlib.Path
    chat_id: str = ""
    toolset_id: str | None = None
    extra: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        self.workspace = pathlib.Path(self.workspace)


@dataclasses.dataclass(frozen=True)
class ToolMetadata:
    """What the decorator was given. `None` means that the tool's id, or the docstring, serves instead."""

    name: str | None = None
    description: str | None = None
    requires_confirmation: bool = False
    category: str | None = None


def tool(name=None, description=None, requires_confirmation=False, category=None):
    """Marks a function as a tool, as `@tool` or as `@tool(name=…)`. The function stays what it is."""
    if callable(name):
        return _mark(name, ToolMetadata())
    for what, value in (("name", name), ("description", description), ("category", category)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"@tool: {what} must be a text, not {type(value).__name__}")
    if not isinstance(requires_confirmation, bool):
        raise TypeError(f"@tool: requires_confirmation must be True or False, not {type(requires_confirmation).__name__}")
    metadata = ToolMetadata(name, description, requires_confirmation, category)
    return lambda function: _mark(function, metadata)


def _mark(function, metadata):
    if not callable(function):
        raise TypeError(f"@tool is for functions, not for {type(function).__name__}")
    try:
        setattr(function, MARK, metadata)
    except (AttributeError, TypeError):
        raise TypeError(f"@tool cannot mark a {type(function).__name__}: write a function that calls it") from None
    return function


def get_tool_metadata(function):
    """What `@tool` was given for this function, or None for a function without `@tool`."""
    metadata = getattr(function, MARK, None)
    return metadata if isinstance(metadata, ToolMetadata) else None


def is_tool(function):
    return get_tool_metadata(function) is not None


# One call runs in one process, so a plain variable is seen by its coroutines and its threads alike.
_context = None


def get_context():
    """The context of the present call."""
    if _context is None:
        raise RuntimeError("there is no context: get_context() works only while a tool is called")
    return _context


def set_context(context=None, **fields):
    """Begins a call: takes a ToolContext, or its fields by name."""
    global _context
    if context is None:
        context = ToolContext(**fields)
    elif not isinstance(context, ToolContext) or fields:
        raise TypeError("set_context() takes a ToolContext, or the fields of one by name")
    _context = context


def clear_context():
    global _context
    _context = None
