"""MCP servers that misbehave, one for each function: hostile.py NAME [ARGUMENTS]"""

import json
import os
import signal
import subprocess
import sys
import time

RESULT = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "hostile", "version": "1"}}
# It outlives its parent, has a session of its own, and does not listen.
STRAY = "import os, signal, time; os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
    sys.stdout.flush()


def answer(message, text):
    send({"id": message["id"], "result": {"content": [{"type": "text", "text": text}]}})


def serve(call, other=lambda message: None, discover=True):
    """Answers the handshake, and hands calls of tools to `call`."""
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "server/discover" if discover:
                send({"id": message["id"], "error": {"code": -32601, "message": "unknown"}})
            case "initialize":
                send({"id": message["id"], "result": RESULT})
            case "tools/call":
                call(message)
            case _:
                other(message)


def echo():
    serve(lambda message: answer(message, json.dumps(message["params"].get("arguments"))))


def sleep():
    """Answers each call after as many seconds as it says. Answers nothing else meanwhile."""

    def call(message):
        time.sleep(message["params"]["arguments"]["seconds"])
        answer(message, "slept")

    serve(call)


def exits():
    print("no configuration file", file=sys.stderr)
    sys.exit(3)


def exits_when_probed():
    """An old server that does not survive a method it does not know."""
    first = json.loads(sys.stdin.readline())
    if first["method"] != "initialize":
        sys.exit(1)
    send({"id": first["id"], "result": RESULT})
    echo()


def exits_in_call():
    def call(message):
        print("the end of the world", file=sys.stderr, flush=True)
        os._exit(7)

    serve(call)


def silent_about_discovery():
    serve(lambda message: answer(message, "old"), discover=False)


def strays():
    """Has children that leave its session, and grandchildren whose parents have ended."""
    subprocess.Popen([sys.executable, "-c", STRAY])
    subprocess.Popen([sys.executable, "-c", f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {STRAY!r}])"])
    serve(lambda message: answer(message, "here"))


def floods_stderr():
    def call(message):
        for number in range(20_000):
            print(f"line {number} " + "x" * 500, file=sys.stderr)
        answer(message, "done")

    serve(call)


def ignores_sigterm():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(lambda message: answer(message, "here"))
    # The end of its input does not end it.
    while True:
        time.sleep(60)


def long_line():
    def call(message):
        sys.stdout.write('{"jsonrpc":"2.0","id":1,"result":"')
        for _ in range(50):
            sys.stdout.write("x" * 1_000_000)
        sys.stdout.write('"}\n')
        sys.stdout.flush()

    serve(call)


def other_ids():
    def call(message):
        for other in [message["id"] + 1000, str(message["id"]), 0, -1, 1.5, None, "x"]:
            send({"id": other, "result": {"content": [{"type": "text", "text": "wrong"}]}})
        answer(message, "right")
        answer(message, "twice")

    serve(call)


def talks_before():
    def call(message):
        for number in range(100):
            params = {"progressToken": 1, "progress": number}
            send({"method": "notifications/progress", "params": params})
        send({"method": "notifications/message", "params": {"level": "info", "data": "hello"}})
        answer(message, "after all")

    serve(call)


def asks():
    """Asks for what a client might offer, and tells the answers."""

    def call(message):
        told = []
        for method in ["ping", "sampling/createMessage", "elicitation/create", "roots/list"]:
            send({"id": f"ask-{method}", "method": method, "params": {}})
            reply = json.loads(sys.stdin.readline())
            told.append(reply.get("error", {}).get("code", "ok"))
        answer(message, json.dumps(told))

    serve(call)


def garbage():
    def call(message):
        sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":%d,"result":"\xff\xfe"}\n' % message["id"])
        sys.stdout.buffer.write(b"Listening on port 3000\n\n[]\n{}\n\x00\n")
        sys.stdout.flush()
        answer(message, "clean")

    serve(call)


def never_answers():
    """Answers nothing but the tool `count`, which tells which requests were cancelled."""
    cancelled = []

    def call(message):
        if message["params"]["name"] == "count":
            answer(message, json.dumps(cancelled))

    def other(message):
        if message.get("method") == "notifications/cancelled":
            cancelled.append(message["params"]["requestId"])

    serve(call, other)


def eats_memory():
    def call(message):
        hoard = []
        while True:
            hoard.append(b"x" * 10_000_000)
            time.sleep(0.01)

    serve(call)


def forks():
    def call(message):
        for _ in range(30):
            subprocess.Popen([sys.executable, "-c", STRAY])
        time.sleep(60)

    serve(call)


def closes_output():
    def call(message):
        os.close(1)
        time.sleep(60)

    serve(call)


def tells_environment():
    def call(message):
        mode = oct(os.stat(os.environ["HOME"]).st_mode & 0o777)
        answer(message, json.dumps({"env": dict(os.environ), "cwd": os.getcwd(), "mode": mode, "argv": sys.argv[2:]}))

    serve(call)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
