"""A running FastAPI service as a module of the kind `openapi`, called through its own /openapi.json."""

import os
import socket
import sys
import threading
import time
from pathlib import Path

import pytest
import requests
import uvicorn

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import service  # noqa: E402
from worker import serving  # noqa: E402

VARS = ["AUTH=open", "SECRET_KEY=fastapi-test", "PRIVATE_URLS=allow", "SHOP_KEY=shop-value"]


@pytest.fixture(scope="session")
def shop():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(service.app, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


class Pegboard:
    def __init__(self, url: str):
        self.url = url

    def __call__(self, method: str, path: str, body=None, status: int = 200):
        response = requests.request(method, self.url + path, json=body, headers={"X-Workspace-Id": "shop"}, timeout=30)
        assert response.status_code == status, response.text
        return response.json() if response.text else None

    def run(self, tool: str, arguments: dict, status: int = 200) -> dict:
        return self("POST", "/api/execute", {"tool_name": tool, "arguments": arguments}, status)


@pytest.fixture(scope="session")
def pegboard(shop):
    with serving("fastapi-state", os.environ["PEGBOARD_TEMPLATE_STATE"], VARS) as url:
        pegboard = Pegboard(url)
        pegboard("POST", "/api/credentials", {"id": "SHOP_KEY"}, 201)
        headers = {"Authorization": "Bearer ${SHOP_KEY}"}
        given = {"name": "shop", "kind": "openapi", "url": shop, "headers": headers}
        module = pegboard("POST", "/api/modules", given, 201)
        assert module["status"] == "ok", module
        yield pegboard


def test_every_operation_is_a_tool(pegboard):
    module = pegboard("GET", "/api/modules/shop")
    names = ["create_order", "delete_order", "get_order", "set_note", "teapot", "text"]
    assert module["tool_ids"] == [f"shop.{it}" for it in names]
    assert module["warnings"] == []
    risks = {it["id"]: it["risk_level"] for it in pegboard("GET", "/api/tools?source=module")["tools"]}
    assert risks["shop.get_order"] == "safe"
    assert risks["shop.create_order"] == "medium"
    assert risks["shop.delete_order"] == "high"


def test_path_query_and_header_parameters(pegboard):
    arguments = {"order_id": "a b ü", "fields": ["one", "two"], "limit": 3, "x-trace": "t-1"}
    result = pegboard.run("shop.get_order", arguments)["result"]
    assert (result["order_id"], result["fields"]) == ("a b ü", ["one", "two"])
    assert (result["limit"], result["trace"]) == (3, "t-1")
    # The service got the credential, and the caller does not see it.
    assert result["authorization"] == "Bearer [redacted]"
    assert result["query"] == "fields=one&fields=two&limit=3"


def test_a_slash_in_a_path_stays_in_its_segment(pegboard):
    # FastAPI decodes %2F before it routes, so the order is not found: the request has not left its place.
    failed = pegboard.run("shop.get_order", {"order_id": "../teapot"})
    assert failed["success"] is False and "404" in failed["error"]["message"], failed
    failed = pegboard.run("shop.get_order", {"order_id": ".."}, 400)
    assert failed["error"]["code"] == "INVALID_ARGUMENTS", failed


def test_a_json_body_with_a_model_that_refers_to_itself(pegboard):
    item = {"name": "table", "price": 100, "parts": [{"name": "leg", "price": 5, "size": "large"}]}
    result = pegboard.run("shop.create_order", {"body": {"items": [item], "note": None}, "dry_run": True})["result"]
    assert result == {"count": 1, "sum": 100, "note": None, "dry_run": True}
    failed = pegboard.run("shop.create_order", {"body": {"items": [{"name": "", "price": 1}]}}, 400)
    assert failed["error"]["code"] == "INVALID_ARGUMENTS"
    assert "/body/items/0/name" in failed["error"]["message"], failed


def test_a_form(pegboard):
    result = pegboard.run("shop.set_note", {"order_id": "7", "body": {"text": "a & b = ü", "urgent": True}})["result"]
    assert result == {"order_id": "7", "text": "a & b = ü", "urgent": True}


def test_statuses_and_texts(pegboard):
    failed = pegboard.run("shop.teapot", {})
    assert failed["error"]["code"] == "TOOL_ERROR"
    assert "418" in failed["error"]["message"] and "I am a teapot" in failed["error"]["message"]
    assert pegboard.run("shop.text", {})["result"] == "plain words"


def test_a_deletion_waits_for_an_admin(pegboard):
    waiting = pegboard.run("shop.delete_order", {"order_id": "7"}, 202)
    approval = waiting["error"]["details"]["approval_id"]
    done = pegboard("POST", f"/api/approvals/{approval}/approve")
    assert done["success"] is True and done["result"] is None, done


def test_include_chooses_operations(pegboard, shop):
    given = {"name": "part", "kind": "openapi", "url": f"{shop}/openapi.json", "include": {"tags": ["other"]}}
    assert pegboard("POST", "/api/modules", given, 201)["tool_ids"] == ["part.teapot", "part.text"]
    changed = pegboard("PATCH", "/api/modules/part", {"include": {"operations": ["text"]}})
    assert changed["tool_ids"] == ["part.text"]
