"""FastMCP with trivial tools, configured as recommended for production: no sessions, JSON responses, one uvicorn process with
uvloop and httptools.
With the argument `sessions`, FastMCP has its default settings instead: sessions in the older revisions, event streams.
The server prints its URL as JSON when it listens, and ends with its stdin."""

import json
import os
import socket
import sys
import threading

import uvicorn
from fastmcp import FastMCP

server = FastMCP("bench")


@server.tool
def read_file(path: str) -> str:
    return "hello"


@server.tool
def echo(message: str) -> str:
    return message


listener = socket.socket()
listener.bind(("127.0.0.1", 0))


def end_with_stdin() -> None:
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=end_with_stdin, daemon=True).start()
alone = sys.argv[1:] != ["sessions"]
app = server.http_app(path="/mcp", stateless_http=alone, json_response=alone)
print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}"}), flush=True)
config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="error", access_log=False)
uvicorn.Server(config).run(sockets=[listener])
