//! Documents of real APIs, from the registries of npm and PyPI. They are too large for this repository: `scripts/test`
//! fetches them, and names their folder in `OPENAPI_DOCUMENTS`. A plain `cargo test` has no such folder, and runs the other
//! tests only.

#![expect(clippy::disallowed_methods, reason = "tests run on the host, where there is a clock")]

use super::*;
use crate::formats::{Format, write};
use crate::registry::{Drafts, Tool, check_schema, fixture};
use crate::text_enum::TextEnum;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// One line of tests/openapi/documents.json.
struct RealDocument {
    name: String,
    file: String,
    /// How many operations it has, at least, and how many of them must become tools.
    operations: usize,
    tools: usize,
}

fn listed() -> Vec<RealDocument> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi/documents.json");
    let list = serde_json::from_str::<Value>(&fs::read_to_string(list).unwrap()).unwrap();
    let documents = list["packages"].as_array().unwrap().iter().flat_map(|it| it["documents"].as_array().unwrap());
    let number = |it: &Value| usize::try_from(it.as_u64().unwrap()).unwrap();
    documents
        .map(|it| RealDocument {
            name: it["name"].as_str().unwrap().to_owned(),
            file: it["file"].as_str().unwrap().to_owned(),
            operations: number(&it["operations"]),
            tools: number(&it["tools"]),
        })
        .collect()
}

fn as_tool(id: &ToolId, offered: &crate::upstreams::OfferedTool) -> Tool {
    let mut tool = fixture(id.as_str());
    tool.name.clone_from(&offered.name);
    tool.description.clone_from(&offered.description);
    tool.parameters_schema.clone_from(&offered.parameters_schema);
    tool
}

fn export(tool: &Tool) {
    for format in Format::ALL.iter().filter(|it| **it != Format::Json) {
        for strictly in [false, true] {
            // Only the formats of OpenAI have a strict form.
            if strictly && !matches!(format, Format::Openai | Format::OpenaiResponses) {
                continue;
            }
            let written = write(*format, &[tool], strictly).unwrap();
            if written.is_json {
                let tools = serde_json::from_str::<Value>(&written.body).unwrap();
                assert!(tools["tools"][0].is_object(), "{}", tool.id);
            } else {
                assert!(written.body.contains(tool.id.as_str()), "{}", tool.id);
            }
        }
    }
}

#[test]
fn the_list_covers_what_was_promised() {
    let documents = listed();
    assert!(documents.len() >= 6);
    assert!(documents.iter().filter(|it| it.operations > 300).count() >= 3);
}

#[test]
fn every_tool_of_real_apis_compiles_and_can_be_exported() {
    let Ok(folder) = std::env::var("OPENAPI_DOCUMENTS") else { return };
    let everything = serde_json::from_value::<Include>(json!({"paths": ["*"]})).unwrap();
    let module = "api";
    for document in listed() {
        let text = fs::read_to_string(Path::new(&folder).join(&document.file)).unwrap();
        let began = Instant::now();
        let offers = read(module, "https://api.example.com/openapi.json", &text, Some(&everything)).unwrap();
        let took = began.elapsed();
        for warning in offers.warnings.iter().filter(|_| std::env::var("OPENAPI_WARNINGS").is_ok()) {
            println!("  {}: {}", warning.tool.as_deref().unwrap_or("-"), warning.message);
        }
        for (id, offered) in &offers.tools {
            check_schema(&offered.parameters_schema, Drafts::Any).unwrap_or_else(|fault| panic!("{id}: {fault:?}"));
            export(&as_tool(id, offered));
        }
        let bytes = offers.tools.iter().map(|(_, it)| it.parameters_schema.len()).sum::<usize>();
        println!(
            "{}: {} tools, {} left out, {} warnings, {} KB of schemas, {} ms",
            document.name,
            offers.tools.len(),
            offers.left_out.len(),
            offers.warnings.len(),
            bytes / 1_000,
            took.as_millis()
        );
        assert!(offers.tools.len() + offers.left_out.len() >= document.operations, "{}", document.name);
        assert!(offers.tools.len() >= document.tools, "{}: {} tools", document.name, offers.tools.len());
    }
}
