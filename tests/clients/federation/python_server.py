"""Servers of FastMCP and of the Python SDK, with the same tools: python_server.py fastmcp|sdk http|sse|stdio [PORT]

`http` serves both eras at /mcp, the older one with sessions; `sse` serves 2024-11-05 at /sse. Over HTTP the program prints
its URL as JSON when it listens. It ends with its stdin.
"""

import asyncio
import base64
import json
import os
import socket
import sys
import threading

from mcp import types
from pydantic import BaseModel

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n no real image").decode()
SOUND = base64.b64encode(b"RIFF no real sound").decode()


class Sum(BaseModel):
    sum: float


def echo(message: str) -> str:
    """Repeats a message"""
    return message


def add(a: float, b: float) -> Sum:
    """Adds"""
    return Sum(sum=a + b)


def image() -> types.ImageContent:
    """Shows an image"""
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


def audio() -> types.AudioContent:
    """Plays a sound"""
    return types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")


def link() -> types.ResourceLink:
    """Links to a resource"""
    return types.ResourceLink(type="resource_link", uri="note://1", name="note", mime_type="text/plain")


async def slow(seconds: float) -> str:
    """Takes its time"""
    await asyncio.sleep(seconds)
    return "done"


def big(bytes: int) -> str:
    """Answers much"""
    return "x" * bytes


def fail() -> str:
    """Always fails"""
    raise ValueError("it broke")


TOOLS = [echo, add, image, audio, link, slow, big, fail]


def end_with_stdin() -> None:
    sys.stdin.read()
    os._exit(0)


def made(kind: str):
    if kind == "fastmcp":
        from fastmcp import FastMCP

        server = FastMCP("python")
        apps = {"http": lambda: server.http_app(path="/mcp"), "sse": lambda: server.http_app(path="/sse", transport="sse")}
    else:
        from mcp.server import MCPServer

        server = MCPServer("python")
        apps = {"http": server.streamable_http_app, "sse": server.sse_app}
    for tool in TOOLS:
        # A content block is no structured result.
        unstructured = issubclass(tool.__annotations__["return"], BaseModel) and tool is not add
        server.tool(**({"output_schema": None} if kind == "fastmcp" else {"structured_output": False}) if unstructured else {})(tool)
    return server, apps


def main(kind: str, transport: str, port: str = "0") -> None:
    server, apps = made(kind)
    if transport == "stdio":
        return server.run("stdio")
    import uvicorn

    listener = socket.socket()
    # A server that was killed can start again at once.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port)))
    threading.Thread(target=end_with_stdin, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}"}), flush=True)
    config = uvicorn.Config(apps[transport](), log_level="error", access_log=False, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(*sys.argv[1:])
