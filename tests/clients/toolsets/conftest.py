"""A running Pegboard with the Python sandbox, and scripts/toolset as people run it.

PEGBOARD_TEMPLATE_STATE is a migrated state, and PEGBOARD_SANDBOX_URL is the address of a sandbox.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import requests

sys.path.insert(0, str(Path(__file__).parents[1]))

from worker import serving  # noqa: E402

SAMPLES = Path("samples/toolsets")


class Pegboard:
    """One workspace of a running Pegboard."""

    def __init__(self, url: str, workspace: str):
        self.url, self.workspace = url, workspace

    def ask(self, method: str, path: str, status: int = 200, **more) -> requests.Response:
        headers = {"X-Workspace-Id": self.workspace}
        response = requests.request(method, self.url + path, headers=headers, timeout=120, **more)
        assert response.status_code == status, f"{method} {path}: {response.status_code} {response.text[:2000]}"
        return response

    def get(self, path: str) -> dict:
        return self.ask("GET", path).json()

    def run(self, tool: str, arguments: dict, session: str = "s", status: int = 200) -> dict:
        """A call, and its answer."""
        body = {"tool_name": tool, "arguments": arguments, "session_id": session}
        return self.ask("POST", "/api/execute", status, json=body).json()

    def result(self, tool: str, arguments: dict, session: str = "s"):
        """The result of a call that must succeed."""
        answer = self.run(tool, arguments, session)
        assert answer["success"], answer
        return answer["result"]

    def file(self, path: str, session: str = "s") -> str:
        return self.ask("GET", f"/api/sessions/{session}/files{path}").text

    def script(self, *arguments: object, status: int = 0) -> subprocess.CompletedProcess:
        """Runs scripts/toolset against this workspace."""
        environment = os.environ | {"PEGBOARD_URL": self.url, "PEGBOARD_WORKSPACE": self.workspace, "PEGBOARD_TOKEN": ""}
        command = ["scripts/toolset", *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done


@pytest.fixture(scope="session")
def server():
    variables = ["AUTH=open", "SECRET_KEY=toolsets-test", f"SANDBOX_URL={os.environ['PEGBOARD_SANDBOX_URL']}"]
    with serving("toolsets-state", os.environ["PEGBOARD_TEMPLATE_STATE"], variables) as url:
        yield url


@pytest.fixture(scope="session")
def samples(server) -> Pegboard:
    """A workspace with the three samples, each packed and installed by scripts/toolset."""
    pegboard = Pegboard(server, "samples")
    for folder in sorted(SAMPLES.iterdir()):
        if folder.is_dir():
            pegboard.script("push", folder)
    return pegboard


@pytest.fixture
def pegboard(server, request) -> Pegboard:
    """A workspace of the test's own."""
    # The name of a test ends with its parameters.
    return Pegboard(server, re.sub("[^a-z0-9]+", "-", request.node.name.lower())[-60:].strip("-"))
