#!/usr/bin/env python3
"""Runs Python and stdio MCP servers through their containers, end to end: container_test.py TEMPLATE_STATE

`wrangler dev` builds the image of sandbox/Dockerfile, and serves the Worker of build/ on a copy of TEMPLATE_STATE. The
Durable Object starts containers on the local Docker engine. SANDBOX_BASE_IMAGE is for machines without an image registry:
then the image is based on this local image, and holds the server that sandbox/build-image compiles on this machine. The
same holds for the image of the host of MCP servers.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mcp_host_container_test

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target/container"
DOCKER = os.environ.get("WRANGLER_DOCKER_BIN", "docker")
BUILD_IMAGE = "pegboard-sandbox-build:local"
# A name of its own, so that no other Worker on this engine is mistaken for it.
NAME = f"pegboard-test-{os.getpid()}"
INSTANCES = 2
IDLE_SECONDS = 10


def say(text):
    print(f"  {text}", flush=True)


def docker(*arguments):
    return subprocess.run([DOCKER, *arguments], check=True, capture_output=True, text=True).stdout


def names(*options):
    return docker("ps", *options, "--filter", f"name=workerd-{NAME}", "--format", "{{.Names}}").split()


def containers():
    """The running containers of this test, without the network helpers that workerd starts beside them."""
    return sorted(name for name in names() if not name.endswith("-proxy"))


def eventually(what, seconds, holds):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.2)


def write_config():
    """Writes a wrangler.toml with absolute paths, the Worker that is already built, and the settings of this test."""
    config = tomllib.loads((ROOT / "wrangler.toml").read_text())
    del config["build"]
    config["name"] = NAME
    config["main"] = str(ROOT / config["main"])
    config["assets"]["directory"] = str(ROOT / config["assets"]["directory"])
    config["vars"] |= {
        "AUTH": "open",
        "SECRET_KEY": "container-test",
        "SANDBOX_INSTANCES": str(INSTANCES),
        "SANDBOX_IDLE_SECONDS": str(IDLE_SECONDS),
        "MCP_HOST_IDLE_SECONDS": str(IDLE_SECONDS),
    }
    for container in config["containers"]:
        container["image"] = str(ROOT / container["image"])
        container["image_build_context"] = str(ROOT)
    if base := os.environ.get("SANDBOX_BASE_IMAGE"):
        subprocess.run([ROOT / "sandbox/build-image", BUILD_IMAGE], check=True, stdout=subprocess.DEVNULL)
        substitutes = {"Sandbox": {"BASE_IMAGE": base, "BUILD_IMAGE": BUILD_IMAGE, "PACKAGES_IMAGE": BUILD_IMAGE}, "McpHost": mcp_host_container_test.build_arguments()}
        for container in config["containers"]:
            container["image_vars"] = substitutes[container["class_name"]]
    path = FOLDER / "wrangler.json"
    path.write_text(json.dumps(config))
    return path


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def worker(template):
    """Starts the Worker and yields its URL. Nothing of the Worker is left afterwards."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(template, FOLDER / "state")
    config = write_config()
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [ROOT / "node_modules/.bin/wrangler", "dev", "--config", config, "--persist-to", FOLDER / "state"]
    options = ["--ip", "127.0.0.1", "--port", str(port), "--show-interactive-dev-session=false"]
    log = FOLDER / "wrangler.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        say("building the image and starting wrangler dev")
        eventually("wrangler dev serves", 900, lambda: process.poll() is not None or answers(url))
        assert process.poll() is None, "wrangler dev has ended"
        yield url
    except BaseException:
        print(log.read_text(), file=sys.stderr)
        raise
    finally:
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # wrangler leaves the network helpers behind.
        if left := names("--all"):
            docker("rm", "--force", *left)


def answers(url):
    with contextlib.suppress(OSError):
        return urllib.request.urlopen(f"{url}/healthz", timeout=2).status == 200
    return False


class Client:
    def __init__(self, url, workspace):
        self.url, self.workspace = url, workspace

    def send(self, method, path, body=None):
        headers = {"Content-Type": "application/json", "X-Workspace-Id": self.workspace}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, content, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                text = answer.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.status} {error.read()}") from None

    def post(self, path, body):
        return self.send("POST", path, body)

    def execute(self, tool, arguments):
        return self.post("/api/execute", {"tool_name": tool, "arguments": arguments})

    def python(self, code):
        return self.execute("execute_python", {"code": code})


def prints(answer, expected):
    assert answer["success"] and answer["result"] == expected, answer


def fails(answer, code, told):
    assert answer["error"] and answer["error"]["code"] == code and told in answer["error"]["message"], answer


def tests(url):
    """Returns the image that was tested."""
    first = Client(url, "ws_0")
    assert containers() == [], "no container starts before the first call"
    begun = time.monotonic()
    prints(first.python("print(6 * 7)"), "42\n")
    say(f"a call that starts the container: {time.monotonic() - begun:.1f} s")
    begun = time.monotonic()
    for number in range(10):
        prints(first.python(f"print({number})"), f"{number}\n")
    say(f"a call of a warm container: {(time.monotonic() - begun) * 100:.0f} ms")
    (container,) = containers()
    inspected = json.loads(docker("inspect", container))[0]
    assert inspected["Config"]["User"] == "65534:65534", inspected["Config"]
    say("the container does not run as root")
    megabytes = json.loads(docker("image", "inspect", inspected["Image"]))[0]["Size"] / 1e6
    say(f"the image has {megabytes:.0f} MB")
    routes = Path(f"/proc/{inspected['State']['Pid']}/net/route")
    # The kit's network helper removes the route to the internet; Cloudflare's own helper works in another way.
    if "MINIFLARE_CONTAINER_EGRESS_IMAGE" in os.environ and routes.exists():
        assert not any(line.split()[1] == "00000000" for line in routes.read_text().splitlines()[1:]), routes.read_text()
        say("the container has no route to the internet")

    fails(first.python("print(1 / 0)"), "TOOL_ERROR", "ZeroDivisionError: division by zero")
    fails(first.python("import socket"), "TOOL_ERROR", "only json, re, typing can be imported")
    fails(first.python("while True: pass"), "TIMEOUT", "Timed out after 5 s")
    fails(first.python("x = bytearray(10 ** 9)"), "TOOL_ERROR", "MemoryError")
    say("errors, time-outs and memory are told as such")

    tool = {
        "id": "count_words",
        "version": "1.0.0",
        "name": "Count words",
        "description": "Counts the words of a text",
        "parameters_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "handler": {"type": "python", "code": "def run(arguments):\n    return len(arguments['text'].split())", "function": "run"},
    }
    # The container looks at the code, and has nothing to say about it.
    assert first.post("/api/tools", tool)["warnings"] == []
    prints(first.execute("count_words", {"text": "to be or not"}), 4)
    say("a registered tool runs in it")

    docker("kill", container)
    prints(first.python("print('again')"), "again\n")
    say("a container that was killed is started again")
    with ThreadPoolExecutor(1) as pool:
        cut_short = pool.submit(first.python, "while True: pass")
        time.sleep(1.5)
        (container,) = containers()
        docker("kill", container)
        fails(cut_short.result(), "TIMEOUT", "Timed out after 5 s")
    say("a call whose container is killed under it is run again")

    on_files(first)

    for number in range(1, 20):
        prints(Client(url, f"ws_{number}").python("print(1)"), "1\n")
    assert len(containers()) == INSTANCES, containers()
    say(f"workspaces are spread over {INSTANCES} containers")

    # These calls take all slots of one container, and its whole queue.
    slots = max(2, os.cpu_count() or 1)
    with ThreadPoolExecutor(30 * slots) as pool:
        busy = [pool.submit(first.python, "while True: pass") for _ in range(30 * slots)]
        codes = [each.result()["error"]["code"] for each in busy]
    ran, refused = codes.count("TIMEOUT"), codes.count("UNREACHABLE")
    assert ran + refused == len(codes) and refused > 0, codes
    assert ran > slots, f"{ran} calls ran: none in the neighbour"
    say(f"of {len(codes)} endless calls at once, {ran} ran in two containers, {refused} were told to come back")
    prints(first.python("print(1)"), "1\n")

    eventually("idle containers are stopped", IDLE_SECONDS * 3, lambda: containers() == [])
    prints(first.python("print('woken')"), "woken\n")
    say(f"after {IDLE_SECONDS} s of idling the containers stop, and start again on demand")
    return inspected["Image"]


def on_files(client):
    """A tool that works on the session's files, in the second room of the container."""
    tool = {
        "id": "append_text",
        "version": "1.0.0",
        "name": "Append text",
        "description": "Appends a text to the notes of a session",
        "parameters_schema": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "seconds": {"type": "number", "default": 0}},
            "required": ["text"],
        },
        "handler": {
            "type": "python",
            "code": "import time\n"
            "from pathlib import Path\n"
            "def run(text: str, seconds: float, workspace: Path) -> str:\n"
            "    notes = workspace / 'notes.txt'\n"
            "    old = notes.read_text() if notes.exists() else ''\n"
            "    notes.write_text(old + text)\n"
            "    time.sleep(seconds)\n"
            "    return notes.read_text()\n",
            "function": "run",
            "files": True,
        },
    }
    client.post("/api/tools", tool)
    prints(client.execute("append_text", {"text": "one "}), "one ")
    second = client.execute("append_text", {"text": "two "})
    prints(second, "one two ")
    assert second["pre_manifest_id"] != second["post_manifest_id"], second
    say("a tool works on the session's files in it")
    with ThreadPoolExecutor(1) as pool:
        cut_short = pool.submit(client.execute, "append_text", {"text": "three ", "seconds": 20})
        time.sleep(3)
        (container,) = containers()
        docker("kill", container)
        fails(cut_short.result(), "UNREACHABLE", "may have begun")
    # The new container lacks the contents, and gets them again.
    prints(client.execute("append_text", {"text": "four"}), "one two four")
    say("a run on files whose container is killed is not repeated, and changes nothing")


def mcp_servers(url):
    """Stdio MCP servers, each in a container of its own."""
    client, other = Client(url, "ws_mcp"), Client(url, "ws_other")
    eventually("idle containers are stopped", IDLE_SECONDS * 3, lambda: containers() == [])
    server = {"id": "everything", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"], "requires_approval": False}
    begun = time.monotonic()
    created = client.post("/api/mcp-servers", server)
    assert created["status"] == "ok" and created["tools"] > 5, created
    say(f"a stdio MCP server in its container, from nothing to its {created['tools']} tools: {time.monotonic() - begun:.1f} s")
    prints(client.execute("everything:echo", {"message": "hi"}), "Echo: hi")
    (container,) = containers()
    inspected = json.loads(docker("inspect", container))[0]
    assert inspected["Config"]["User"] not in ("", "0", "root"), inspected["Config"]
    other.post("/api/mcp-servers", server)
    assert len(containers()) == 2, "each workspace has a container of its own"
    docker("kill", container)
    prints(client.execute("everything:echo", {"message": "again"}), "Echo: again")
    say("a container that was killed is started again, configured again, and asked in a new session")
    absent = client.post("/api/mcp-servers", {"id": "absent", "command": "npx", "args": ["-y", "left-pad"]})
    assert absent["status"] == "unreachable" and "left-pad" in absent["last_error"], absent
    say("a package that the image lacks is named at once")
    eventually("idle containers are stopped", IDLE_SECONDS * 3, lambda: containers() == [])
    prints(client.execute("everything:echo", {"message": "woken"}), "Echo: woken")
    client.send("DELETE", "/api/mcp-servers/everything")
    eventually("the container of a deleted server is gone", 10, lambda: containers() == [])
    say("an idle container stops and starts again on demand; the container of a deleted server is gone")


@contextlib.contextmanager
def published(image):
    """Starts a container of the image without the Worker, and yields its address."""
    name = docker("run", "--detach", "--rm", "--publish", "127.0.0.1::8080", image).strip()
    try:
        yield docker("port", name, "8080").split()[0]
    finally:
        docker("rm", "--force", name)


def attacks(image):
    say("attacking the container (cargo test -p pegboard-sandbox --test there)")
    with published(image) as address:
        command = ["cargo", "test", "--quiet", "--locked", "--package", "pegboard-sandbox", "--test", "there"]
        subprocess.run(command, check=True, env=os.environ | {"SANDBOX_ADDRESS": address}, cwd=ROOT)


def main(template):
    mcp_host_container_test.main()
    with worker(template) as url:
        image = tests(url)
        mcp_servers(url)
        attacks(image)
    assert containers() == [], "a container was left behind"


if __name__ == "__main__":
    # A terminated test stops its containers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main(*sys.argv[1:])
