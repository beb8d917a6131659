//! The places of a manifest's parts in its text, for faults that are found after the manifest has been read.

use super::fields::snake;
use crate::error::{BundleNote, escaped, shortened};
use crate::yaml::{Located, Node};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where the parts of a manifest stand, and what its author should know. A manifest that was made from the database has
/// no places. All places are equal, so that two manifests are equal if they say the same.
#[derive(Clone, Debug, Default)]
pub struct Places {
    text: Option<(String, Rc<Located>)>,
    /// The JSON pointers of the tools, by their ids in the toolset.
    pub tools: BTreeMap<String, String>,
    /// The JSON pointers of the MCP servers, by their ids.
    pub servers: BTreeMap<String, String>,
    /// The JSON pointers of the renderers' configurations, by the full ids of their tools.
    pub renderers: BTreeMap<String, String>,
    pub warnings: Vec<BundleNote>,
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Places {
    pub fn of(file: &str, document: Rc<Located>) -> Self {
        Self { text: Some((file.to_owned(), document)), ..Self::default() }
    }

    /// A note about the part at a JSON pointer, with the line of the nearest part that there is.
    pub fn note(&self, pointer: &str, message: impl Into<String>) -> BundleNote {
        let Some((file, document)) = &self.text else {
            return BundleNote { file: None, line: None, path: Some(shortened(pointer)), message: message.into() };
        };
        let mut node = document.root();
        let mut found = String::new();
        let mut steps = pointer.split('/').skip(1);
        for step in steps.by_ref() {
            let Some((name, inner)) = step_into(node, step) else {
                found.extend(["/", step]);
                break;
            };
            found.extend(["/", &escaped(&name)]);
            node = inner;
        }
        steps.for_each(|step| found.extend(["/", step]));
        note(file, node.line(), &found, message)
    }
}

/// The part behind one step of a pointer, with its name as the text spells it.
fn step_into<'a>(node: Node<'a>, step: &str) -> Option<(String, Node<'a>)> {
    if let Ok(index) = step.parse::<usize>()
        && let Some(item) = node.items().nth(index)
    {
        return Some((step.to_owned(), item));
    }
    let exact = node.fields().find(|(name, _)| escaped(name) == step);
    let field = exact.or_else(|| node.fields().find(|(name, _)| snake(name) == step));
    field.map(|(name, inner)| (name.to_owned(), inner))
}

/// A note about a line of a file.
pub fn note(file: &str, line: u32, pointer: &str, message: impl Into<String>) -> BundleNote {
    BundleNote {
        file: Some(file.to_owned()),
        line: Some(line),
        path: Some(shortened(pointer)),
        message: message.into(),
    }
}
