//! The figures of one workspace.

use super::store;
use crate::callers::Scope;
use crate::db::Figure;
use crate::error::Result;
use crate::execution::totals;
use crate::quota::{self, Usage};
use crate::registry;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Tools are counted as `GET /api/tools?include_inactive=true` lists them: each tool once, at its current version,
/// including the built-ins. The counts of each `tools_by_…` therefore add up to `total_tools`.
#[derive(Default, Serialize, ToSchema)]
pub struct RegistryStats {
    total_tools: u32,
    active_tools: u32,
    #[schema(value_type = BTreeMap<String, u32>)]
    tools_by_category: Map<String, Value>,
    #[schema(value_type = BTreeMap<String, u32>)]
    tools_by_risk_level: Map<String, Value>,
    #[schema(value_type = BTreeMap<String, u32>)]
    tools_by_execution_mode: Map<String, Value>,
    #[schema(value_type = BTreeMap<String, u32>)]
    tools_by_resource_class: Map<String, Value>,
    #[schema(value_type = BTreeMap<String, u32>)]
    tools_by_source: Map<String, Value>,
    /// Calls that have ended, including refused calls.
    total_executions: u32,
    successful_executions: u32,
    /// Calls that ended as `error` or `denied`.
    failed_executions: u32,
    /// Versions registered in the last 24 hours.
    registrations_24h: u32,
    /// Registrations refused in the last 24 hours. The hour in which these 24 hours began counts as a whole.
    failed_registrations_24h: u32,
    usage: StorageUsage,
    /// The time of the last change in the workspace.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_updated: Option<String>,
}

/// What the workspace stores, in bytes. Rows count with a fixed size.
#[derive(Default, Serialize, ToSchema)]
pub struct StorageUsage {
    /// Files and their history: the older versions of files.
    files_bytes: u64,
    /// The records of calls.
    calls_bytes: u64,
    /// Both together.
    used_bytes: u64,
    /// The most that the workspace may store: the operator's setting `WORKSPACE_QUOTA_BYTES`.
    quota_bytes: u64,
}

impl StorageUsage {
    /// `uncounted_bytes` are those of the calls after the mark.
    fn new(counted: Usage, uncounted_bytes: u32, quota_bytes: u64) -> Self {
        let Usage { files_bytes, calls_bytes } = counted;
        let calls_bytes = calls_bytes + u64::from(uncounted_bytes);
        Self { files_bytes, calls_bytes, used_bytes: files_bytes + calls_bytes, quota_bytes }
    }
}

/// Returns the figures of the workspace, in one round trip.
pub async fn stats(scope: &Scope) -> Result<RegistryStats> {
    let (workspace, now) = (scope.workspace(), scope.app().now());
    let [kinds, ended, changes, refusals, usage] = scope
        .read([
            store::tools_by_kind(workspace),
            totals::ended(workspace),
            store::changes(workspace, now.days_before(1)),
            registry::refusals(workspace, now),
            quota::find(workspace),
        ])
        .await?;
    scope.caller().await?.must_be_unbound()?;
    let mut stats = RegistryStats::default();
    for kind in kinds.figures()? {
        stats.add(&kind);
    }
    let (uncounted, ended) =
        ended.figures()?.into_iter().partition::<Vec<_>, _>(|it| it.name == totals::UNCOUNTED_BYTES);
    for ended in ended {
        stats.total_executions += ended.count;
        match ended.name.as_str() {
            "success" => stats.successful_executions += ended.count,
            _ => stats.failed_executions += ended.count,
        }
    }
    let uncounted_bytes = uncounted.iter().map(|it| it.count).sum();
    let quota_bytes = scope.app().settings().workspace_quota_bytes;
    stats.usage = StorageUsage::new(quota::read(&usage)?, uncounted_bytes, quota_bytes);
    for changes in changes.figures()? {
        stats.registrations_24h = changes.count;
        stats.last_updated = changes.more;
    }
    stats.failed_registrations_24h = refusals.figures()?.iter().map(|it| it.count).sum();
    Ok(stats)
}

impl RegistryStats {
    /// Adds a group of tools that are equal in all counted properties. The name of the group lists these properties.
    fn add(&mut self, kind: &Figure) {
        self.total_tools += kind.count;
        let mut words = kind.name.splitn(6, ' ');
        let mut word = || words.next().unwrap_or_default();
        add(&mut self.tools_by_source, word(), kind.count);
        if word() == "active" {
            self.active_tools += kind.count;
        }
        add(&mut self.tools_by_risk_level, word(), kind.count);
        add(&mut self.tools_by_execution_mode, word(), kind.count);
        add(&mut self.tools_by_resource_class, word(), kind.count);
        add(&mut self.tools_by_category, word(), kind.count);
    }
}

fn add(counts: &mut Map<String, Value>, word: &str, count: u32) {
    let before = counts.get(word).and_then(Value::as_u64).unwrap_or_default();
    counts.insert(word.to_owned(), (before + u64::from(count)).into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_division_adds_up_to_the_total() {
        let mut stats = RegistryStats::default();
        for (name, count) in [
            ("registered active low local control general", 2),
            ("registered inactive low local control general", 1),
            ("mcp active low remote control two words", 4),
        ] {
            stats.add(&Figure { name: name.into(), count, more: None });
        }
        assert_eq!((stats.total_tools, stats.active_tools), (7, 6));
        assert_eq!(json!(stats.tools_by_category), json!({"general": 3, "two words": 4}));
        assert_eq!(json!(stats.tools_by_risk_level), json!({"low": 7}));
        assert_eq!(json!(stats.tools_by_execution_mode), json!({"local": 3, "remote": 4}));
        assert_eq!(json!(stats.tools_by_source), json!({"mcp": 4, "registered": 3}));
    }
}
