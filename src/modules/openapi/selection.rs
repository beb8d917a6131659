//! The operations of a document, and those of them that become tools.

use super::document::Document;
use super::names::operation_name;
use super::operation::Operation;
use crate::modules::include::{Include, is_path_named};
use crate::registry::RestMethod;
use crate::text_enum::TextEnum;
use crate::upstreams::UpstreamWarning;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// How many operations become tools if nobody has chosen among them.
const MAX_UNCHOSEN: usize = 50;

/// How many tags an error lists, and how many entries of `include` that name nothing are warned of.
const MAX_TAGS: usize = 60;
const MAX_UNMATCHED: usize = 20;

pub struct Selection<'a> {
    /// In the order of the document.
    pub operations: Vec<Operation<'a>>,
    pub warnings: Vec<UpstreamWarning>,
}

/// The operations that become tools. Fails if there are too many to take all of them, and nobody has chosen.
pub fn select<'a>(document: &'a Document, include: Option<&Include>) -> Result<Selection<'a>, String> {
    let mut selection = operations(document);
    let Some(include) = include.filter(|it| it.chooses()) else {
        return match selection.operations.len() {
            0..=MAX_UNCHOSEN => Ok(selection),
            _ => Err(too_many(&selection.operations)),
        };
    };
    let mut matched = HashSet::new();
    selection.operations.retain(|operation| {
        let entries = named_by(include, operation);
        matched.extend(entries.iter().copied());
        !entries.is_empty()
    });
    let unmatched = include.choices().filter(|it| !matched.contains(it));
    for (field, entry) in unmatched.take(MAX_UNMATCHED) {
        let message = format!("include.{field} names {entry}, which no operation has");
        selection.warnings.push(UpstreamWarning { tool: None, message });
    }
    Ok(selection)
}

/// The entries of `include` that name the operation.
fn named_by<'a>(include: &'a Include, operation: &Operation<'_>) -> Vec<(&'static str, &'a str)> {
    let name = operation_name(operation.id(), operation.method.as_str(), operation.path);
    let is_named = |(field, entry): &(&str, &str)| match *field {
        "tags" => operation.tags().any(|it| it == *entry),
        "paths" => is_path_named(entry, operation.path),
        _ => operation.id() == Some(entry) || name == *entry,
    };
    include.choices().filter(is_named).collect()
}

/// All operations that a tool can stand for.
fn operations(document: &Document) -> Selection<'_> {
    let mut selection = Selection { operations: Vec::new(), warnings: Vec::new() };
    let mut warn = |tool: &str, message: String| {
        selection.warnings.push(UpstreamWarning { tool: Some(tool.chars().take(200).collect()), message });
    };
    for (path, item) in document.root().get("paths").and_then(Value::as_object).into_iter().flatten() {
        if !path.starts_with('/') {
            // Extensions stand beside the paths.
            if !path.starts_with("x-") {
                warn(path, "Left out: a path begins with /".to_owned());
            }
            continue;
        }
        let item = match document.followed(item) {
            Ok(item) => item,
            Err(fault) => {
                warn(path, format!("Left out: {fault}"));
                continue;
            }
        };
        for (method, value) in item.as_object().into_iter().flatten() {
            match RestMethod::ALL.iter().find(|it| it.as_str().eq_ignore_ascii_case(method)) {
                Some(method) if value.is_object() => {
                    selection.operations.push(Operation { method: *method, path, item, value });
                }
                Some(_) => warn(path, format!("Left out: {method} is no object")),
                None if matches!(method.as_str(), "options" | "trace") => {
                    warn(path, format!("Left out: {} is not sent", method.to_ascii_uppercase()));
                }
                // The other fields of a path are no methods.
                None => {}
            }
        }
    }
    if selection.operations.is_empty() {
        let message = "The document describes no operation".to_owned();
        selection.warnings.push(UpstreamWarning { tool: None, message });
    }
    selection
}

fn too_many(operations: &[Operation<'_>]) -> String {
    let (mut counts, mut untagged) = (HashMap::<&str, usize>::new(), 0);
    for operation in operations {
        operation.tags().for_each(|it| *counts.entry(it).or_default() += 1);
        untagged += usize::from(operation.tags().next().is_none());
    }
    let mut tags = counts.into_iter().collect::<Vec<_>>();
    tags.sort_by(|(one, many), (other, more)| more.cmp(many).then(one.cmp(other)));
    let listed = |(tag, count): &(&str, usize)| format!("{} ({count})", tag.chars().take(64).collect::<String>());
    let mut parts = tags.iter().take(MAX_TAGS).map(listed).collect::<Vec<_>>();
    if tags.len() > MAX_TAGS {
        parts.push(format!("{} more tags", tags.len() - MAX_TAGS));
    }
    if untagged > 0 {
        parts.push(format!("without a tag ({untagged})"));
    }
    format!(
        "The document has {} operations, and at most {MAX_UNCHOSEN} become tools unless `include` names tags, paths or \
         operations. The tags are: {}",
        operations.len(),
        parts.join(", ")
    )
}
