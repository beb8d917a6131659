"""A running Pegboard that federates, and the ways to ask it."""

import os
import sys
from pathlib import Path

import pytest
import requests

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from worker import serving  # noqa: E402

VARS = ["AUTH=open", "SECRET_KEY=federation-test", "PRIVATE_URLS=allow"]


class Pegboard:
    """One workspace of a running Pegboard."""

    def __init__(self, url: str, workspace: str = "federation"):
        self.url, self.workspace = url, workspace

    @property
    def mcp(self) -> str:
        return f"{self.url}/w/{self.workspace}/mcp"

    def __call__(self, method: str, path: str, body=None, status: int = 200):
        headers = {"X-Workspace-Id": self.workspace}
        response = requests.request(method, self.url + path, json=body, headers=headers, timeout=60)
        assert response.status_code == status, f"{method} {path}: {response.status_code} {response.text[:2000]}"
        return response.json() if response.text else None

    def run(self, tool: str, arguments: dict, status: int = 200) -> dict:
        return self("POST", "/api/execute", {"tool_name": tool, "arguments": arguments}, status)

    def register(self, server_id: str, **fields) -> dict:
        """Registers a server whose tools run without an approval."""
        given = {"id": server_id, "requires_approval": False, "risk_level": "low", **fields}
        server = self("POST", "/api/mcp-servers", given, 201)
        assert server["status"] == "ok", server
        return server

    def remove(self, server_id: str) -> None:
        self("DELETE", f"/api/mcp-servers/{server_id}", status=204)


def started(name: str, *more: str):
    return serving(name, os.environ["PEGBOARD_TEMPLATE_STATE"], [*VARS, *more])


@pytest.fixture(scope="session")
def pegboard():
    host = os.environ.get("PEGBOARD_MCP_HOST_URL")
    variables = [f"MCP_HOST_URL={host}", f"MCP_HOST_SECRET={os.environ['PEGBOARD_MCP_HOST_SECRET']}"] if host else []
    with started("federation-state", *variables) as url:
        yield Pegboard(url)
