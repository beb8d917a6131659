"""Starts the MCP servers that Pegboard federates in these tests. Every server ends with the test that started it."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
LOGS = Path("target/it/federation-logs")
# The programs of FastMCP's environment, which has mcp-server-time too.
OTHERS = Path(os.environ.get("FASTMCP_BIN", ""))
PACKAGES = Path("node_modules/@modelcontextprotocol").resolve()

# The commands of stdio servers, and their arguments.
EVERYTHING = ["node", str(PACKAGES / "server-everything/dist/index.js")]
MEMORY = ["node", str(PACKAGES / "server-memory/dist/index.js")]
TIME = [str(OTHERS / "mcp-server-time"), "--local-timezone", "UTC"]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """A server that a test can kill and start again at the same address."""

    def __init__(self, name: str, command: list[str], path: str, environment: dict | None = None):
        self.name, self.command, self.path, self.environment = name, command, path, environment or {}
        self.port = free_port()
        self.process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def at(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def start(self) -> "Server":
        LOGS.mkdir(parents=True, exist_ok=True)
        port = str(self.port)
        command = [port if word == "PORT" else word for word in self.command]
        with open(LOGS / f"{self.name}.log", "a") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env={**os.environ, "PORT": port, **self.environment}
            )
        deadline = time.monotonic() + 30
        while not accepts(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"{self.name} did not start: see {LOGS / self.name}.log")
            time.sleep(0.05)
        return self

    def kill(self) -> None:
        """Without a farewell, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)
            self.process.stdin.close()
            self.process = None


@contextlib.contextmanager
def running(server: Server) -> Iterator[Server]:
    try:
        yield server.start()
    finally:
        server.kill()


def everything(transport: str) -> Server:
    path = {"streamableHttp": "/mcp", "sse": "/sse"}[transport]
    return Server(f"everything-{transport}", [*EVERYTHING, transport], path)


def python(kind: str, transport: str) -> Server:
    interpreter = str(OTHERS / "python") if kind == "fastmcp" else sys.executable
    command = [interpreter, str(HERE / "python_server.py"), kind, transport, "PORT"]
    return Server(f"{kind}-{transport}", command, {"http": "/mcp", "sse": "/sse"}[transport])


def typescript(path: str) -> Server:
    return Server(f"typescript{path.replace('/', '-')}", ["node", str(HERE / "typescript_server.mjs"), "PORT"], path)


# Every real server with HTTP, as (a name, how it is made).
REMOTE = {
    "everything-streamable": lambda: everything("streamableHttp"),
    "everything-sse": lambda: everything("sse"),
    "fastmcp-http": lambda: python("fastmcp", "http"),
    "fastmcp-sse": lambda: python("fastmcp", "sse"),
    "python-http": lambda: python("sdk", "http"),
    "python-sse": lambda: python("sdk", "sse"),
    "typescript-both-eras": lambda: typescript("/mcp"),
    "typescript-modern": lambda: typescript("/modern"),
    "typescript-sessions": lambda: typescript("/sessions"),
}
