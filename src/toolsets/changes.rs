//! What an import adds, changes and removes.

use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The names of things of one kind that differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct NamedChanges {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
}

impl NamedChanges {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// Compares the present things with the wanted ones, by their names.
    pub fn between<T: PartialEq>(present: &BTreeMap<&str, T>, wanted: &BTreeMap<&str, T>) -> Self {
        let mut changes = Self::default();
        for (name, wanted) in wanted {
            match present.get(name) {
                None => changes.added.push((*name).to_owned()),
                Some(present) if present != wanted => changes.changed.push((*name).to_owned()),
                Some(_) => {}
            }
        }
        let removed = present.keys().filter(|it| !wanted.contains_key(*it));
        changes.removed.extend(removed.map(|it| (*it).to_owned()));
        changes
    }
}

#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct ImportChanges {
    /// The ids of tools. A changed tool gets a new version.
    pub tools: NamedChanges,
    /// The paths of files.
    pub files: NamedChanges,
    /// The ids of the tools that the overrides are about.
    pub overrides: NamedChanges,
    pub mcp_servers: NamedChanges,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_no_change() {
        let present = BTreeMap::from([("a", 1), ("b", 1), ("c", 1)]);
        let wanted = BTreeMap::from([("a", 1), ("b", 2), ("d", 1)]);
        let changes = NamedChanges::between(&present, &wanted);
        assert_eq!(
            (changes.added, changes.changed, changes.removed),
            (vec!["d".into()], vec!["b".into()], vec!["c".into()])
        );
    }
}
