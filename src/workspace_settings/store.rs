//! SQL for the table `workspace_settings`. A workspace without a row has the defaults, at revision 0.

use super::{ModelSettings, StoredSettings};
use crate::db::{Condition, Param, Rows, Statement, condition, sql};
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use crate::settings::ModelStreaming;
use serde::Deserialize;
use serde_json::json;

/// The SQL of the default modules of the workspace `?1`, as JSON: a part of other rooms' statements. SQLite evaluates
/// the sub-select once in a statement.
pub const DEFAULT_GUEST_MODULES: &str =
    "coalesce((SELECT default_guest_modules FROM workspace_settings WHERE workspace_id = ?1), '[]')";

/// The columns of the settings, in the order in which [`put`] binds them.
const COLUMNS: &str = "default_guest_modules, model_url, model_name, model_key, model_streaming, context_tokens";

pub fn find(workspace: &WorkspaceId) -> Statement {
    sql(format!("SELECT {COLUMNS}, revision FROM workspace_settings WHERE workspace_id = ?1")).bind(workspace.as_str())
}

pub fn read(rows: &Rows) -> Result<StoredSettings> {
    #[derive(Deserialize)]
    struct Row {
        default_guest_modules: String,
        model_url: Option<String>,
        model_name: Option<String>,
        model_key: Option<String>,
        model_streaming: Option<ModelStreaming>,
        context_tokens: Option<u32>,
        revision: u32,
    }
    let Some(row) = rows.first::<Row>()? else { return Ok(StoredSettings::default()) };
    let default_guest_modules = serde_json::from_str(&row.default_guest_modules)
        .map_err(|cause| Error::Internal(format!("the stored modules cannot be read: {cause}")))?;
    let model = ModelSettings {
        url: row.model_url,
        name: row.model_name,
        sealed_key: row.model_key,
        streaming: row.model_streaming,
        context_tokens: row.context_tokens,
    };
    Ok(StoredSettings { default_guest_modules, model, revision: row.revision })
}

/// True while the settings are at the revision that was read.
pub fn are_at(workspace: &WorkspaceId, revision: u32) -> Condition {
    condition("coalesce((SELECT revision FROM workspace_settings WHERE workspace_id = ?1), 0) = ?2")
        .bind(workspace.as_str())
        .bind(revision)
}

/// Writes the settings, if they are still at the revision that was read.
pub fn put(workspace: &WorkspaceId, settings: &StoredSettings) -> Statement {
    let model = &settings.model;
    sql(format!(
        "REPLACE INTO workspace_settings (workspace_id, {COLUMNS}, revision)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 + 1 WHERE true"
    ))
    .bind(workspace.as_str())
    .bind(json!(settings.default_guest_modules).to_string())
    .bind(model.url.as_deref())
    .bind(model.name.as_deref())
    .bind(model.sealed_key.as_deref())
    .bind(model.streaming.map(ModelStreaming::as_str))
    .bind(model.context_tokens.map_or(Param::Null, Param::from))
    .bind(settings.revision)
    .and(are_at(workspace, settings.revision))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};

    #[test]
    fn only_the_first_of_two_changes_of_one_revision_is_written() {
        let database = migrated(&migrations("db"));
        let workspace = WorkspaceId::parse("w").unwrap();
        let model = ModelSettings {
            url: Some("https://a.example/v1".into()),
            sealed_key: Some("sealed".into()),
            streaming: Some(ModelStreaming::Never),
            context_tokens: Some(8_000),
            ..Default::default()
        };
        let first = StoredSettings { model, ..Default::default() };
        put(&workspace, &first).rows_of(&database).unwrap();
        put(&workspace, &StoredSettings::default()).rows_of(&database).unwrap();
        let rows = find(&workspace).rows_of(&database).unwrap();
        assert_eq!(
            rows,
            [json!({"default_guest_modules": "[]", "model_url": "https://a.example/v1", "model_name": null,
                "model_key": "sealed", "model_streaming": "never", "context_tokens": 8_000, "revision": 1})]
        );
    }
}
