//! Bundles in the shape of the three examples of the project that the document comes from (SethBurkart123/Covalt): their
//! manifests' fields, their decorators and models, written anew.

use super::{bundle, call, installed};
use crate::harness::workspace;
use serde_json::json;

#[test]
fn artifacts_are_written_as_documents_and_pages() {
    let client = workspace();
    let manifest = r#"manifest_version: "1"
id: pages
name: Pages
version: "1.0.0"
description: Shows texts and pages
tools:
  - id: show_text
    entrypoint: tools.pages:show_text
    requires_confirmation: true
    renderer:
      type: document
      file: "$return.path"
      editable: true
  - id: show_page
    entrypoint: tools.pages:show_page
    renderer:
      type: html
      content: "$return"
"#;
    let code = r#"
from __future__ import annotations

from pathlib import Path
from covalt_toolset import get_context, tool

def inside(root: Path, name: str) -> tuple[Path, str]:
    target = (root / name.strip().lstrip("/")).resolve()
    return target, str(target.relative_to(root.resolve()))

@tool(name="Show Text", description="Show a text")
def show_text(path: str, content: str) -> dict[str, str | int]:
    """Write a text and show it.

    Args:
        path: Where it is written
        content: What is shown
    """
    target, name = inside(get_context().workspace, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content, encoding="utf-8")
    return {"path": name, "size": len(content)}

@tool(name="Show Page", description="Show a page")
def show_page(title: str, html: str) -> str:
    return html
"#;
    let made = installed(&client, &bundle(&[("toolset.yaml", manifest), ("tools/pages.py", code)]));
    assert_eq!(made["warnings"], json!([]));
    let approved = |path: &str| {
        let arguments = json!({"path": path, "content": "# C"});
        let waits = call(&client, "s", "pages:show_text", arguments).failed(202, "APPROVAL_REQUIRED");
        let approval = waits["error"]["details"]["approval_id"].as_str().unwrap();
        client.post(&format!("/api/approvals/{approval}/approve"), json!({}))
    };
    let done = approved("/a/b.md").result(200);
    assert_eq!(done["result"], json!({"path": "a/b.md", "size": 3}), "{done}");
    assert_eq!(done["render_plan"], json!({"renderer": "document", "config": {"file": "a/b.md", "editable": true}}));
    assert_eq!(client.get("/api/sessions/s/files/a/b.md").text, "# C");
    approved("../b.md").failed(200, "TOOL_ERROR");
    let shown = call(&client, "s", "pages:show_page", json!({"title": "T", "html": "<b>x</b>"})).result(200);
    assert_eq!(shown["render_plan"], json!({"renderer": "html", "config": {"content": "<b>x</b>"}}));
    let page = client.get(&format!("/api/tool-calls/{}/render", shown["call_id"].as_str().unwrap()));
    assert_eq!((page.status, page.text.contains("<b>x</b>")), (200, true), "{}", page.text);
}

#[test]
fn files_are_worked_on() {
    let client = workspace();
    let manifest = r#"manifest_version: "1"
id: folder-tools
name: Folder Tools
version: "1.0.0"
tools:
  - id: write_file
    entrypoint: tools.folder:write_file
    renderer: {type: code, file: "$args.path", language: auto, editable: true}
  - id: list_files
    entrypoint: tools.folder:list_files
  - id: delete_file
    entrypoint: tools.folder:delete_file
"#;
    let code = r#"
from covalt_toolset import get_context, tool

@tool(name="Write File", description="Write a file")
def write_file(path: str, content: str) -> dict:
    target = get_context().workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content)
    return {"path": path, "size": len(content)}

@tool(name="List Files", description="List a folder")
def list_files(directory: str = "") -> dict:
    root = get_context().workspace
    target = root / directory if directory else root
    names = sorted(str(it.relative_to(root)) + ("/" if it.is_dir() else "") for it in target.iterdir())
    return {"directory": directory or "/", "names": names}

@tool(name="Delete File", description="Delete a file", requires_confirmation=True)
def delete_file(path: str) -> dict:
    (get_context().workspace / path).unlink()
    return {"deleted": True}
"#;
    installed(&client, &bundle(&[("toolset.yaml", manifest), ("tools/folder.py", code)]));
    let run = |tool: &str, arguments| call(&client, "s", &format!("folder-tools:{tool}"), arguments);
    let written = run("write_file", json!({"path": "src/a.py", "content": "x = 1"})).result(200);
    assert_eq!(written["render_plan"]["config"], json!({"file": "src/a.py", "language": "auto", "editable": true}));
    assert_eq!(run("list_files", json!({})).success(), json!({"directory": "/", "names": ["src/"]}));
    assert_eq!(run("list_files", json!({"directory": "src"})).success()["names"], json!(["src/a.py"]));
    run("list_files", json!({"directory": 7})).failed(400, "INVALID_ARGUMENTS");
    run("delete_file", json!({"path": "src/a.py"})).failed(202, "APPROVAL_REQUIRED");
    assert_eq!(client.get("/api/sessions/s/files/src/a.py").text, "x = 1");
}

#[test]
fn nested_models_are_schemas_and_arrive_as_models() {
    let client = workspace();
    let manifest = r#"manifest_version: "1"
id: cards
name: Cards
version: "1.0.0"
tools:
  - id: make_cards
    entrypoint: tools.cards:make_cards
    renderer:
      type: html
      artifact: artifacts/cards.html
      data: "$return"
"#;
    let code = r#"
from __future__ import annotations

from typing import Annotated, Literal, Union
from pydantic import BaseModel, Discriminator, Field, Tag
from covalt_toolset import tool

class Choice(BaseModel):
    """One of several."""
    type: Literal["choice"] = "choice"
    front: str = Field(description="What is asked")
    choices: list[str] = Field(min_length=2, max_length=4, description="What may be chosen")
    right_index: int = Field(ge=0, le=3, alias="rightIndex", description="Which choice is right")

class Truth(BaseModel):
    type: Literal["truth"] = "truth"
    front: str = Field(description="What is claimed")
    right: bool

Card = Annotated[Union[Annotated[Choice, Tag("choice")], Annotated[Truth, Tag("truth")]], Discriminator("type")]

@tool(name="Make Cards", description=("Make cards. " "Each has a question."), category="content")
def make_cards(title: str, cards: list[Card]) -> dict:
    if not cards:
        raise ValueError("At least one card is needed")
    kinds = [type(it).__name__ for it in cards]
    return {"title": title.strip(), "cards": [it.model_dump(by_alias=True) for it in cards], "kinds": kinds}
"#;
    let page = "<!doctype html><html><head><title>Cards</title></head><body></body></html>";
    let files = [("toolset.yaml", manifest), ("tools/cards.py", code), ("artifacts/cards.html", page)];
    installed(&client, &bundle(&files));
    let tool = client.get("/api/tools/cards:make_cards").ok();
    assert_eq!(tool["category"], "content", "as the decorator says");
    let schema = tool["parameters_schema"].as_str().unwrap();
    assert!(["rightIndex", "What is asked", "maximum", "truth"].iter().all(|it| schema.contains(it)), "{schema}");
    let choice = json!({"type": "choice", "front": "2 + 2", "choices": ["3", "4"], "rightIndex": 1});
    let truth = json!({"type": "truth", "front": "2 + 2 = 4", "right": true});
    let run = |cards| call(&client, "s", "cards:make_cards", json!({"title": " T ", "cards": cards}));
    let done = run(json!([choice, truth])).result(200);
    assert_eq!(done["result"], json!({"title": "T", "cards": [choice, truth], "kinds": ["Choice", "Truth"]}), "{done}");
    assert_eq!(done["render_plan"]["config"]["data"], done["result"]);
    let html = client.get(&format!("/api/tool-calls/{}/render", done["call_id"].as_str().unwrap()));
    assert!(html.text.contains("<script>window.__TOOL_DATA__ = {"), "{}", html.text);
    for wrong in [
        json!({"type": "choice", "front": "x", "choices": ["1"], "rightIndex": 0}),
        json!({"type": "choice", "front": "x", "choices": ["1", "2"], "rightIndex": 4}),
        json!({"type": "other", "front": "x"}),
    ] {
        run(json!([wrong])).failed(400, "INVALID_ARGUMENTS");
    }
    let empty = run(json!([])).failed(200, "TOOL_ERROR");
    assert!(empty["error"]["message"].as_str().unwrap().contains("At least one card is needed"), "{empty}");
}
