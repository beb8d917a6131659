//! The log: lines on stderr.

use std::fmt::Display;
use std::io::Write;

/// Writes one line at once. Unlike `eprintln!`, it does not panic if the reader of stderr is gone.
pub fn say(what: impl Display) {
    let _ = std::io::stderr().write_all(format!("pegboard-mcp-host: {what}\n").as_bytes());
}
