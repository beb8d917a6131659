#!/usr/bin/env python3
"""Runs an MCP server in the image of mcp-host/Dockerfile: mcp_host_container_test.py

The container runs alone, without the Worker. SANDBOX_BASE_IMAGE is for machines without an image registry: then the image is
based on this local image, and holds what mcp-host/build-image has built and installed on this machine.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCKER = os.environ.get("WRANGLER_DOCKER_BIN", "docker")
BUILD_IMAGE = "pegboard-mcp-host-build:local"
IMAGE = "pegboard-mcp-host-test:local"


def say(text):
    print(f"  {text}", flush=True)


def docker(*arguments):
    done = subprocess.run([DOCKER, *arguments], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, f"docker {arguments[0]}: {done.stdout} {done.stderr}"
    return done.stdout


def build_arguments():
    """What the image is built from on this machine: as Docker's build arguments, by name."""
    base = os.environ.get("SANDBOX_BASE_IMAGE")
    if not base:
        return {}
    subprocess.run([ROOT / "mcp-host/build-image", BUILD_IMAGE], check=True, stdout=subprocess.DEVNULL)
    substituted = dict.fromkeys(["BUILD_IMAGE", "NODE_IMAGE", "PYTHON_IMAGE"], BUILD_IMAGE)
    return substituted | {"BASE_IMAGE": base}


def build():
    given = [word for name, value in build_arguments().items() for word in ("--build-arg", f"{name}={value}")]
    docker("build", "--quiet", "--file", "mcp-host/Dockerfile", "--tag", IMAGE, *given, ".")
    megabytes = int(docker("image", "inspect", "--format", "{{.Size}}", IMAGE)) // 1_000_000
    say(f"the image has {megabytes} MB")


@contextlib.contextmanager
def host():
    """Starts a container of the image, and yields its name and address."""
    name = docker("run", "--detach", "--read-only", "--tmpfs", "/tmp", "--publish", "127.0.0.1::8080", IMAGE).strip()
    try:
        yield name, "http://" + docker("port", name, "8080").split()[0]
    except BaseException:
        print(docker("logs", name), file=sys.stderr)
        raise
    finally:
        docker("rm", "--force", name)


def send(method, url, body=None, headers=None):
    """The status, the headers and the body of a response."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"} | (headers or {}), method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return answer.status, answer.headers, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        return error.status, error.headers, json.loads(error.read())


def wait_for(url):
    deadline = time.monotonic() + 20
    while True:
        with contextlib.suppress(OSError):
            return send("GET", f"{url}/health")
        assert time.monotonic() < deadline, "the host does not answer"
        time.sleep(0.1)


def processes(name):
    return docker("top", name, "-eo", "pid,user,args").splitlines()[1:]


def everything(name, url):
    configuration = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"]}
    status, _, body = send("PUT", f"{url}/servers/ws:everything", configuration)
    assert status == 200, body
    headers = {"Mcp-Host-Config": body["config"]}
    endpoint = f"{url}/servers/ws:everything/mcp"

    def ask(method, params):
        status, received, body = send("POST", endpoint, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers)
        assert status == 200, (status, body)
        return received, body["result"]

    begun = time.monotonic()
    client = {"name": "test", "version": "1"}
    received, result = ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    headers["Mcp-Session-Id"] = received["Mcp-Session-Id"]
    say(f"server-everything starts in {time.monotonic() - begun:.1f} s")
    _, listed = ask("tools/list", {})
    assert "echo" in [tool["name"] for tool in listed["tools"]], listed
    _, called = ask("tools/call", {"name": "echo", "arguments": {"message": "hello"}})
    assert called["content"] == [{"type": "text", "text": "Echo: hello"}], called
    running = processes(name)
    assert len(running) == 3 and not any(" root " in line for line in running), running
    say("the host, its warden and the server do not run as root")
    assert send("DELETE", f"{url}/servers/ws:everything")[0] == 204
    assert len(processes(name)) == 1, processes(name)
    say("listed, called, deleted: no process of the server is left")


def clock(url):
    status, _, body = send("PUT", f"{url}/servers/ws:time", {"command": "uvx", "args": ["mcp-server-time"]})
    assert status == 200, body
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    status, _, answer = send("POST", f"{url}/servers/ws:time/mcp", message, {"Mcp-Host-Config": body["config"]})
    assert status == 200 and [tool["name"] for tool in answer["result"]["tools"]] == ["get_current_time", "convert_time"], answer
    assert send("DELETE", f"{url}/servers/ws:time")[0] == 204
    say("mcp-server-time lists its tools")


def main():
    say("building the image of the host of MCP servers")
    build()
    with host() as (name, url):
        wait_for(url)
        everything(name, url)
        clock(url)
        begun = time.monotonic()
        docker("stop", "--time", "10", name)
        assert time.monotonic() - begun < 8, "the host does not end by SIGTERM"


if __name__ == "__main__":
    # A terminated test stops its container too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
