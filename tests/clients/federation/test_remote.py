"""Real MCP servers over streamable HTTP and legacy SSE: what Pegboard's callers see is what the servers say."""

import calls
import pytest
import servers
from asking import MODES, asked, exported, same

# The revision that each server is spoken with.
REVISIONS = {"fastmcp-http": "2026-07-28", "python-http": "2026-07-28", "typescript-both-eras": "2026-07-28"}
REVISIONS |= {"typescript-modern": "2026-07-28"}


@pytest.fixture(scope="module", params=servers.REMOTE)
def server(request):
    """A running server, its name, and what it says to a client that asks it directly."""
    with servers.running(servers.REMOTE[request.param]()) as server:
        listed, outcomes = asked(server.url, calls.REMOTE[request.param])
        yield request.param, server, listed, outcomes


@pytest.fixture(scope="module")
def registered(pegboard, server):
    name, running, *_ = server
    transport = {"transport": "sse"} if running.path == "/sse" else {}
    yield pegboard.register(name, url=running.url, **transport)
    pegboard.remove(name)


def test_the_server_answers_when_asked_directly(server):
    name, _, listed, outcomes = server
    assert {tool for tool, _ in calls.REMOTE[name]} == set(listed), "every tool is called"
    refusals = {"fail", "throw", "simulate-research-query"}
    for (tool, _), result in zip(calls.REMOTE[name], outcomes, strict=True):
        assert result["is_error"] == (tool in refusals), (tool, result)


def test_every_tool_is_listed(pegboard, server, registered):
    name, _, listed, _ = server
    assert registered["tools"] == len(listed)
    assert registered["protocol_version"] == REVISIONS.get(name, "2025-11-25")
    through, _ = asked(pegboard.mcp, [])
    for tool, definition in listed.items():
        ours = through[exported(f"{name}:{tool}")]
        assert ours.description == definition.description
        assert ours.input_schema.get("properties") == definition.input_schema.get("properties")
        assert ours.input_schema.get("required") == definition.input_schema.get("required")
        assert unversioned(ours.output_schema) == unversioned(definition.output_schema)


def unversioned(schema: dict | None) -> dict | None:
    """Pegboard reads every schema as 2020-12, and exports no name of another draft."""
    return schema and {name: value for name, value in schema.items() if name != "$schema"}


@pytest.mark.parametrize("revision", MODES)
def test_results_through_our_mcp_server_are_those_of_the_server(pegboard, server, registered, revision):
    name, _, _, direct = server
    wanted = calls.REMOTE[name]
    _, through = asked(pegboard.mcp, wanted, MODES[revision], prefix=name)
    for (tool, _), ours, theirs in zip(wanted, through, direct, strict=True):
        same(theirs, ours, tool in calls.VOLATILE)


def test_results_through_the_api(pegboard, server, registered):
    name, _, _, direct = server
    for (tool, arguments), theirs in zip(calls.REMOTE[name], direct, strict=True):
        answer = pegboard.run(f"{name}:{tool}", arguments)
        if theirs["is_error"]:
            assert answer["success"] is False and answer["error"]["code"] == "TOOL_ERROR", answer
            assert theirs["text"] in answer["error"]["message"], answer
        elif tool not in calls.VOLATILE:
            assert answer["success"] is True, answer
            assert answer["result"] == rest_result(theirs), tool


def rest_result(theirs: dict):
    """The structured result if there is one, else the text if there is only text, else the blocks."""
    if theirs["structured"] is not None:
        return theirs["structured"]
    if [it["type"] for it in theirs["content"]] == ["text"]:
        return theirs["content"][0]["text"]
    return theirs["content"]


def test_an_answer_that_is_too_large_fails_and_the_server_stays(pegboard, server, registered):
    name, _, listed, _ = server
    if "big" not in listed:
        return
    answer = pegboard.run(f"{name}:big", {"bytes": 20_000_000})
    assert answer["success"] is False, answer["status"]
    assert pegboard.run(f"{name}:echo", {"message": "still here"})["success"] is True


def test_wrong_arguments_do_not_leave(pegboard, server, registered):
    name, *_ = server
    failed = pegboard.run(f"{name}:echo", {"message": 7}, 400)
    assert failed["error"]["code"] == "INVALID_ARGUMENTS"
