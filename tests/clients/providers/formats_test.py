"""The providers' own packages accept exported tools, and Pegboard runs the calls of their models unchanged.

No real model takes part: `Model` stands in for the provider. The rules by which providers refuse whole requests are checked
here.
"""

import copy
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
import pytest
from anthropic.types import MessageParam, ToolParam
from google.genai import types as gemini
from jsonschema import Draft202012Validator
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from openai.lib._pydantic import _ensure_strict_json_schema
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from openai.types.responses import FunctionToolParam, ResponseInputItemParam
from pydantic import TypeAdapter

NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$")
KEY = re.compile(r"^[a-zA-Z0-9_.-]{1,64}$")
NOT_AT_TOP = {"oneOf", "anyOf", "allOf", "enum", "const", "not"}


def tools(registry, form, **query):
    query = "".join(f"&{name}={value}" for name, value in query.items())
    return registry.get(f"/api/agents/{registry.agent}/toolbox?format={form}{query}")["tools"]


def schemas(schema):
    """The schema, and all schemas inside it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for keyword in ("properties", "patternProperties"):
        for part in schema.get(keyword, {}).values():
            yield from schemas(part)
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for part in schema.get(keyword, []):
            yield from schemas(part)
    for keyword in ("items", "additionalProperties", "not", "if", "then", "else"):
        yield from schemas(schema.get(keyword))


def check_schema(schema):
    """Checks the rules by which OpenAI and Anthropic refuse requests."""
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object" and isinstance(schema["properties"], dict)
    assert not NOT_AT_TOP & schema.keys(), schema
    for part in schemas(schema):
        assert "$ref" not in part
        assert all(KEY.match(key) for key in part.get("properties", {})), part
        if part.get("type") == "array":
            assert "items" in part, part


def exactly(kind, value):
    """Checks that `value` is of this TypedDict, and has no other fields."""
    TypeAdapter(kind).validate_python(value, strict=True)
    assert value.keys() <= kind.__annotations__.keys(), value


@pytest.mark.parametrize("strict", ["false", "true"])
def test_openai_takes_the_tools(registry, strict):
    for tool in tools(registry, "openai", strict=strict):
        exactly(ChatCompletionToolParam, tool)
        function = tool["function"]
        assert NAME.match(function["name"]) and len(function["description"]) <= 1024
        check_schema(function["parameters"])
        if function["strict"]:
            # OpenAI's own package would change nothing in the schema for strict mode.
            parameters = copy.deepcopy(function["parameters"])
            assert _ensure_strict_json_schema(parameters, path=(), root=parameters) == function["parameters"]
    strictly = {it["function"]["name"] for it in tools(registry, "openai", strict="true") if it["function"]["strict"]}
    assert {"search_mail", "odd_keys"} <= strictly and "open_maps" not in strictly
    for tool in tools(registry, "openai_responses", strict=strict):
        exactly(FunctionToolParam, tool)


def test_anthropic_takes_the_tools(registry):
    exported = tools(registry, "anthropic")
    assert len({it["name"] for it in exported}) == len(registry.fixtures) + 2
    for tool in exported:
        exactly(ToolParam, tool)
        assert NAME.match(tool["name"])
        check_schema(tool["input_schema"])


def test_gemini_takes_the_tools(registry):
    for tool in tools(registry, "gemini"):
        # Unknown fields, and enums of values other than texts, are errors in this package, as they are in the API.
        declaration = gemini.FunctionDeclaration.model_validate(tool)
        assert NAME.match(declaration.name)
        if declaration.parameters is not None:
            check_gemini(declaration.parameters)
    gemini.GenerateContentConfig(tools=[gemini.Tool(function_declarations=tools(registry, "gemini"))])


def check_gemini(schema):
    if schema.any_of:
        assert schema.model_dump(exclude_none=True).keys() == {"any_of"}
        for form in schema.any_of:
            check_gemini(form)
        return
    assert schema.type in gemini.Type and schema.additional_properties is None and schema.ref is None
    assert (schema.type == "ARRAY") == (schema.items is not None)
    assert (schema.type == "OBJECT") == bool(schema.properties)
    assert all(schema.enum or ["x"]) and (schema.enum is None or schema.type == "STRING")
    assert set(schema.required or []) <= set(schema.properties or {})
    for name, part in (schema.properties or {}).items():
        assert KEY.match(name)
        check_gemini(part)
    if schema.items:
        check_gemini(schema.items)


class Model(ThreadingHTTPServer):
    """Returns these responses, one after the other, and keeps all requests."""

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Speaks)
        self.answers, self.requests = list(answers), []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Speaks(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        answer = json.dumps(self.server.answers.pop(0)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def run(registry, answer, query=""):
    return registry.post(f"/api/agents/{registry.agent}/tool-calls{query}", answer)


ARGUMENTS = {"first name": "Ada", "nested list": [{"日本": "x"}]}


def given(form):
    """ARGUMENTS as a model would give them: with the exported names of the tool's properties."""
    properties = form["properties"]
    key = lambda of, title: next(name for name, it in of.items() if it.get("title") == title)
    rows = key(properties, "nested list")
    inner = key(properties[rows]["items"]["properties"], "日本")
    return {key(properties, "first name"): "Ada", rows: [{inner: "x"}]}


def test_a_turn_with_openai_chat(registry):
    exported = tools(registry, "openai", strict="true")
    odd = next(it["function"] for it in exported if it["function"]["name"] == "odd_keys")
    call = {"id": "call_1", "type": "function", "function": {"name": "odd_keys", "arguments": json.dumps(given(odd["parameters"]))}}
    broken = {"id": "call_2", "type": "function", "function": {"name": "search_mail", "arguments": '{"query": "x'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call, broken]}
    completion = lambda message, why: {"id": "c", "object": "chat.completion", "created": 0, "model": "m",
                                       "choices": [{"index": 0, "finish_reason": why, "message": message}]}
    model = Model([completion(message, "tool_calls"), completion({"role": "assistant", "content": "Done"}, "stop")])
    client = openai.OpenAI(api_key="none", base_url=model.url)
    messages = [{"role": "user", "content": "Go"}]
    asked = client.chat.completions.create(model="m", messages=messages, tools=exported).choices[0].message
    answer = run(registry, asked.model_dump())
    for it in answer["messages"]:
        TypeAdapter(ChatCompletionMessageParam).validate_python(it)
    assert json.loads(answer["messages"][0]["content"]) == {"arguments": ARGUMENTS}
    assert "not valid JSON" in answer["messages"][1]["content"]
    messages += [asked.model_dump(exclude_none=True), *answer["messages"]]
    done = client.chat.completions.create(model="m", messages=messages, tools=exported)
    assert done.choices[0].message.content == "Done" and len(model.requests[1]["messages"]) == 4


def test_a_turn_with_openai_responses(registry):
    exported = tools(registry, "openai_responses")
    name = next(it["name"] for it in exported if it["name"].startswith("research_web_search_H"))
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_3", "name": name, "arguments": '{"q": "x"}', "status": "completed"}
    response = {"id": "r", "object": "response", "created_at": 0, "model": "m", "status": "completed", "output": [item],
                "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    model = Model([response])
    client = openai.OpenAI(api_key="none", base_url=model.url)
    asked = client.responses.create(model="m", input="Go", tools=exported)
    answer = run(registry, asked.model_dump(mode="json"))
    TypeAdapter(list[ResponseInputItemParam]).validate_python(answer["messages"])
    assert json.loads(answer["messages"][0]["output"]) == {"arguments": {"q": "x"}}
    assert answer["calls"][0]["tool_name"] == "research.web_search"


def test_a_turn_with_anthropic(registry):
    exported = tools(registry, "anthropic")
    odd = next(it for it in exported if it["name"] == "odd_keys")
    blocks = [{"type": "text", "text": "Let me see."},
              {"type": "tool_use", "id": "toolu_1", "name": "odd_keys", "input": given(odd["input_schema"])},
              {"type": "tool_use", "id": "toolu_2", "name": "odd_keys", "input": {}}]
    message = lambda content, why: {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
                                    "stop_reason": why, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    model = Model([message(blocks, "tool_use"), message([{"type": "text", "text": "Done"}], "end_turn")])
    client = anthropic.Anthropic(api_key="none", base_url=model.url)
    ask = lambda messages: client.messages.create(model="m", max_tokens=100, messages=messages, tools=exported)
    messages = [{"role": "user", "content": "Go"}]
    asked = ask(messages)
    answer = run(registry, asked.model_dump(mode="json"))
    TypeAdapter(list[MessageParam]).validate_python(answer["messages"])
    results = answer["messages"][0]["content"]
    assert json.loads(results[0]["content"]) == {"arguments": ARGUMENTS} and results[0]["is_error"] is False
    assert results[1]["is_error"] is True and "required property" in results[1]["content"]
    assert ask([*messages, {"role": "assistant", "content": asked.content}, *answer["messages"]]).content[0].text == "Done"


def test_a_turn_with_gemini(registry):
    declaration = next(it for it in tools(registry, "gemini") if it["name"] == "open_maps")
    assert declaration["parameters"]["properties"]["headers"]["type"] == "STRING"
    call = gemini.FunctionCall(id="f1", name="open_maps", args={"headers": '{"a": "b"}', "meta": "{}", "labels": '{"c": "d"}'})
    content = gemini.Content(role="model", parts=[gemini.Part(text="Let me see."), gemini.Part(function_call=call)])
    for dumped in (content.model_dump(mode="json", exclude_none=True), content.model_dump(mode="json", by_alias=True)):
        answer = run(registry, dumped)
        back = gemini.Content.model_validate(answer["messages"][0])
        response = back.parts[0].function_response
        assert (response.id, response.name) == ("f1", "open_maps")
        assert response.response == {
            "output": {"arguments": {"headers": {"a": "b"}, "meta": {}, "labels": {"c": "d"}}}
        }


def structured_tool(registry, exported):
    """A StructuredTool that runs its calls on the Worker."""

    def call(**arguments):
        body = {"tool_name": exported["name"], "arguments": arguments, "agent_id": registry.agent}
        result = registry.post("/api/execute", body)
        return result["result"] if result["success"] else result["error"]["message"]

    return StructuredTool(func=call, **exported)


def test_langchain_builds_and_invokes_tools(registry):
    built = {it["name"]: structured_tool(registry, it) for it in tools(registry, "langchain")}
    assert len(built) == len(registry.fixtures) + 2
    for tool in built.values():
        assert isinstance(tool.args, dict)
        function = convert_to_openai_tool(tool)["function"]
        assert function["name"] == tool.name and function["description"] == tool.description
        check_schema(function["parameters"])
    search = next(it for name, it in built.items() if name.startswith("research_web_search_H"))
    assert search.invoke({"q": "x"}) == {"arguments": {"q": "x"}}
    odd = built["odd_keys"]
    assert odd.invoke(given(odd.args_schema)) == {"arguments": ARGUMENTS}
    # As an agent of LangChain would.
    asked = AIMessage("", tool_calls=[{"name": "write_file", "args": {"path": "/a", "content": "hello"}, "id": "c1"}])
    said = built["write_file"].invoke({**asked.tool_calls[0], "type": "tool_call"})
    assert isinstance(said, ToolMessage) and said.content == "Wrote 5 bytes to /a" and said.tool_call_id == "c1"
