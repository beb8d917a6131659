//! The log: lines on stderr.

use std::fmt::Display;
use std::io::Write;

/// One line, in one piece. If nobody reads it any more, that is no reason to stop, as it is for `eprintln!`.
pub fn say(what: impl Display) {
    let _ = std::io::stderr().write_all(format!("pegboard-sandbox: {what}\n").as_bytes());
}
