//! Workspaces that have an object although `STORAGE` is `d1`: the setting was changed back. Their rows must not seem lost, so
//! they are refused. An isolate looks once for each workspace, in the first batch about the workspace. `STORAGE` changes
//! only with a deployment, which begins with new isolates.

use super::store;
use crate::db::Statement;
use crate::ids::WorkspaceId;
use std::cell::RefCell;
use std::collections::HashSet;

/// How many workspaces an isolate remembers before it forgets all of them.
const MOST: usize = 10_000;

thread_local! {
    static WITHOUT_OBJECT: RefCell<HashSet<String>> = RefCell::default();
}

/// The look, as a statement that fails its batch if the workspace has an object. None if the isolate has looked before.
pub fn look(workspace: &WorkspaceId) -> Option<Statement> {
    let is_known = WITHOUT_OBJECT.with_borrow(|known| known.contains(workspace.as_str()));
    (!is_known).then(|| store::refuse_object(workspace))
}

/// Remembers that a batch with the look has not failed.
pub fn remember(workspace: &WorkspaceId) {
    WITHOUT_OBJECT.with_borrow_mut(|known| {
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(workspace.as_str().to_owned());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::HAS_OBJECT;
    use crate::db::native::{migrated, migrations};

    #[test]
    fn a_workspace_with_an_object_is_refused() {
        let database = migrated(&migrations("db"));
        let workspace = WorkspaceId::parse("ws").unwrap();
        assert!(look(&workspace).unwrap().rows_of(&database).is_ok());
        database
            .execute("INSERT INTO directory VALUES ('ws', '[]', '2026-11-01T00:00:00.000Z'), ('other', '[]', '')", [])
            .unwrap();
        let refused = look(&workspace).unwrap().rows_of(&database).unwrap_err();
        assert!(refused.to_string().contains(HAS_OBJECT), "{refused}");
        assert!(look(&WorkspaceId::parse("new").unwrap()).unwrap().rows_of(&database).is_ok());
    }

    #[test]
    fn an_isolate_looks_once() {
        let workspace = WorkspaceId::parse("seen").unwrap();
        remember(&workspace);
        assert!(look(&workspace).is_none());
        for number in 0..MOST {
            remember(&WorkspaceId::parse(&format!("w{number}")).unwrap());
        }
        assert!(look(&workspace).is_some(), "the memory has a bound");
    }
}
