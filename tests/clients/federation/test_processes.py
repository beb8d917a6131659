"""The processes of stdio servers: the bad ones are told and bounded, and none is left behind."""

import json
import time
import uuid
from pathlib import Path

import pytest

# A server with one tool, which is told what else to do before it answers.
SERVER = """
import json, os, signal, subprocess, sys, time
misdeed = os.environ.get("MISDEED")
stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
if misdeed == "exit": sys.exit(3)
if misdeed == "ignore": signal.signal(signal.SIGTERM, signal.SIG_IGN)
if misdeed == "fork": [subprocess.Popen([sys.executable, "-c", stubborn], start_new_session=it) for it in (True, False)]
if misdeed == "flood":
    for _ in range(200): sys.stderr.write("x" * 65536)
if misdeed == "chatter": print("this is no message\\n" * 100, flush=True)
tool = {"name": "echo", "inputSchema": {"type": "object"}}
info = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "bad", "version": "1"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    known = {"initialize": info, "tools/list": {"tools": [tool]}, "tools/call": {"content": [{"type": "text", "text": "here"}]}}
    result = known.get(message["method"])
    if message["method"] == "tools/call" and message["params"]["arguments"].get("die"): os._exit(1)
    if message["method"] == "tools/call" and message["params"]["arguments"].get("long"): print("x" * 50_000_000, flush=True)
    error = {"code": -32601, "message": "Method not found"}
    answer = {"result": result} if result is not None else {"error": error}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def processes(mark: str) -> list[int]:
    """The processes with this mark in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            is_alive = (process / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            continue
        if f"MARK={mark}".encode() in environment.split(b"\0") and is_alive:
            found.append(int(process.name))
    return found


def gone(mark: str) -> bool:
    deadline = time.monotonic() + 15
    while processes(mark) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not processes(mark)


@pytest.fixture
def started(pegboard):
    """Registers a server that misbehaves, and removes it. No process of it is left."""
    marks = []

    def start(misdeed: str | None = None) -> dict:
        mark = str(uuid.uuid4())
        marks.append(mark)
        environment = {"MARK": mark, **({"MISDEED": misdeed} if misdeed else {})}
        given = {"id": "bad", "command": "python3", "args": ["-c", SERVER], "env": environment}
        given |= {"requires_approval": False, "risk_level": "low"}
        return {**pegboard("POST", "/api/mcp-servers", given, 201), "mark": mark}

    yield start
    pegboard.remove("bad")
    assert all(gone(it) for it in marks)


@pytest.mark.parametrize("misdeed", [None, "ignore", "fork", "flood", "chatter"])
def test_a_server_that_can_be_used_is_used_and_leaves_nothing(pegboard, started, misdeed):
    server = started(misdeed)
    assert server["status"] == "ok" and server["tool_ids"] == ["bad:echo"], server
    assert pegboard.run("bad:echo", {})["result"] == "here"
    assert processes(server["mark"])


def test_a_server_that_exits_at_once_is_told(started):
    began = time.monotonic()
    server = started("exit")
    assert server["status"] == "unreachable" and server["last_error"], server
    assert time.monotonic() - began < 20


def test_a_server_that_dies_in_a_call_comes_back(pegboard, started):
    started()
    failed = pegboard.run("bad:echo", {"die": True})
    assert failed["success"] is False and failed["error"]["code"] in ("UNREACHABLE", "TOOL_ERROR"), failed
    deadline = time.monotonic() + 30
    while not (answer := pegboard.run("bad:echo", {}))["success"] and time.monotonic() < deadline:
        time.sleep(0.5)
    assert answer["result"] == "here", answer


def test_a_line_that_is_too_long_fails_and_the_server_stays(pegboard, started):
    started()
    failed = pegboard.run("bad:echo", {"long": True})
    assert failed["success"] is False, str(failed)[:300]
    deadline = time.monotonic() + 30
    while not (answer := pegboard.run("bad:echo", {}))["success"] and time.monotonic() < deadline:
        time.sleep(0.5)
    assert answer["result"] == "here", answer


def test_a_disabled_server_has_no_process_and_a_changed_one_has_another(pegboard, started):
    server = started()
    first = processes(server["mark"])
    assert first
    pegboard("PATCH", "/api/mcp-servers/bad", {"enabled": False})
    assert gone(server["mark"])
    pegboard("PATCH", "/api/mcp-servers/bad", {"enabled": True})
    assert pegboard.run("bad:echo", {})["result"] == "here"
    second = processes(server["mark"])
    pegboard("PATCH", "/api/mcp-servers/bad", {"env": {"MARK": server["mark"], "MORE": "x"}})
    assert pegboard.run("bad:echo", {})["result"] == "here"
    assert not set(processes(server["mark"])) & set(second), "the changed environment restarts it"


@pytest.mark.parametrize("command", ["sh", "bash", "no-such-command", "curl"])
def test_a_command_that_is_not_listed_does_not_run(pegboard, command):
    server = pegboard("POST", "/api/mcp-servers", {"id": "none", "command": command, "args": ["-c", "id"]}, 201)
    assert server["status"] == "unreachable" and json.dumps(command) in server["last_error"], server
    pegboard.remove("none")
