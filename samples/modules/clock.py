"""A module in a few lines, with the standard library alone: python3 samples/modules/clock.py 8801"""

import json
import sys
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOLS = [
    {
        "name": "now",
        "description": "The present time, as ISO 8601",
        "parameters": [{"name": "date_only", "type": "boolean", "description": "Leave the time of day out"}],
        "risk_level": "safe",
    }
]


def now(date_only=False):
    time = datetime.now(timezone.utc)
    return time.date().isoformat() if date_only else time.isoformat(timespec="seconds")


class Module(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200 if self.path == "/manifest" else 404, {"tools": TOOLS})

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            answer = {"success": True, "result": {"clock.now": now}[call["tool_name"]](**call["arguments"]), "error": None}
        except Exception as cause:
            answer = {"success": False, "result": None, "error": f"{type(cause).__name__}: {cause}"}
        self.answer(200, {"tool_name": call["tool_name"], **answer})

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Module).serve_forever()
