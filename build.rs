//! Removes the white space from the JSON files that the Worker serves unchanged. White space helps readers of the
//! repository, but only enlarges the bundle.

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
    Ok(())
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
