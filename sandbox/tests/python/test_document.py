"""The examples of the document that toolsets come from, word for word."""

import asyncio
import json
import pathlib
import tempfile

import covalt_toolset
import toolset_binding
from support import Case, bound

ANALYZE = '''
from covalt_toolset import tool, get_context

@tool(
    name="Analyze Data",
    description="Analyze a data file and return statistics",
)
def analyze_data(filename: str) -> dict:
    """
    Args:
        filename: File to analyze
    
    Returns:
        JSON-serializable dict. This becomes $return for renderer interpolation.
    """
    ctx = get_context()  # Access workspace, chat_id, toolset_id
    
    input_file = ctx.workspace / filename
    data = input_file.read_text()
    result = process(data)
    
    output_file = ctx.workspace / "output.json"
    output_file.write_text(json.dumps(result))
    
    return {
        "summary": "Processed 100 rows",
        "output_file": "output.json",
        "stats": {"rows": 100, "columns": 5}
    }
'''

TRANSFORM = """
from pydantic import BaseModel, Field
from covalt_toolset import tool

class TransformConfig(BaseModel):
    input: str = Field(description="Input file path")
    output: str = Field(description="Output file path")
    template: str = Field(description="Template to apply")

@tool(name="Transform File", description="Transform a file using a template")
def transform_file(config: TransformConfig) -> dict:
    ctx = get_context()
    # ... implementation
"""

FILES = """
from pathlib import Path

def write_file(workspace: Path, path: str, content: str) -> dict:
    target = workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content)
    return {"written": path, "size": len(content)}

def read_file(workspace: Path, path: str) -> dict:
    target = workspace / path
    content = target.read_text()
    return {"path": path, "content": content, "size": len(content)}
"""


def module(source, **names):
    names["__name__"] = "main"
    exec(compile(source, "main.py", "exec", dont_inherit=True), names)
    return names


class Document(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(covalt_toolset.clear_context)
        self.folder = pathlib.Path(folder.name)

    def call(self, function, arguments):
        covalt_toolset.set_context(workspace=self.folder, chat_id="chat", toolset_id="my-toolset")
        positional, named = toolset_binding.bind(function, arguments, None, self.folder)
        return toolset_binding.to_json_value(function(*positional, **named))

    def test_analyze_data_is_described(self):
        self.assertEqual(
            toolset_binding.describe(module(ANALYZE)["analyze_data"]),
            {
                "decorated": True,
                "name": "Analyze Data",
                "description": "Analyze a data file and return statistics",
                "requires_confirmation": False,
                "category": None,
                "parameters_schema": {
                    "type": "object",
                    "properties": {"filename": {"type": "string", "description": "File to analyze"}},
                    "required": ["filename"],
                    "additionalProperties": False,
                },
                "returns_schema": None,
                "warnings": [],
            },
        )

    def test_analyze_data_runs(self):
        (self.folder / "data.csv").write_text("a,b")
        function = module(ANALYZE, json=json, process=str.upper)["analyze_data"]
        result = self.call(function, {"filename": "data.csv"})
        self.assertEqual(result["stats"], {"rows": 100, "columns": 5})
        self.assertEqual((self.folder / "output.json").read_text(), '"A,B"')

    def test_transform_file_is_described(self):
        described = toolset_binding.describe(module(TRANSFORM)["transform_file"])
        self.assertEqual((described["name"], described["requires_confirmation"]), ("Transform File", False))
        self.assertEqual(
            described["parameters_schema"],
            {
                "type": "object",
                "properties": {"config": {"$ref": "#/$defs/TransformConfig"}},
                "required": ["config"],
                "additionalProperties": False,
                "$defs": {
                    "TransformConfig": {
                        "type": "object",
                        "properties": {
                            "input": {"type": "string", "description": "Input file path"},
                            "output": {"type": "string", "description": "Output file path"},
                            "template": {"type": "string", "description": "Template to apply"},
                        },
                        "required": ["input", "output", "template"],
                    }
                },
            },
        )

    def test_transform_file_gets_its_model(self):
        names = module(TRANSFORM)
        config = bound(names["transform_file"], {"config": {"input": "a", "output": "b", "template": "c"}})["config"]
        self.assertIs(type(config), names["TransformConfig"])
        self.assertEqual(config.output, "b")
        self.refused(
            lambda: bound(names["transform_file"], {"config": {"input": 1}}),
            "config.input: Input should be a valid string",
            "config.output: Field required",
            "config.template: Field required",
        )

    def test_files_get_the_workspace(self):
        names = module(FILES)
        self.assertEqual(
            list(toolset_binding.describe(names["write_file"])["parameters_schema"]["properties"]), ["path", "content"]
        )
        self.assertEqual(
            self.call(names["write_file"], {"path": "a/b.txt", "content": "hello"}), {"written": "a/b.txt", "size": 5}
        )
        self.assertEqual(self.call(names["read_file"], {"path": "a/b.txt"})["content"], "hello")

    def test_an_async_function_has_the_context(self):
        source = """
import asyncio
from covalt_toolset import tool, get_context

@tool
async def where(depth: int) -> str:
    await asyncio.sleep(0)
    async def inner():
        return get_context()
    context = await asyncio.create_task(inner())
    return f"{context.chat_id} {depth + 1}"
"""
        function = module(source)["where"]
        covalt_toolset.set_context(workspace=self.folder, chat_id="chat")
        self.assertEqual(asyncio.run(function(**bound(function, {"depth": "1"}))), "chat 2")
