//! Tools as plain text, for a prompt.

use crate::registry::{Tool, describe};

pub fn tools(tools: &[&Tool]) -> String {
    let mut text = String::new();
    for tool in tools {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&describe(tool));
    }
    text
}
