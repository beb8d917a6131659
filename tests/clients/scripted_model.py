"""A model that follows a script, behind an OpenAI-compatible endpoint: /v1/chat/completions, streamed or not."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    """What the model says next."""

    text: str = ""
    reasoning: str = ""
    # (tool, arguments)
    calls: list[tuple[str, dict]] = field(default_factory=list)
    # Not 200: the endpoint refuses the request, with the text.
    status: int = 200
    # Between pieces of the text.
    seconds: float = 0


Script = Callable[[list[dict]], Reply]


@dataclass
class Model:
    """The script may be changed at any time. `requests` are the bodies that came."""

    url: str
    script: Script
    requests: list[dict] = field(default_factory=list)


def last_user_text(messages: list[dict]) -> str:
    return next(it["content"] for it in reversed(messages) if it["role"] == "user")


def results_since_user(messages: list[dict]) -> list[str]:
    """The results of the calls that the model has made in this turn."""
    last = max(number for number, it in enumerate(messages) if it["role"] == "user")
    return [it["content"] for it in messages[last:] if it["role"] == "tool"]


@contextlib.contextmanager
def serving_model(script: Script) -> Iterator[Model]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(body)
            reply = model.script(body["messages"])
            if reply.status != 200:
                self.send(reply.status, "application/json", json.dumps({"error": {"message": reply.text}}).encode())
            elif body.get("stream"):
                self.stream(reply, body)
            else:
                self.send(200, "application/json", json.dumps(whole(reply, body["model"])).encode())

        def send(self, status: int, kind: str, content: bytes):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def stream(self, reply: Reply, body: dict):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                for chunk in chunks(reply, body["model"]):
                    self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
                    self.wfile.flush()
                    if reply.seconds:
                        time.sleep(reply.seconds)
                self.wfile.write(b"data: [DONE]\n\n")
            except OSError:
                # The turn was stopped.
                pass

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model = Model(f"http://127.0.0.1:{server.server_port}/v1", script)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield model
    server.shutdown()


USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def tool_calls(reply: Reply) -> list[dict]:
    return [
        {
            "id": f"call_{number}_{time.monotonic_ns()}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for number, (name, given) in enumerate(reply.calls)
    ]


def finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def whole(reply: Reply, model: str) -> dict:
    message = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = tool_calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": finish(reply)}
    return {"id": "x", "model": model, "usage": USAGE, "choices": [choice]}


def chunks(reply: Reply, model: str) -> Iterator[dict]:
    def chunk(delta: dict, reason: str | None = None) -> dict:
        return {"id": "x", "model": model, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant"})
    if reply.reasoning:
        yield chunk({"reasoning_content": reply.reasoning})
    for at in range(0, len(reply.text), 7):
        yield chunk({"content": reply.text[at : at + 7]})
    for number, call in enumerate(tool_calls(reply)):
        yield chunk({"tool_calls": [{"index": number, **call}]})
    yield chunk({}, finish(reply))
    yield {"id": "x", "model": model, "choices": [], "usage": USAGE}
