"""One workspace of a running Pegboard, for scripts in Python: requests, pages of lists, and the stream of a chat's turn.

Only the standard library is needed. PEGBOARD_URL, PEGBOARD_WORKSPACE and PEGBOARD_TOKEN are the defaults of the flags.
"""

import argparse
import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

TIMEOUT_SECONDS = 60
# The server sends a comment every 15 seconds while nothing else happens.
STREAM_TIMEOUT_SECONDS = 120


class Refused(Exception):
    """Pegboard refused a request. The text says why."""

    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None):
        super().__init__(message)
        self.status, self.code = status, code
        # After how many seconds the request may succeed.
        self.retry_after = retry_after


class NoAnswer(Exception):
    """No server answers at the address, or the connection broke off."""


class Pegboard:
    def __init__(self, url: str, workspace: str, token: str | None):
        self.url, self.workspace, self.token = url.rstrip("/"), workspace, token

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of the response; None if the response is empty."""
        with self.open(method, path, body, "application/json", TIMEOUT_SECONDS) as response:
            try:
                content = response.read()
            except (OSError, http.client.HTTPException) as error:
                raise NoAnswer(f"The connection to {self.url} broke off: {error}") from None
        return json.loads(content) if content else None

    def text(self, path: str) -> str:
        """The contents of a file."""
        with self.open("GET", path, None, "*/*", TIMEOUT_SECONDS) as response:
            return response.read().decode(errors="replace")

    def all(self, path: str, plural: str) -> Iterator[dict]:
        """Every entry of a list, page by page."""
        cursor = None
        while True:
            query = {"limit": 200} | ({"cursor": cursor} if cursor else {})
            page = self.ask("GET", f"{path}{'&' if '?' in path else '?'}{urllib.parse.urlencode(query)}")
            yield from page[plural]
            if not (cursor := page["next_cursor"]):
                return

    def events(self, method: str, path: str, body: Any = None) -> Iterator[dict] | None:
        """The events of a turn, up to its end; None if no turn is under way. The request is sent before this returns."""
        response = self.open(method, path, body, "text/event-stream", STREAM_TIMEOUT_SECONDS)
        if response.status == 204:
            response.close()
            return None
        return self._read(response)

    def _read(self, response: http.client.HTTPResponse) -> Iterator[dict]:
        with response:
            try:
                for line in response:
                    # Other lines are empty, or comments that keep the connection alive.
                    if line.startswith(b"data:"):
                        data = line[5:].strip()
                        if data == b"[DONE]":
                            return
                        yield json.loads(data)
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise NoAnswer(f"The connection to {self.url} broke off: {error}") from None
        raise NoAnswer(f"The connection to {self.url} broke off")

    def open(self, method: str, path: str, body: Any, accept: str, timeout: float) -> http.client.HTTPResponse:
        headers = {"X-Workspace-Id": self.workspace, "Accept": accept}
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.url + path, content, headers, method=method)
        try:
            return urllib.request.urlopen(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"No Pegboard answers at {self.url}: {getattr(error, 'reason', error)}") from None

    def _refusal(self, error: urllib.error.HTTPError) -> Refused:
        with error:
            body = error.read()
        retry_after = error.headers.get("Retry-After") or ""
        try:
            told = json.loads(body)["error"]
            return Refused(error.code, told["code"], told["message"], int(retry_after) if retry_after.isdigit() else None)
        except (ValueError, KeyError, TypeError):
            shown = body[:200].decode(errors="replace")
            return Refused(error.code, "", f"{self.url} answered {error.code}: {shown}")


def quoted(part: str) -> str:
    """A part of a path."""
    return urllib.parse.quote(part, safe="")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that say which Pegboard is meant."""
    environment = os.environ
    parser.add_argument("--url", default=environment.get("PEGBOARD_URL") or "http://127.0.0.1:8787")
    parser.add_argument("--workspace", default=environment.get("PEGBOARD_WORKSPACE") or "demo")
    parser.add_argument("--token", default=environment.get("PEGBOARD_TOKEN") or None)


def of_flags(given: argparse.Namespace) -> Pegboard:
    return Pegboard(given.url, given.workspace, given.token)
