"""Stdio servers, which run in the MCP host: the same results as from the same program on this machine."""

import json
import os

import calls
import pytest
import servers
from asking import MODES, asked, exported, same
from mcp import StdioServerParameters

# What users write in their configuration, what the same program is here, its calls, and its revision.
STDIO = {
    "everything": (["npx", "-y", "@modelcontextprotocol/server-everything"], servers.EVERYTHING, calls.EVERYTHING, "2025-11-25"),
    "memory": (["npx", "-y", "@modelcontextprotocol/server-memory"], servers.MEMORY, calls.MEMORY, "2025-11-25"),
    "time": (["uvx", "mcp-server-time", "--local-timezone", "UTC"], servers.TIME, calls.TIME, "2026-07-28"),
}


@pytest.fixture(scope="module", params=STDIO)
def direct(request, tmp_path_factory):
    """The name of a server, its tools, and what it says to a client that runs it itself."""
    _, command, wanted, _ = STDIO[request.param]
    memory = tmp_path_factory.mktemp("memory") / "memory.jsonl"
    program = StdioServerParameters(command=command[0], args=command[1:], env={"MEMORY_FILE_PATH": str(memory)})
    return request.param, *asked(program, wanted)


@pytest.fixture
def host(pegboard):
    """The MCP host, as a plain process on this machine."""
    assert "PEGBOARD_MCP_HOST_URL" in os.environ, "scripts/test starts the MCP host"
    return pegboard


@pytest.fixture
def registered(host, direct, tmp_path):
    name = direct[0]
    command, *_ = STDIO[name]
    environment = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl"), "ONLY_THIS": "seen"}
    yield host.register(f"stdio-{name}", command=command[0], args=command[1:], env=environment)
    host.remove(f"stdio-{name}")


def test_the_program_answers_when_run_directly(direct):
    name, listed, outcomes = direct
    assert {tool for tool, _ in STDIO[name][2]} == set(listed), "every tool is called"
    refusals = {"simulate-research-query"}
    wrong = [(tool, it) for (tool, _), it in zip(STDIO[name][2], outcomes, strict=True) if it["is_error"]]
    # One of the calls of the other two servers is wrong on purpose.
    assert len(wrong) == 1 and (name != "everything" or wrong[0][0] in refusals), wrong


@pytest.mark.parametrize("revision", MODES)
def test_results_are_those_of_the_program(host, direct, registered, revision):
    name, listed, outcomes = direct
    *_, wanted, spoken = STDIO[name]
    assert registered["tools"] == len(listed) and registered["protocol_version"] == spoken, registered
    through_tools, through = asked(host.mcp, wanted, MODES[revision], prefix=f"stdio-{name}")
    assert {exported(f"stdio-{name}:{it}") for it in listed} <= set(through_tools)
    for (tool, _), ours, theirs in zip(wanted, through, outcomes, strict=True):
        same(theirs, ours, tool in calls.VOLATILE)


def test_the_environment_is_what_the_row_says(host, tmp_path):
    os.environ["SECRET_OF_THE_TESTS"] = "must not be seen"
    command, *_ = STDIO["everything"]
    host.register("stdio-env", command=command[0], args=command[1:], env={"ONLY_THIS": "seen"})
    seen = json.loads(host.run("stdio-env:get-env", {})["result"])
    assert "SECRET_OF_THE_TESTS" not in seen
    assert not [it for it in seen if it.startswith(("PEGBOARD", "MCP_HOST", "SECRET"))], seen.keys()
    # A literal value is a secret, which no caller sees.
    assert seen["ONLY_THIS"] in ("seen", "[redacted]")
    host.remove("stdio-env")


def test_a_package_that_is_not_there_fails_at_once(host):
    given = {"id": "absent", "command": "npx", "args": ["-y", "@nobody/no-such-server"]}
    server = host("POST", "/api/mcp-servers", given, 201)
    assert server["status"] != "ok" and "no-such-server" in server["last_error"], server
    host.remove("absent")
