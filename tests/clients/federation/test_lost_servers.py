"""Servers that lose their sessions, die, come back, and die in the middle of a call."""

import threading
import time

import pytest
import requests
import servers

RESTARTED = ["everything-streamable", "everything-sse", "fastmcp-http", "fastmcp-sse", "python-http", "typescript-sessions"]


def echoed(pegboard, name: str) -> dict:
    return pegboard.run(f"{name}:echo", {"message": "a"})


@pytest.mark.parametrize("path", ["/sessions", "/sessions-400"])
def test_a_forgotten_session_is_opened_anew(pegboard, path):
    """An unknown session is a 404 in the protocol, and a 400 in many servers."""
    name = f"forgetful{path.replace('/', '-')}"
    with servers.running(servers.typescript(path)) as server:
        pegboard.register(name, url=server.url)
        for _ in range(3):
            answer = echoed(pegboard, name)
            assert answer["success"] is True and answer["result"] == "a", answer
            assert requests.post(server.at("/drop"), timeout=10).status_code == 204
        # A list too.
        assert pegboard("POST", f"/api/mcp-servers/{name}/refresh")["status"] == "ok"
        pegboard.remove(name)


@pytest.mark.parametrize("kind", RESTARTED)
def test_a_server_dies_and_comes_back(pegboard, kind):
    name = f"mortal-{kind}"
    with servers.running(servers.REMOTE[kind]()) as server:
        transport = {"transport": "sse"} if server.path == "/sse" else {}
        registered = pegboard.register(name, url=server.url, **transport)
        assert echoed(pegboard, name)["success"] is True
        server.kill()
        failed = echoed(pegboard, name)
        assert failed["success"] is False and failed["error"]["code"] == "UNREACHABLE", failed
        # A server that is down keeps its tools.
        down = pegboard("POST", f"/api/mcp-servers/{name}/refresh")
        assert down["status"] == "unreachable" and down["error"], down
        assert pegboard("GET", f"/api/mcp-servers/{name}")["tool_ids"] == registered["tool_ids"]
        server.start()
        answer = echoed(pegboard, name)
        assert answer["success"] is True, answer
        assert pegboard("POST", f"/api/mcp-servers/{name}/refresh")["status"] == "ok"
        pegboard.remove(name)


@pytest.mark.parametrize("kind", ["fastmcp-http", "fastmcp-sse", "typescript-sessions"])
def test_a_server_dies_in_the_middle_of_a_call(pegboard, kind):
    name = f"dying-{kind}"
    with servers.running(servers.REMOTE[kind]()) as server:
        transport = {"transport": "sse"} if server.path == "/sse" else {}
        pegboard.register(name, url=server.url, **transport)
        # The tool is at work when the server dies.
        death = threading.Timer(1, server.kill)
        death.start()
        began = time.monotonic()
        failed = pegboard.run(f"{name}:slow", {"seconds": 10})
        assert failed["success"] is False and failed["error"]["code"] in ("UNREACHABLE", "TOOL_ERROR"), failed
        assert time.monotonic() - began < 9, "the call ends with the connection, and is not made again"
        death.join(10)
        server.start()
        assert pegboard.run(f"{name}:echo", {"message": "a"})["success"] is True
        pegboard.remove(name)


def test_many_callers_lose_the_same_session_at_once(pegboard):
    with servers.running(servers.typescript("/sessions")) as server:
        pegboard.register("shared", url=server.url)
        requests.post(server.at("/drop"), timeout=10)
        answers = []
        callers = [threading.Thread(target=lambda: answers.append(echoed(pegboard, "shared"))) for _ in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(60)
        assert [it["success"] for it in answers] == [True] * 8, answers
        pegboard.remove("shared")
