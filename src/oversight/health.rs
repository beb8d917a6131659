//! The health of a workspace: the problems that need attention, as alerts.

use super::store;
use crate::callers::Scope;
use crate::db::Figure;
use crate::error::{Error, Result};
use crate::quota;
use crate::registry::{self, Source};
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// A tool with more versions than this causes an alert.
const MAX_VERSIONS: u32 = 100;

/// From which share of its quota on a workspace causes an alert.
const QUOTA_ALERT_PERCENT: u64 = 80;

text_enum! {
    /// The severity of an alert. The status of a workspace is the highest severity of its alerts, or `ok` if there are
    /// none.
    HealthStatus {
        Ok = "ok",
        Warning = "warning",
        Critical = "critical",
    }
}

text_enum! {
    /// The problem that an alert reports.
    #[schema(as = Condition)]
    HealthCondition {
        /// The database is larger than the operator's setting `DATABASE_ALERT_BYTES`.
        DatabaseSize = "database_size",
        /// The workspace stores 80 % or more of what the operator's setting `WORKSPACE_QUOTA_BYTES` allows.
        StorageQuota = "storage_quota",
        /// A tool has more than 100 versions.
        VersionChurn = "version_churn",
        /// An active version's handler is not part of this deployment, or its module or MCP server is not registered.
        MissingTarget = "missing_target",
        /// An active version asks for a credential that is not defined, or whose secret the Worker does not have.
        MissingCredential = "missing_credential",
        /// Versions were deactivated for security. Somebody should investigate the reason.
        SecurityDeactivation = "security_deactivation",
        /// A module did not answer when it was last asked, or not with a description of its tools. Its tools stay as they
        /// were.
        ModuleFailing = "module_failing",
        /// An MCP server did not answer when it was last asked, or not as MCP servers do. Its tools stay as they were.
        McpServerFailing = "mcp_server_failing",
        /// Modules or MCP servers offer definitions that no admin has accepted yet.
        DefinitionsHeldBack = "definitions_held_back",
    }
}

impl HealthCondition {
    const fn severity(self) -> HealthStatus {
        match self {
            Self::MissingTarget | Self::MissingCredential => HealthStatus::Critical,
            Self::DatabaseSize
            | Self::StorageQuota
            | Self::VersionChurn
            | Self::SecurityDeactivation
            | Self::ModuleFailing
            | Self::McpServerFailing
            | Self::DefinitionsHeldBack => HealthStatus::Warning,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct Alert {
    condition: HealthCondition,
    severity: HealthStatus,
    message: String,
    /// The tools, versions, modules or MCP servers that the alert is about: the number of all as `count`, and the first 20. For
    /// `database_size`: `bytes` and `limit_bytes`. For `storage_quota`: `used_bytes` and `quota_bytes`.
    #[schema(value_type = Object)]
    details: Value,
}

impl Alert {
    fn new(condition: HealthCondition, message: String, details: Value) -> Self {
        Self { condition, severity: condition.severity(), message, details }
    }
}

#[derive(Serialize, ToSchema)]
pub struct RegistryHealth {
    status: HealthStatus,
    #[schema(value_type = String, format = DateTime)]
    checked_at: Timestamp,
    /// The size of the whole database: all workspaces share it, or the workspace has one of its own.
    database_bytes: u64,
    /// Empty if no problem was found.
    alerts: Vec<Alert>,
    /// How many registrations were refused in the last 24 hours, by reason.
    #[schema(value_type = BTreeMap<String, u32>)]
    failed_registrations_24h: Map<String, Value>,
}

/// Checks the workspace in two round trips: the second query needs the usable credentials, which come from the first.
pub async fn health(scope: &Scope) -> Result<RegistryHealth> {
    let (workspace, app) = (scope.workspace(), scope.app());
    let [churned, banned, refusals, credentials, usage, failing_modules, failing_servers, held_back] = scope
        .read([
            store::churned_tools(workspace, MAX_VERSIONS),
            store::banned_versions(workspace),
            registry::refusals(workspace, app.now()),
            store::credentials(workspace),
            quota::find(workspace),
            store::failing_upstreams(workspace, Source::Module),
            store::failing_upstreams(workspace, Source::Mcp),
            store::held_back_tools(workspace),
        ])
        .await?;
    scope.caller().await?.must_be_unbound()?;
    let credentials = credentials.figures()?;
    let usable: Vec<&str> =
        credentials.iter().map(|it| it.name.as_str()).filter(|it| app.has_credential(workspace, it)).collect();
    let [broken] = scope.read([store::broken_versions(workspace, &usable)]).await?;

    let database_bytes = broken.database_bytes();
    let (lost, wanting) = broken.figures()?.into_iter().partition(|it| it.more.as_deref() == Some("target"));
    let alerts = [
        database_size(database_bytes, app.settings().database_alert_bytes),
        storage_quota(quota::read(&usage)?.used_bytes(), app.settings().workspace_quota_bytes),
        found(HealthCondition::VersionChurn, churned.figures()?)?,
        found(HealthCondition::MissingTarget, lost)?,
        found(HealthCondition::MissingCredential, wanting)?,
        found(HealthCondition::SecurityDeactivation, banned.figures()?)?,
        found(HealthCondition::ModuleFailing, failing_modules.figures()?)?,
        found(HealthCondition::McpServerFailing, failing_servers.figures()?)?,
        found(HealthCondition::DefinitionsHeldBack, held_back.figures()?)?,
    ];
    let alerts: Vec<Alert> = alerts.into_iter().flatten().collect();
    Ok(RegistryHealth {
        status: alerts.iter().map(|it| it.severity).max().unwrap_or(HealthStatus::Ok),
        checked_at: app.now(),
        database_bytes,
        alerts,
        failed_registrations_24h: refusals.figures()?.into_iter().map(|it| (it.name, it.count.into())).collect(),
    })
}

fn database_size(bytes: u64, limit: u64) -> Option<Alert> {
    (bytes > limit).then(|| {
        let message = format!("The database has {bytes} bytes, more than the {limit} that the operator has set");
        Alert::new(HealthCondition::DatabaseSize, message, json!({"bytes": bytes, "limit_bytes": limit}))
    })
}

fn storage_quota(used: u64, quota: u64) -> Option<Alert> {
    (used.saturating_mul(100) >= quota.saturating_mul(QUOTA_ALERT_PERCENT)).then(|| {
        let message = format!("The workspace stores {used} of {quota} bytes. {}", quota::HOW_TO_FREE);
        Alert::new(HealthCondition::StorageQuota, message, json!({"used_bytes": used, "quota_bytes": quota}))
    })
}

/// Makes the alert about the things that were found. None if nothing was found.
fn found(condition: HealthCondition, things: Vec<Figure>) -> Result<Option<Alert>> {
    let Some(count) = things.first().map(|it| it.count) else { return Ok(None) };
    let named = things.iter().map(|it| serde_json::from_str(&it.name)).collect::<serde_json::Result<Vec<Value>>>();
    let named = named.map_err(|cause| Error::Internal(format!("an alert cannot be read: {cause}")))?;
    let (key, what) = match condition {
        HealthCondition::VersionChurn => ("tools", "Tools with more than 100 versions"),
        HealthCondition::MissingTarget => {
            ("versions", "Active versions with a handler that is not part of this deployment, or without their server")
        }
        HealthCondition::MissingCredential => {
            ("versions", "Active versions with a credential that is not defined, or is no secret of the Worker")
        }
        HealthCondition::SecurityDeactivation => ("versions", "Versions deactivated for security, to be investigated"),
        HealthCondition::ModuleFailing => ("modules", "Modules that do not answer, or not as modules do"),
        HealthCondition::McpServerFailing => {
            ("mcp_servers", "MCP servers that do not answer, or not as MCP servers do")
        }
        HealthCondition::DefinitionsHeldBack => ("tools", "Definitions of others' tools that wait for an admin"),
        HealthCondition::DatabaseSize | HealthCondition::StorageQuota => return Ok(None),
    };
    Ok(Some(Alert::new(condition, format!("{what}: {count}"), json!({"count": count, key: named}))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_found_is_no_alert() {
        assert!(found(HealthCondition::MissingTarget, Vec::new()).unwrap().is_none());
        assert!(database_size(5, 5).is_none() && database_size(6, 5).is_some());
        assert!(storage_quota(799, 1_000).is_none() && storage_quota(800, 1_000).is_some());
    }

    #[test]
    fn an_alert_counts_all_and_names_what_it_has() {
        let name = r#"{"version": "a@1.0.0", "missing": ["KEY"]}"#.to_owned();
        let alert = found(HealthCondition::MissingCredential, vec![Figure { name, count: 7, more: None }]).unwrap();
        assert_eq!(
            json!(alert),
            json!({
                "condition": "missing_credential",
                "severity": "critical",
                "message": "Active versions with a credential that is not defined, or is no secret of the Worker: 7",
                "details": {"count": 7, "versions": [{"version": "a@1.0.0", "missing": ["KEY"]}]},
            })
        );
    }

    #[test]
    fn the_gravest_alert_is_the_status() {
        assert!(HealthStatus::Ok < HealthStatus::Warning && HealthStatus::Warning < HealthStatus::Critical);
    }
}
