"""The unmodified MCP client of the Python SDK, in both revisions."""

import asyncio
import json
import os
import re
import sys

import fixtures
import httpx2
from mcp import Client, MCPError, types
from mcp.client.streamable_http import streamable_http_client

KNOWN = json.loads(os.environ["MCP_TEST"])
URL, WORKSPACE, SESSION = KNOWN["url"], KNOWN["workspace"], KNOWN["session"]
ENDPOINT = f"{URL}/w/{WORKSPACE}/mcp?session={SESSION}"


def server():
    """A client with the address alone, or with a token."""
    if KNOWN["token"] is None:
        return ENDPOINT
    headers = {"Authorization": f"Bearer {KNOWN['token']}"}
    return streamable_http_client(ENDPOINT, http_client=httpx2.AsyncClient(headers=headers, timeout=30))


async def decide(message: str, word: str) -> None:
    found = re.search(r"/api/approvals/(appr_\w+)/approve", message)
    await asyncio.to_thread(fixtures.ask, URL, "POST", f"/api/approvals/{found[1]}/{word}")


async def approve(_context, params):
    """The user has the call approved, in the registry."""
    await decide(params.message, "approve")
    return types.ElicitResult(action="accept", content={})


async def check(name: str, client: Client) -> None:
    tools = (await client.list_tools()).tools
    names = [it.name for it in tools]
    assert "weather" in names and "read_file" in names, names
    warm = await client.call_tool("weather", {"city": "Oslo"})
    assert warm.structured_content == {"city": "Oslo", "celsius": 21.5}, warm
    image = await client.call_tool("test_image_content", {})
    assert image.content[0].type == "image", image
    wrong = await client.call_tool("weather", {})
    assert wrong.is_error and wrong.content[0].text.startswith("INVALID_ARGUMENTS"), wrong
    try:
        await client.call_tool("no_such_tool", {})
    except MCPError as error:
        assert "Tool not found: no_such_tool" in str(error), error
    else:
        raise AssertionError("an unknown tool is an error")
    resources = (await client.list_resources()).resources
    uri = f"session://{SESSION}/notes.txt"
    assert uri in [str(it.uri) for it in resources], resources
    assert (await client.read_resource(uri)).contents[0].text == "bring milk"
    completion = await client.complete(
        types.ResourceTemplateReference(type="ref/resource", uri="tool://{tool}/{parameter}{?value}"),
        {"name": "value", "value": ""},
        {"tool": "weather", "parameter": "unit"},
    )
    assert completion.completion.values == ["celsius", "fahrenheit"], completion
    print(f"ok: {name}, {client.protocol_version}: {len(tools)} tools, {len(resources)} resources")


async def main() -> None:
    async with Client(server(), mode="legacy") as client:
        await check("Python SDK", client)
        pending = await client.call_tool("wipe", {})
        assert pending.is_error and "waits for an approval" in pending.content[0].text, pending
        await decide(pending.content[0].text, "deny")
        record = await client.read_resource(f"call://{pending.meta['pegboard/call_id']}")
        assert json.loads(record.contents[0].text)["status"] == "denied", record
        print("ok: Python SDK: a denial")
    async with Client(server(), elicitation_callback=approve) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version
        await check("Python SDK", client)
        wiped = await client.call_tool("wipe", {"disk": 2})
        assert wiped.content[0].text == "wiped", wiped
        print("ok: Python SDK: an approval, in one call")


asyncio.run(main())
sys.exit(0)
