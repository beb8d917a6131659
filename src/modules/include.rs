//! Which operations of an OpenAPI document become tools, and which hosts get the headers of the module.

use crate::error::{Place, Problem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const MAX_ENTRIES: usize = 1_000;
const MAX_ENTRY_BYTES: usize = 256;

/// An operation becomes a tool if one of the lists `tags`, `paths` and `operations` names it. Without any of them, all
/// operations do, if there are at most 50.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Include {
    /// Tags of operations, to the letter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["issues"]))]
    pub tags: Vec<String>,
    /// Paths of the document, to the letter, such as `/users/{id}`. With `*` at the end: all paths that begin so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["/users/{id}", "/repos/*"]))]
    pub paths: Vec<String>,
    /// Each entry is an `operationId` to the letter, or the part of a tool's id after the module's name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["issues/create"]))]
    pub operations: Vec<String>,
    /// Hosts, with their port if it is unusual, that get the module's headers besides the module's own origin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["uploads.example.com"]))]
    pub hosts: Vec<String>,
}

impl Include {
    /// Returns a problem for each entry that can name nothing, and for each list that is too long.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut add = |path: String, message: String| {
            problems.push(Problem { place: Place::Body, path: format!("/include/{path}"), message });
        };
        for (field, entries) in self.lists() {
            if entries.len() > MAX_ENTRIES {
                add(field.to_owned(), format!("holds {} entries; {MAX_ENTRIES} are allowed", entries.len()));
                continue;
            }
            for (index, entry) in entries.iter().enumerate() {
                if let Some(fault) = fault(field, entry) {
                    add(format!("{field}/{index}"), fault);
                }
            }
        }
        problems
    }

    fn lists(&self) -> [(&'static str, &[String]); 4] {
        [("tags", &self.tags), ("paths", &self.paths), ("operations", &self.operations), ("hosts", &self.hosts)]
    }

    /// Whether the lists choose operations at all.
    pub fn chooses(&self) -> bool {
        !(self.tags.is_empty() && self.paths.is_empty() && self.operations.is_empty())
    }

    /// The entries that choose operations, each with the name of its list.
    pub fn choices(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let choosing = self.lists().into_iter().take(3);
        choosing.flat_map(|(field, entries)| entries.iter().map(move |it| (field, it.as_str())))
    }
}

fn fault(field: &str, entry: &str) -> Option<String> {
    if entry.trim().is_empty() || entry.len() > MAX_ENTRY_BYTES {
        return Some(format!("must have 1 to {MAX_ENTRY_BYTES} bytes"));
    }
    let is_host_byte = |it: u8| it.is_ascii_alphanumeric() || b".-:[]_".contains(&it);
    match field {
        "paths" if !entry.starts_with(['/', '*']) => Some("must begin with /".to_owned()),
        "paths" if entry[..entry.len() - 1].contains('*') => Some("must have no * but at its end".to_owned()),
        "hosts" if !entry.bytes().all(is_host_byte) => {
            Some("must be a host, perhaps with a port, such as api.example.com".to_owned())
        }
        _ => None,
    }
}

/// Whether an entry of `paths` names the path.
pub fn is_path_named(entry: &str, path: &str) -> bool {
    entry.strip_suffix('*').map_or(entry == path, |beginning| path.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_must_be_able_to_name_something() {
        let read = |given| serde_json::from_value::<Include>(given).unwrap();
        let good =
            json!({"tags": ["a b"], "paths": ["/a/{id}", "/b/*", "*"], "operations": ["x/y"], "hosts": ["a.b:1"]});
        assert!(read(good.clone()).check().is_empty());
        assert_eq!(json!(read(good.clone())), good);
        assert!(read(json!({})).check().is_empty() && !read(json!({"hosts": ["a"]})).chooses());
        let bad = read(json!({
            "tags": ["", "x".repeat(257)], "paths": ["a", "/a*b", "/*/*"], "operations": [" "],
            "hosts": ["https://a.example", "a b"],
        }));
        let paths = bad.check().into_iter().map(|it| it.path).collect::<Vec<_>>();
        let expected = ["tags/0", "tags/1", "paths/0", "paths/1", "paths/2", "operations/0", "hosts/0", "hosts/1"];
        assert_eq!(paths, expected.map(|it| format!("/include/{it}")));
        let many = Include { tags: vec!["x".into(); 1_001], ..Include::default() };
        assert_eq!(many.check().len(), 1);
        assert!(serde_json::from_value::<Include>(json!({"tag": []})).is_err());
    }

    #[test]
    fn paths_are_named_to_the_letter_or_by_their_beginning() {
        for (entry, path, expected) in [
            ("/a", "/a", true),
            ("/a", "/a/b", false),
            ("/a/*", "/a/b/c", true),
            ("/a/*", "/a", false),
            ("*", "/a", true),
        ] {
            assert_eq!(is_path_named(entry, path), expected, "{entry} {path}");
        }
    }
}
