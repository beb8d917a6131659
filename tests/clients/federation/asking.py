"""Asks an MCP server by the unmodified client of the Python SDK, directly or through Pegboard's own MCP server."""

import asyncio
import base64
import hashlib
import re

from mcp import Client, MCPError
from mcp.client.sse import sse_client

MODES = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}


def exported(tool_id: str) -> str:
    """The name of a tool in Pegboard's own MCP server."""
    if re.fullmatch(r"[a-z_][a-z0-9_-]{0,63}", tool_id):
        return tool_id
    hashed = base64.b32encode(hashlib.sha256(tool_id.encode()).digest()[:8]).decode()[:12]
    return re.sub(r"[.:]", "_", tool_id[:49]) + "_H" + hashed


def target(server):
    """An URL of legacy SSE needs a transport of its own."""
    return sse_client(server) if isinstance(server, str) and server.endswith("/sse") else server


async def all_tools(client: Client) -> dict:
    tools, cursor = {}, None
    for _ in range(50):
        page = await client.list_tools(cursor=cursor)
        tools |= {it.name: it for it in page.tools}
        cursor = page.next_cursor
        if cursor is None:
            return tools
    raise AssertionError("the list does not end")


async def outcome(client: Client, name: str, arguments: dict) -> dict:
    """What a caller sees of a call. The metadata tells who answered, and differs."""
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"is_error": True, "text": str(error)}
    blocks = [it.model_dump(by_alias=True, exclude_none=True, mode="json") for it in result.content]
    if result.is_error:
        return {"is_error": True, "text": "\n".join(it.get("text", "") for it in blocks)}
    return {"is_error": False, "content": blocks, "structured": result.structured_content}


def asked(server, calls: list, mode: str = "auto", prefix: str = "") -> tuple[dict, list]:
    """The tools of a server by their own names, and the outcomes of the calls. With a prefix: the tools of one server
    among those of Pegboard."""

    async def run():
        async with Client(target(server), mode=mode) as client:
            listed = await all_tools(client)
            name = (lambda it: exported(f"{prefix}:{it}")) if prefix else (lambda it: it)
            outcomes = [await outcome(client, name(tool), arguments) for tool, arguments in calls]
            return listed, outcomes

    return asyncio.run(asyncio.wait_for(run(), 90))


def same(direct: dict, through: dict, volatile: bool) -> None:
    """Whether Pegboard passed on what the server said. A volatile result has a time or a session in it."""
    assert through["is_error"] == direct["is_error"], (direct, through)
    if direct["is_error"]:
        # Pegboard puts its own code before the words of the server.
        assert volatile or direct["text"] in through["text"], (direct, through)
        return
    if volatile:
        kinds = [[it["type"] for it in each["content"]] for each in (direct, through)]
        assert kinds[0] == kinds[1], (direct, through)
    else:
        assert through["content"] == direct["content"]
        assert through["structured"] == direct["structured"]
