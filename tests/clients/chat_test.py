#!/usr/bin/env python3
"""Real clients of the chat against the Worker: chat_test.py TEMPLATE_STATE

The tests of tests/clients/chat run the chats of AI SDK 5, 6 and 7 and the decoder of assistant-ui, all unmodified, with
a scripted model. They send their requests to dist/ in workerd, in open mode, on a copy of TEMPLATE_STATE.
browser.test.mjs uses the page of samples/chat in the browser CHROMIUM. It is left out if CHROMIUM is not set.
"""

import contextlib
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from worker import serving

HERE = Path(__file__).parent

VARS = ["AUTH=open", "SECRET_KEY=chat-test", "PRIVATE_URLS=allow"]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves the files of a folder, and logs nothing."""

    def log_message(self, *args: object) -> None:
        pass


@contextlib.contextmanager
def serving_page() -> Iterator[str]:
    """Yields the origin of a server that serves the page of samples/chat, bundled as its package.json does."""
    folder = Path("target/it/chat-page")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # A copy finds the pinned packages of this repository, and not what somebody has installed in samples/chat.
    for name in ["chat.jsx", "index.html"]:
        shutil.copy(Path("samples/chat") / name, folder)
    bundle = ["--bundle", "--jsx=automatic", f"--outdir={folder}", "--log-level=warning"]
    subprocess.run(["node_modules/.bin/esbuild", f"{folder}/chat.jsx", *bundle], check=True)
    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def main(template: str) -> int:
    tests = {path.name: str(path) for path in sorted((HERE / "chat").glob("*.test.mjs"))}
    if not os.environ.get("CHROMIUM"):
        print("CHROMIUM is not set, so the page of samples/chat is not tested")
        del tests["browser.test.mjs"]
    # The page's server comes first, because the Worker must be told the page's origin.
    with serving_page() as page, serving("chat-clients-state", template, [*VARS, f"CORS_ORIGINS={page}"]) as url:
        # The reporter `dot` shows failures in full, and the rest as dots.
        command = ["node", "--test", "--test-reporter=dot", "--test-timeout=120000", *tests.values()]
        environment = {**os.environ, "CHAT_TEST": json.dumps({"url": url, "page": page})}
        return subprocess.run(command, timeout=400, check=False, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
