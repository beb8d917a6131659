"""Tool calls for a model that is too small to ask for tools by itself.

The shim stands between Pegboard and the model's server. It turns the tools of a request into a JSON schema that the
answer must fit, and turns the answer into the pieces of a call. A request with the result of a call goes on as text.
"""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests


def schema_of(tools: list[dict]) -> dict:
    """The schema of one call of any of the tools."""
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": it["function"]["name"]}, "arguments": it["function"]["parameters"]},
            "required": ["name", "arguments"],
        }
        for it in tools
    ]
    return {"anyOf": calls}


def advice_of(tools: list[dict]) -> str:
    lines = [f"- {it['function']['name']}: {it['function']['description']}" for it in tools]
    return "Choose the tool that helps, and answer with JSON {name, arguments}:\n" + "\n".join(lines)


def as_text(message: dict) -> dict:
    """A message in the words of a model that knows no tools."""
    if message["role"] == "tool":
        return {"role": "user", "content": f"The tool answered: {message['content']}. Tell me in one short sentence."}
    if message.get("tool_calls"):
        return {"role": "assistant", "content": message["tool_calls"][0]["function"]["arguments"]}
    return {"role": message["role"], "content": message["content"]}


def pieces_of(call: dict) -> Iterator[dict]:
    function = {"name": call["name"], "arguments": ""}
    yield {"tool_calls": [{"index": 0, "id": "call_shim", "type": "function", "function": function}]}
    arguments = json.dumps(call["arguments"])
    for at in range(0, len(arguments), 4):
        yield {"tool_calls": [{"index": 0, "function": {"arguments": arguments[at : at + 4]}}]}


class Shim(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = asked.pop("tools", [])
        asked.pop("tool_choice", None)
        has_result = asked["messages"][-1]["role"] == "tool"
        asked["messages"] = [as_text(it) for it in asked["messages"]]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if has_result or not tools:
            with requests.post(self.server.model + self.path.removeprefix("/v1"), json=asked, stream=True) as answer:
                for piece in answer.iter_content(None):
                    self.wfile.write(piece)
            return
        asked["messages"].insert(0, {"role": "system", "content": advice_of(tools)})
        schema = {"name": "call", "strict": True, "schema": schema_of(tools)}
        asked |= {"stream": False, "response_format": {"type": "json_schema", "json_schema": schema}}
        asked.pop("stream_options", None)
        answer = requests.post(self.server.model + self.path.removeprefix("/v1"), json=asked).json()
        call = json.loads(answer["choices"][0]["message"]["content"])
        for delta in pieces_of(call):
            self.send_chunk(choices=[{"index": 0, "delta": delta, "finish_reason": None}])
        self.send_chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "tool_calls"}])
        self.send_chunk(choices=[], usage=answer["usage"])
        self.wfile.write(b"data: [DONE]\n\n")

    def send_chunk(self, **fields):
        chunk = {"id": "shim", "object": "chat.completion.chunk", "model": "shim", **fields}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def shimmed(model: str) -> Iterator[str]:
    """Yields the URL of a shim before the model's server at the URL `model`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shim)
    server.model = model
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
