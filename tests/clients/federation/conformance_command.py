"""What the conformance suite runs as "the client", once for each scenario: conformance_command.py URL_OF_THE_MOCK_SERVER

It registers the mock server in a running Pegboard, lets Pegboard discover its tools, makes the calls that the scenario
waits for, and deletes the server. So Pegboard is the client that the suite sees. PEGBOARD_URL tells where Pegboard is.
Only the standard library is used, because the suite starts dozens of these programs at once.
"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

PEGBOARD = os.environ["PEGBOARD_URL"]
SCENARIO = os.environ["MCP_CONFORMANCE_SCENARIO"]
REVISION = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
# Scenarios run side by side, each in a workspace of its own.
WORKSPACE = f"conformance_{SCENARIO}_{REVISION}".replace("/", "_").replace("-", "_")


def ask(method: str, path: str, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"X-Workspace-Id": WORKSPACE, "Content-Type": "application/json"}
    request = urllib.request.Request(PEGBOARD + path, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=25) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()[:500]}") from None
    return json.loads(text) if text else None


def call(tool: str, arguments: dict) -> dict:
    return ask("POST", "/api/execute", {"tool_name": f"mock:{tool}", "arguments": arguments})


def without_nulls(arguments: dict) -> dict:
    """The schema of the suite's tool does not allow null, so Pegboard would refuse it. The suite accepts an absent one."""
    return {name: value for name, value in arguments.items() if value is not None}


def echo_schema() -> list:
    """The schema of one tool, as Pegboard has it, as the argument of another tool."""
    tool = ask("GET", f"/api/tools/{urllib.parse.quote('mock:json_schema_2020_12_tool')}")
    return [("json_schema_echo", {"schema": tool["parameters_schema"]})]


def every_tool(found: dict) -> list:
    """Calls whatever the registry has, so a tool that must not be there would be seen by the suite."""
    names = [it.removeprefix("mock:") for it in found["tool_ids"]]
    return [(it, {"region": "north", "value": "x"} if it != "valid_tool" else {"region": "north"}) for it in names]


def calls(found: dict) -> list:
    match SCENARIO:
        case "tools_call":
            return [("add_numbers", {"a": 5, "b": 3})]
        case "sse-retry":
            return [("test_reconnection", {})]
        case "sep-2322-client-request-state":
            names = ["echo_state", "unrelated", "no_state", "no_result_type"]
            return [(f"test_mrtr_{it}", {}) for it in names]
        case "http-standard-headers":
            return [("test_headers", {}), ("my-hyphenated-tool", {})]
        case "http-custom-headers":
            return [(it["name"], without_nulls(it["arguments"])) for it in CONTEXT["toolCalls"]]
        case "http-invalid-tool-headers":
            return every_tool(found)
        case "json-schema-2020-12-preservation":
            return echo_schema()
        case _ if SCENARIO.startswith("auth/"):
            return [("test-tool", {})] if found["tool_ids"] else []
    # initialize, request-metadata and json-schema-ref-no-deref only want the list. The tool of
    # elicitation-sep1034-client-defaults asks on a stream that Pegboard does not open, and would wait for its time limit.
    return []


def main(url: str) -> None:
    # Calls must run at once, and the definitions of the mock server are trusted.
    given = {"id": "mock", "url": url, "requires_approval": False, "risk_level": "low", "auto_accept": True}
    found = ask("POST", "/api/mcp-servers", given)
    print(json.dumps(found))
    try:
        for tool, arguments in calls(found):
            print(tool, json.dumps(call(tool, arguments)))
    finally:
        ask("DELETE", "/api/mcp-servers/mock")


main(sys.argv[1])
