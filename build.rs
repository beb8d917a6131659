//! Removes the white space from the JSON files that the Worker serves unchanged. White space helps readers of the
//! repository, but only enlarges the bundle. Also writes the list of the query parameters of all routes.

use serde_json::Value;
use std::path::Path;
use std::{env, fs, io};

const FILES: [&str; 3] = ["openapi.json", "src/mcp/search.json", "src/mcp/templates.json"];

fn main() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    for file in FILES {
        println!("cargo::rerun-if-changed={file}");
        let name = Path::new(file).file_name().ok_or(io::ErrorKind::InvalidInput)?;
        fs::write(Path::new(&out).join(name), compact(&fs::read_to_string(file)?))?;
    }
    let description = serde_json::from_str(&fs::read_to_string("openapi.json")?)?;
    fs::write(Path::new(&out).join("query_parameters.rs"), query_parameters(&description))
}

/// A Rust array of the method, the path and the names of the query parameters of each operation that has any.
fn query_parameters(description: &Value) -> String {
    let mut operations = String::new();
    for (path, item) in description["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let names = parameters.filter(|it| it["in"] == "query").filter_map(|it| it["name"].as_str());
            let names = names.collect::<Vec<_>>();
            if !names.is_empty() {
                operations.push_str(&format!("({method:?}, {path:?}, &{names:?}), "));
            }
        }
    }
    format!("[{operations}]")
}

/// The JSON without white space outside of texts.
fn compact(json: &str) -> String {
    let (mut in_text, mut escaped) = (false, false);
    json.chars()
        .filter(|&it| {
            if in_text {
                in_text = escaped || it != '"';
                escaped = !escaped && it == '\\';
                return true;
            }
            in_text = it == '"';
            !it.is_ascii_whitespace()
        })
        .collect()
}
