//! The columns that a tool is read from and written to.

use super::context::{ToolOwner, shown_context};
use crate::callers::Level;
use crate::error::{Error, Result};
use crate::registry::fields::version_fields;
use crate::registry::shown_schema::SchemaForm;
use crate::registry::stored::{ColumnValue, ShownAs};
use crate::registry::tool::{
    DeactivationReason, Example, ExecutionMode, ResourceClass, Risk, RollbackStrategy, SideEffect, Tool,
};
use crate::text_enum::TextEnum;
use crate::time::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::LazyLock;

macro_rules! columns {
    (own { $($own:ident: $own_type:tt;)* }
     shared { $($shared:ident: ($($type:tt)*), given $attributes:tt $given:tt $decide:expr, shown $shown:tt;)* }) => {
        /// The columns of a [`Tool`], from `tools t` joined to `tool_versions v`.
        pub const TOOL_COLUMNS: &str = concat!(
            "t.key, t.id, t.source, t.created_at, v.major || '.' || v.minor || '.' || v.patch AS version,
             v.handler_key, v.handler",
            $(", v.", stringify!($own),)*
            $(", v.", stringify!($shared),)*
        );

        /// All columns of a version except its keys.
        const VERSION_COLUMNS: [&str; 5 + [$(stringify!($own),)* $(stringify!($shared)),*].len()] =
            ["major", "minor", "patch", "handler_key", "handler", $(stringify!($own),)* $(stringify!($shared)),*];

        /// The SQL of the fields of a [`ShownTool`](crate::registry::shown::ShownTool), as JSON objects. Together the objects
        /// have the same fields in the same order as the JSON of [`ToolOut`](crate::registry::ToolOut), except for the
        /// handler. The override `o` is joined as in [`OVERRIDE_JOIN`](super::context::OVERRIDE_JOIN).
        ///
        /// SQLite writes this JSON, because a row of few texts passes D1 and the Worker in a fraction of the time that a
        /// row of thirty columns takes.
        fn shown_fields(schemas: SchemaForm, owner: ToolOwner) -> Vec<String> {
            let overridden = |column: &str| match owner {
                ToolOwner::Any => format!("coalesce(o.{column}_override, v.{column})"),
                ToolOwner::None => format!("v.{column}"),
            };
            let fields: [String; SHOWN_FIELDS] = [
                shown::<String>("t.id"),
                format!("'name', {}", overridden("name")),
                format!("'description', {}", overridden("description")),
                shown_schema("v.parameters_schema", schemas),
                shown::<String>("v.handler_key"),
                shown::<String>("v.category"),
                shown::<Timestamp>("t.created_at"),
                "'version', v.major || '.' || v.minor || '.' || v.patch".to_owned(),
                shown::<bool>("v.active"),
                shown::<String>("t.source"),
                shown_schema("v.returns_schema", schemas),
                $(shown::<$($type)*>(concat!("v.", stringify!($shared))),)*
                needs_approval(owner),
                shown::<Timestamp>("v.registered_at"),
                shown::<String>("v.registered_by"),
                shown::<Option<Timestamp>>("v.deactivated_at"),
                shown::<Option<DeactivationReason>>("v.deactivated_reason"),
            ];
            let parts = fields.chunks(FIELDS_OF_PART);
            let parts = parts.map(|fields| format!("json_object({})", fields.join(", ")));
            parts.chain([shown_context(owner)]).collect()
        }

        const SHOWN_FIELDS: usize = 16 + [$(stringify!($shared)),*].len();

        /// The columns of a version by name, and the id of its tool.
        fn cells(tool: &Tool) -> serde_json::Result<Map<String, Value>> {
            let mut cells = Map::new();
            cells.insert("tool_id".into(), tool.id.as_str().into());
            cells.insert("major".into(), tool.version.major.into());
            cells.insert("minor".into(), tool.version.minor.into());
            cells.insert("patch".into(), tool.version.patch.into());
            cells.insert("handler_key".into(), tool.handler_key.as_str().into());
            cells.insert("handler".into(), tool.handler.written()?);
            $(cells.insert(stringify!($own).into(), tool.$own.written()?);)*
            $(cells.insert(stringify!($shared).into(), tool.$shared.written()?);)*
            Ok(cells)
        }
    };
}

version_fields!(columns);

/// The SQL of the fields of a shown tool, with its schemas in this form.
pub fn shown_tool(schemas: SchemaForm) -> &'static [String] {
    static TEXT: LazyLock<Vec<String>> = LazyLock::new(|| shown_fields(SchemaForm::Text, ToolOwner::Any));
    static OBJECT: LazyLock<Vec<String>> = LazyLock::new(|| shown_fields(SchemaForm::Object, ToolOwner::Any));
    match schemas {
        SchemaForm::Text => &TEXT,
        SchemaForm::Object => &OBJECT,
    }
}

/// The same for a built-in or a registered tool, whose statement is half as long and joins no override.
pub fn shown_own_tool(schemas: SchemaForm) -> &'static [String] {
    static TEXT: LazyLock<Vec<String>> = LazyLock::new(|| shown_fields(SchemaForm::Text, ToolOwner::None));
    static OBJECT: LazyLock<Vec<String>> = LazyLock::new(|| shown_fields(SchemaForm::Object, ToolOwner::None));
    match schemas {
        SchemaForm::Text => &TEXT,
        SchemaForm::Object => &OBJECT,
    }
}

/// D1 allows 32 arguments of a function, and a field of `json_object` takes two.
const FIELDS_OF_PART: usize = 16;

/// The number of JSON objects that the fields of a shown tool take. The last one is the tool's context.
pub const SHOWN_PARTS: usize = SHOWN_FIELDS.div_ceil(FIELDS_OF_PART) + 1;

/// The name of a column and its value as a response shows it, for `json_object`.
fn shown<T: ColumnValue>(column: &str) -> String {
    let name = column.split_once('.').map_or(column, |(_, name)| name);
    match T::SHOWN_AS {
        ShownAs::Unchanged => format!("'{name}', {column}"),
        ShownAs::Boolean => format!("'{name}', json(iif({column}, 'true', 'false'))"),
        ShownAs::JsonOfText => format!("'{name}', json({column})"),
    }
}

/// What [`Tool::needs_approval`] says, for `json_object`.
fn needs_approval(owner: ToolOwner) -> String {
    let risks = Risk::ALL.iter().filter(|it| it.always_needs_approval()).map(|it| format!("'{it}'"));
    let risks = risks.collect::<Vec<_>>().join(", ");
    let asks = match owner {
        ToolOwner::Any => "coalesce(o.requires_approval, v.requires_approval)",
        ToolOwner::None => "v.requires_approval",
    };
    format!("'needs_approval', json(iif({asks} OR v.risk_level IN ({risks}), 'true', 'false'))")
}

/// The name of a column with the text of a schema, and the schema in this form, for `json_object`.
fn shown_schema(column: &str, form: SchemaForm) -> String {
    match form {
        SchemaForm::Text => shown::<Option<String>>(column),
        SchemaForm::Object => shown::<Box<RawValue>>(column),
    }
}

/// The credentials that a version asks for and its workspace does not define; null if the version asks for none. This
/// is an additional column of a [`Tool`], for decisions about one tool. In lists, this column would cost more than it
/// is worth.
pub const MISSING_CREDENTIALS: &str = "iif(v.credentials_required = '[]', NULL, (
    SELECT json_group_array(c.value) FROM json_each(v.credentials_required) c WHERE NOT EXISTS (
      SELECT 1 FROM credentials d WHERE d.workspace_id = t.workspace_id AND d.id = c.value))) AS missing_credentials";

/// The [policy](crate::registry::policy::Policy) of the tool's current version: the active version, or the highest one
/// if none is active. This is an additional column of a [`Tool`], for calls of a version by its number. A primary key
/// finds the row, so the column costs one row.
pub const CURRENT_POLICY: &str = "(
    SELECT json_object('active', json(iif(cv.active, 'true', 'false')), 'risk_level', cv.risk_level,
      'required_permission', cv.required_permission, 'required_capabilities', json(cv.required_capabilities),
      'requires_approval', json(iif(cv.requires_approval, 'true', 'false')), 'rate_limit', cv.rate_limit)
    FROM tool_versions cv WHERE cv.key = t.current_version_key) AS current_policy";

/// Adds versions to existing tools of the workspace `?1`. `versions` is the SQL of an array of [`version_json`].
pub fn insert_versions(versions: &str) -> String {
    let values = VERSION_COLUMNS.map(|it| format!("it.value ->> '{it}'")).join(", ");
    format!(
        "INSERT INTO tool_versions (workspace_id, tool_key, {})
         SELECT ?1, t.key, {values} FROM json_each({versions}) it
         CROSS JOIN tools t ON t.workspace_id = ?1 AND t.id = it.value ->> 'tool_id'",
        VERSION_COLUMNS.join(", ")
    )
}

/// A version as [`insert_versions`] takes it.
pub fn version_json(tool: &Tool) -> Result<Value> {
    let cells = cells(tool);
    cells.map(Value::Object).map_err(|cause| Error::Internal(format!("a part of {} is not JSON: {cause}", tool.id)))
}
