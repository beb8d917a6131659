"""The Worker for tests with the providers' packages: dist/ in workerd, in open mode, on a copy of the migrated state that
PEGBOARD_TEMPLATE_STATE names. The tools are on a small server, which returns the arguments of each call."""

import json
import os
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from worker import serving  # noqa: E402

FIXTURES = Path("tests/fixtures/tools")


class Echo(BaseHTTPRequestHandler):
    """Responds with the arguments of each call."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({"arguments": body["arguments"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def module(name: str, url: str, created_at: str) -> dict:
    """A module as a backup holds it. Its server has no manifest, so its tools stay as they are."""
    return {
        "name": name, "kind": "manifest", "url": url, "slow": False, "timeout_seconds": None, "headers": {}, "enabled": True,
        "auto_accept": False, "include": None, "created_at": created_at,
    }  # fmt: skip


def mcp_server(server_id: str, url: str, created_at: str) -> dict:
    """An MCP server, as a backup holds it. Nobody asks it for its tools in this test."""
    remote = {"transport": "streamable-http", "url": url, "headers": {}, "command": None, "args": [], "env": {}, "cwd": None}
    rules = {"enabled": True, "requires_approval": False, "risk_level": "low", "auto_accept": False, "allowed_hosts": []}
    return {"id": server_id, **remote, **rules, "toolset_id": None, "created_at": created_at}


class Registry:
    """A client of one workspace, as its owner."""

    def __init__(self, url: str, workspace: str = "clients"):
        self.url, self.workspace = url, workspace

    def ask(self, method: str, path: str, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"X-Workspace-Id": self.workspace}, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{method} {path} answered {refused.code}: {refused.read().decode()[:2000]}") from None

    def get(self, path: str):
        return self.ask("GET", path)

    def post(self, path: str, body):
        return self.ask("POST", path, body)


@pytest.fixture(scope="session")
def server():
    variables = ["AUTH=open", "SECRET_KEY=clients-test", "PRIVATE_URLS=allow"]
    with serving("clients-state", os.environ["PEGBOARD_TEMPLATE_STATE"], variables) as url:
        yield url


@pytest.fixture(scope="session")
def registry(server):
    """The registry with every fixture tool, and an agent that has all of them."""
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    registry = Registry(server)
    handler = {"type": "http", "url": f"http://127.0.0.1:{upstream.server_address[1]}/"}
    fixtures = [json.loads(path.read_text()) for path in sorted(FIXTURES.glob("*.json"))]
    for tool in fixtures:
        if tool.get("source") is None:
            registry.post("/api/tools", {**tool, "version": "1.0.0", "handler": handler})
    # Tools of modules and servers cannot be registered by hand, but a backup may hold them.
    backup = registry.get("/api/registry/backup")
    for tool in fixtures:
        if source := tool.pop("source", None):
            schema = json.dumps(tool["parameters_schema"])
            backup["tools"].append({**backup["tools"][0], "id": tool["id"], "source": source})
            version = {**backup["versions"][0], "tool_id": tool["id"], "name": tool["name"], "parameters_schema": schema}
            backup["versions"].append({**version, "description": tool["description"]})
            created_at = backup["tools"][0]["created_at"]
            if source == "module":
                backup["modules"].append(module(tool["id"].split(".")[0], handler["url"].rstrip("/"), created_at))
            elif source == "mcp":
                backup["mcp_servers"].append(mcp_server(tool["id"].split(":")[0], handler["url"], created_at))
    registry.post("/api/registry/restore", backup)
    registry.fixtures = fixtures
    agent = {"name": "All", "max_risk": "critical", "allowed_modules": ["research"]}
    registry.agent = registry.post("/api/agents", agent)["id"]
    for tool in fixtures:
        registry.post(f"/api/agents/{registry.agent}/tools", {"tool_id": tool["id"]})
    for tool in ["list_files", "write_file"]:
        registry.post(f"/api/agents/{registry.agent}/tools", {"tool_id": tool})
    yield registry
    upstream.shutdown()
