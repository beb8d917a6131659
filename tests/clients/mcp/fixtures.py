"""The tools and resources of fixed names that the conformance suite expects. The tools are registered over the API, and their
upstream is the small server below. The resources are files of a session."""

import base64
import json
import struct
import threading
import time
import urllib.request
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WORKSPACE = "conformance"
SESSION = "suite"


def png() -> str:
    """The smallest possible image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return base64.b64encode(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
    ).decode()


def wav() -> str:
    """A short silent audio file."""
    form = struct.pack("<4sIHHIIHH4sI", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 0)
    return base64.b64encode(struct.pack("<4sI4s", b"RIFF", 4 + len(form), b"WAVE") + form).decode()


def text(words: str) -> dict:
    return {"type": "text", "text": words}


IMAGE = {"type": "image", "data": png(), "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": wav(), "mimeType": "audio/wav"}


def resource(uri: str, mime_type: str, words: str) -> dict:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


# The responses of the upstream, by the path of the tool. Any JSON is a result, and MCP's own form is passed on.
ANSWERS = {
    "/test_simple_text": "This is a simple text response for testing.",
    "/test_image_content": {"content": [IMAGE]},
    "/test_audio_content": {"content": [AUDIO]},
    "/test_embedded_resource": {
        "content": [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
    },
    "/test_multiple_content_types": {
        "content": [
            text("Multiple content types test:"),
            IMAGE,
            resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ]
    },
    # The suite expects features of these tools that Pegboard does not offer: they respond like any other tool.
    **{
        f"/test_{name}": "Nothing but this is said to the client."
        for name in [
            "logging_tool",
            "tool_with_logging",
            "tool_with_progress",
            "sampling",
            "elicitation",
            "elicitation_sep1034_defaults",
            "elicitation_sep1330_enums",
            "missing_capability",
            "headers",
        ]
    },
    "/test_input_required_result_request_state": "state-ok",
    "/weather": {"city": "Oslo", "celsius": 21.5},
    "/wiped": "wiped",
}

# A tool that waits for an approval. Only the next one is ever approved.
WAITS = {"requires_approval": True}
APPROVED = "test_input_required_result_request_state"

TOOLS = {
    **{path[1:]: {} for path in ANSWERS if path.startswith("/test_")},
    # The upstream has no such path, and responds with 404.
    "test_error_handling": {},
    "test_streaming_elicitation": WAITS,
    APPROVED: WAITS,
    **{
        f"test_input_required_result_{name}": WAITS
        for name in [
            "elicitation",
            "tampered_state",
            "sampling",
            "list_roots",
            "multiple_inputs",
            "multi_round",
            "capabilities",
        ]
    },
    "test_headers": {
        "parameters_schema": {
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        }
    },
    "json_schema_2020_12_tool": {
        "parameters_schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                }
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": False,
        }
    },
}


def of_file(name: str) -> dict:
    """A fixture tool of the formats' tests."""
    fields = json.loads((Path("tests/fixtures/tools") / f"{name}.json").read_text())
    return {**fields, "path": "/weather"}


# For the SDKs' clients: an ordinary tool, and two tools that once broke the list for some clients.
OWN_TOOLS = {
    **{name: of_file(name) for name in ["boolean_properties", "own_pattern"]},
    "weather": {
        "path": "/weather",
        "risk_level": "safe",
        "description": "Tells how warm it is in a city",
        "parameters_schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
            "required": ["city"],
        },
        "returns_schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "celsius": {"type": "number"}},
            "required": ["city", "celsius"],
        },
    },
    "wipe": {"path": "/wiped", "description": "Wipes a disk, if an admin says so", **WAITS},
}

FILES = {
    "test:/static-text": b"This is the content of the static text resource.",
    "test:/static-binary": base64.b64decode(IMAGE["data"]),
    "test:/template/123/data": b'{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
    "notes.txt": b"bring milk",
}


class Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found = self.path in ANSWERS
        body = json.dumps(ANSWERS[self.path] if found else "nothing is there").encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start_upstream() -> str:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def ask(url: str, method: str, path: str, body: bytes = b""):
    request = urllib.request.Request(url + path, data=body, method=method, headers={"X-Workspace-Id": WORKSPACE})
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def approve_one(url: str) -> None:
    """The admin, who approves every call of one tool."""
    while True:
        try:
            pending = ask(url, "GET", "/api/approvals?status=pending&limit=200")["approvals"]
            for approval in pending:
                if approval["tool_name"] == APPROVED:
                    ask(url, "POST", f"/api/approvals/{approval['id']}/approve")
        except OSError:
            # The server has ended, or is busy.
            pass
        time.sleep(0.3)


def set_up(url: str) -> dict:
    """Registers the tools and writes the files. Returns the names that are not fixed."""
    upstream = start_upstream()
    for tool_id, fields in {**TOOLS, **OWN_TOOLS}.items():
        fields = dict(fields)
        definition = {
            "id": tool_id,
            "version": "1.0.0",
            "name": tool_id.replace("_", " ").capitalize(),
            "description": f"The fixture {tool_id}",
            "parameters_schema": {"type": "object"},
            "handler": {"type": "http", "url": upstream + fields.pop("path", f"/{tool_id}")},
            **fields,
        }
        ask(url, "POST", "/api/tools", json.dumps(definition).encode())
    for path, content in FILES.items():
        ask(url, "PUT", f"/api/sessions/{SESSION}/files/{path}", content)
    agent = ask(url, "POST", "/api/agents", json.dumps({"name": "Searcher", "find_tools": True}).encode())
    for tool_id in [*TOOLS, *OWN_TOOLS]:
        ask(url, "POST", f"/api/agents/{agent['id']}/tools", json.dumps({"tool_id": tool_id}).encode())
    threading.Thread(target=approve_one, args=[url], daemon=True).start()

    def token(**fields) -> str:
        return ask(url, "POST", "/api/tokens", json.dumps(fields).encode())["token"]

    return {
        "agent": agent["id"],
        "token": token(name="user", level="user"),
        "bound_token": token(name="bound", level="user", agent_id=agent["id"]),
    }
