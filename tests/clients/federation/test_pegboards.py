"""Pegboard as a server of Pegboard: one registers the other's MCP endpoint, in both eras."""

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests
from asking import MODES, asked, same
from conftest import Pegboard, started

PASSED_ON = ["content-type", "accept", "mcp-session-id", "mcp-protocol-version"]
CALLS = [
    ("write_file", {"path": "/from-afar.txt", "content": "größer 🌍"}),
    ("read_file", {"path": "/from-afar.txt"}),
    ("read_file", {"path": "/nothing-there.txt"}),
]


@contextlib.contextmanager
def legacy_only(url: str):
    """A proxy before a server that no longer speaks 2026-07-28, as a server of last year would answer."""

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.headers.get("mcp-protocol-version") == "2026-07-28":
                status, kind = 400, "text/plain"
                answer = b"Bad Request: Unsupported protocol version"
            else:
                headers = {it: self.headers[it] for it in PASSED_ON if it in self.headers}
                theirs = requests.post(url, data=body, headers=headers, timeout=30)
                status, kind, answer = theirs.status_code, theirs.headers.get("content-type", ""), theirs.content
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        server.shutdown()


@pytest.fixture(scope="module")
def other():
    with started("federation-other-state") as url:
        yield Pegboard(url, "other")


def test_the_other_answers_when_asked_directly(other):
    for mode in MODES.values():
        listed, outcomes = asked(other.mcp, CALLS, mode)
        assert {"read_file", "write_file"} <= set(listed)
        assert [it["is_error"] for it in outcomes] == [False, False, True], outcomes
    with legacy_only(other.mcp) as url:
        assert asked(url, CALLS)[1][1] == outcomes[1]


@pytest.mark.parametrize("revision", MODES)
def test_the_tools_of_another_pegboard(pegboard, other, revision):
    name = f"other-{revision}"
    listed, direct = asked(other.mcp, CALLS, MODES[revision])
    with contextlib.ExitStack() as stack:
        url = other.mcp if revision == "2026-07-28" else stack.enter_context(legacy_only(other.mcp))
        registered = pegboard.register(name, url=url)
        assert registered["protocol_version"] == revision and registered["tools"] == len(listed), registered
        _, through = asked(pegboard.mcp, CALLS, prefix=name)
        # What the other says of its call differs from call to call.
        for ours, theirs in zip(through, direct, strict=True):
            same(theirs, ours, volatile=False)
        pegboard.remove(name)


def test_a_call_that_waits_for_an_approval_there_ends_with_the_decision(pegboard, other):
    definition = {
        "id": "wipe", "version": "1.0.0", "name": "Wipe", "description": "Wipes a disk", "requires_approval": True,
        "parameters_schema": {"type": "object"}, "handler": {"type": "http", "url": "https://a.example"},
    }  # fmt: skip
    other("POST", "/api/tools", definition, 201)
    pegboard.register("waiting", url=other.mcp)
    with ThreadPoolExecutor() as pool:
        # The other server has the call come back until somebody there has decided.
        call = pool.submit(pegboard.run, "waiting:wipe", {})
        deadline = time.monotonic() + 20
        while not (waiting := other("GET", "/api/approvals?status=pending")["approvals"]) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert len(waiting) == 1 and not call.done()
        other("POST", f"/api/approvals/{waiting[0]['id']}/deny", {"reason": "Not my disk"})
        answer = call.result(30)
    assert answer["success"] is False and answer["error"]["code"] == "TOOL_ERROR", answer
    assert "APPROVAL_DENIED" in answer["error"]["message"] and "Not my disk" in answer["error"]["message"], answer
    pegboard.remove("waiting")


def test_pegboard_refuses_itself(pegboard):
    refused = requests.post(
        f"{pegboard.url}/api/mcp-servers",
        json={"id": "self", "url": pegboard.mcp},
        headers={"X-Workspace-Id": pegboard.workspace},
        timeout=30,
    )
    assert refused.status_code in (400, 409), refused.text
