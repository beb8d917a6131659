//! OpenAPI documents as modules: each operation becomes a tool that calls the REST API itself. Pure: a document is a text
//! that somebody else has fetched.
//!
//! | file | contents |
//! |---|---|
//! | `document` | the text as a value, its version, its references |
//! | `selection` | the operations of a document, and those that `include` names |
//! | `names` | the ids of the tools |
//! | `servers` | the URLs of operations |
//! | `parameters`, `body` | what becomes an argument, and where the argument goes |
//! | `schemas` | schemas as JSON Schema 2020-12, with their components as `$defs` |
//! | `fitting` | schemas within the rules of the registry |
//! | `operation` | all of it together, for one operation |

mod body;
mod document;
mod fitting;
mod names;
mod operation;
mod parameters;
#[cfg(test)]
mod real_documents;
mod schemas;
mod selection;
mod servers;
#[cfg(test)]
mod tests;

use super::include::Include;
use crate::ids::ToolId;
use crate::upstreams::{Offers, UpstreamWarning, without_hidden};
use document::Document;
use operation::{BuiltTool, Operation, build};
use schemas::Schemas;
use selection::{Selection, select};
use std::collections::HashMap;

/// How many tools a module may have, and how many bytes their definitions may have together.
const MAX_TOOLS: usize = 2_000;
const MAX_DEFINITION_BYTES: usize = 16 * 1024 * 1024;

/// How many warnings are kept, and how long each may be. A module's row holds them all.
const MAX_WARNINGS: usize = 500;
const MAX_WARNING_CHARS: usize = 500;

/// Reads the tools of a document that was fetched from `document_url`. An operation that cannot become a tool is left out
/// with a warning. Fails, with the sentence for `last_error`, if nothing can be read at all.
///
/// The URLs of the tools are absolute; whether they may be called is checked by `Handler::check`, and again at each call.
pub fn read(module: &str, document_url: &str, text: &str, include: Option<&Include>) -> Result<Offers, String> {
    // The texts of a document are a stranger's, also where an error repeats them.
    let document = Document::read(text).map_err(|fault| without_hidden(&fault))?;
    let Selection { operations, warnings } = select(&document, include).map_err(|fault| without_hidden(&fault))?;
    let mut reading = Reading {
        module,
        document: &document,
        document_url,
        schemas: Schemas::of(&document),
        seen: HashMap::new(),
        bytes: 0,
        offers: Offers::default(),
        unkept_warnings: 0,
    };
    for warning in warnings {
        reading.warn(warning.tool, warning.message);
    }
    for operation in &operations {
        reading.take(operation);
    }
    Ok(reading.finish())
}

struct Reading<'a> {
    module: &'a str,
    document: &'a Document,
    document_url: &'a str,
    schemas: Schemas<'a>,
    /// The ids so far, each with its operation.
    seen: HashMap<ToolId, String>,
    /// The bytes of the definitions so far.
    bytes: usize,
    offers: Offers,
    unkept_warnings: usize,
}

impl<'a> Reading<'a> {
    fn take(&mut self, operation: &Operation<'a>) {
        let title = operation.title();
        let name = names::operation_name(operation.id(), operation.method.as_str(), operation.path);
        let Some(id) = names::tool_id(self.module, &name) else {
            return self.warn(Some(title), format!("Left out: {name} cannot be the id of a tool"));
        };
        if let Some(first) = self.seen.get(&id) {
            let message = format!("Left out: {first} is the tool {id} already");
            return self.warn(Some(title), message);
        }
        self.seen.insert(id.clone(), title.clone());
        match self.built(operation) {
            Ok(BuiltTool { tool, notes }) => {
                for note in notes {
                    self.warn(Some(title.clone()), format!("Changed: {note}"));
                }
                self.offers.tools.push((id, tool));
            }
            Err(reason) => {
                self.warn(Some(title), format!("Left out: {reason}"));
                self.offers.left_out.push(id);
            }
        }
    }

    fn built(&mut self, operation: &Operation<'a>) -> Result<BuiltTool, String> {
        if self.offers.tools.len() >= MAX_TOOLS {
            return Err(format!("a module has at most {MAX_TOOLS} tools"));
        }
        let built = build(operation, self.document, self.document_url, &mut self.schemas)?;
        let bytes = self.bytes + built.tool.parameters_schema.len() + built.tool.description.len();
        if bytes > MAX_DEFINITION_BYTES {
            return Err(format!("the definitions of a module's tools have at most {MAX_DEFINITION_BYTES} bytes"));
        }
        self.bytes = bytes;
        Ok(built)
    }

    fn warn(&mut self, tool: Option<String>, message: String) {
        if self.offers.warnings.len() >= MAX_WARNINGS {
            self.unkept_warnings += 1;
            return;
        }
        let message = without_hidden(&message).chars().take(MAX_WARNING_CHARS).collect();
        self.offers.warnings.push(UpstreamWarning { tool: tool.as_deref().map(without_hidden), message });
    }

    fn finish(mut self) -> Offers {
        if self.unkept_warnings > 0 {
            let message = format!("There are {} more warnings", self.unkept_warnings);
            self.offers.warnings.push(UpstreamWarning { tool: None, message });
        }
        self.offers
    }
}
