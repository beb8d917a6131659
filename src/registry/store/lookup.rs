//! How a query names a tool: by the tool's id, or by the prefix of an exported name. SQL cannot compute the hash in an
//! exported name, so SQL compares only the prefix.

use crate::db::Param;
use crate::ids::ToolId;

/// The prefix of an id that providers refuse as a name, as in the index tools_by_exported_prefix (0004_registry.sql).
const PREFIX: &str = "substr(replace(replace(t.id, '.', '_'), ':', '_'), 1, 49)";
const NO_NAME: &str = "(length(t.id) > 64 OR t.id GLOB '*[^a-z0-9_-]*' OR t.id GLOB '[^a-z_]*')";

#[derive(Clone, Copy, Debug)]
pub enum ToolLookup<'a> {
    Id(&'a ToolId),
    /// The prefix of an exported name, which may begin with one `_` more than the id. Several tools may match; the hash
    /// tells which of them is meant.
    Prefix(&'a str),
}

impl ToolLookup<'_> {
    /// The table `t` and its joins; `place` is the number of the parameter [`Self::param`]. Each pair of workspace and
    /// prefix is one index seek. With lists of both, SQLite might choose to read all tools of the workspace instead.
    pub fn table(&self, place: u8) -> String {
        match self {
            Self::Id(_) => "tools t".to_owned(),
            Self::Prefix(_) => format!(
                "(SELECT '' AS workspace UNION ALL SELECT ?1)
                 CROSS JOIN (SELECT ?{place} AS prefix UNION ALL SELECT substr(?{place}, 2))
                 CROSS JOIN tools t INDEXED BY tools_by_exported_prefix"
            ),
        }
    }

    /// Selects the keys of the matching tools as the column `tool`. There is always a row: an id without a tool gives
    /// null, and a prefix gives null besides the keys.
    pub fn keys(&self, place: u8) -> String {
        let found = format!("SELECT key FROM {} WHERE {}", self.table(place), self.condition(place));
        match self {
            Self::Id(_) => format!("SELECT ({found}) AS tool"),
            Self::Prefix(_) => format!("SELECT NULL AS tool UNION ALL {found}"),
        }
    }

    /// True for the matching tools `t` of the workspace `?1` and for matching built-ins.
    pub fn condition(&self, place: u8) -> String {
        match self {
            Self::Id(_) => format!("t.workspace_id IN ('', ?1) AND t.id = ?{place}"),
            Self::Prefix(_) => format!("t.workspace_id = workspace AND {PREFIX} = prefix AND {NO_NAME}"),
        }
    }

    pub fn param(&self) -> Param {
        match self {
            Self::Id(id) => id.as_str().into(),
            Self::Prefix(prefix) => (*prefix).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use crate::db::sql;

    /// SQLite's plans depend on its statistics. These statistics have led SQLite to a bad plan: they say that there are
    /// few such tools in total.
    #[test]
    fn a_name_is_one_seek_whatever_the_statistics_are() {
        let database = migrated(&migrations("db"));
        for workspace in 0..40 {
            let ids = (0..40).map(|it| format!("other-{it}")).chain(["kit:list".to_owned()]);
            for id in ids {
                let row = (format!("w{workspace}"), id);
                let insert = "INSERT INTO tools (workspace_id, id, source, created_at) VALUES (?1, ?2, 'toolset', '')";
                database.execute(insert, row).unwrap();
            }
        }
        database.execute_batch("ANALYZE").unwrap();
        let sought = ToolLookup::Prefix("kit_list");
        let keys = || sql(sought.keys(2)).bind("w7").bind(sought.param());
        assert_eq!(keys().rows_of(&database).unwrap().len(), 2, "the tool, and null");
        let plan = sql(format!("EXPLAIN QUERY PLAN {}", sought.keys(2))).bind("w7").bind(sought.param());
        let plan = serde_json::json!(plan.rows_of(&database).unwrap()).to_string();
        assert!(plan.contains("SEARCH t USING INDEX tools_by_exported_prefix (workspace_id=? AND <expr>=?)"), "{plan}");
    }
}
