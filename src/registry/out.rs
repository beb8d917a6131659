//! The fields of a tool in a response.

use super::fields::version_fields;
use super::handler::Handler;
#[cfg(not(target_arch = "wasm32"))]
use super::shown_schema::described;
use super::shown_schema::{SchemaForm, ShownSchema};
use super::tool::{
    DeactivationReason, Example, ExecutionMode, ResourceClass, Risk, RollbackStrategy, SideEffect, Source, Tool,
};
use crate::callers::Level;
use crate::rendering::RendererKind;
use crate::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

macro_rules! tool_out {
    (own { $($own:ident: $own_type:tt;)* }
     shared { $($shared:ident: ($($type:tt)*), given $attributes:tt $given:tt $decide:expr, shown [$($shown:tt)*];)* }) => {
        #[derive(Serialize, ToSchema)]
        pub struct ToolOut {
            #[schema(example = "email_search")]
            id: String,
            #[schema(example = "Search Emails")]
            name: String,
            description: String,
            #[cfg_attr(not(target_arch = "wasm32"), schema(schema_with = described::parameters_shown))]
            #[cfg_attr(target_arch = "wasm32", schema(value_type = Value))]
            parameters_schema: ShownSchema,
            #[schema(example = "email_search")]
            handler_key: String,
            #[schema(example = "email")]
            category: String,
            #[schema(value_type = String, format = DateTime)]
            created_at: Timestamp,
            #[schema(example = "1.0.0")]
            version: String,
            active: bool,
            source: Source,
            #[cfg_attr(not(target_arch = "wasm32"), schema(schema_with = described::returns_shown))]
            #[cfg_attr(target_arch = "wasm32", schema(value_type = Value))]
            returns_schema: ShownSchema,
            $($($shown)* $shared: $($type)*,)*
            /// Whether calls wait for an approval: `requires_approval` of the override or else of the version, or the risk
            /// is `high` or `critical`. A call of an older version also waits if the active version needs an approval.
            needs_approval: bool,
            #[schema(value_type = String, format = DateTime)]
            registered_at: Timestamp,
            registered_by: String,
            #[schema(value_type = Option<String>, format = DateTime)]
            deactivated_at: Option<Timestamp>,
            deactivated_reason: Option<DeactivationReason>,
            /// The toolset that the tool, or its MCP server, belongs to.
            toolset_id: Option<String>,
            /// The MCP server that the tool belongs to.
            server_id: Option<String>,
            /// The module that the tool belongs to.
            module: Option<String>,
            /// What shows the results of calls; null if the tool has no renderer.
            renderer: Option<RendererKind>,
            /// The configuration of the renderer, with expressions such as `$args.path`.
            #[schema(value_type = Option<Object>)]
            renderer_config: Option<Map<String, Value>>,
            /// False if the tool's override, toolset, MCP server or module is disabled: calls are then refused as
            /// TOOL_DISABLED. `active` tells whether the version itself can be called.
            enabled: bool,
            /// Where and how the tool runs; shown to admins, with header values masked.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schema(nullable = false)]
            handler: Option<Value>,
        }

        impl ToolOut {
            /// `tool` as a caller of that level may see it.
            pub fn seen_by(level: Level, mut tool: Tool) -> Self {
                let renderer = tool.renderer();
                (tool.name, tool.description) = (tool.shown_name().to_owned(), tool.shown_description().to_owned());
                Self {
                    handler: (level >= Level::Admin).then(|| masked(&tool)),
                    needs_approval: tool.needs_approval(),
                    toolset_id: tool.toolset_id().map(str::to_owned),
                    server_id: tool.server_id().map(str::to_owned),
                    module: tool.module_name().map(str::to_owned),
                    renderer: renderer.as_ref().map(|it| it.kind()),
                    renderer_config: renderer.map(|it| it.into_owned().into_config()),
                    enabled: tool.shown_enabled(),
                    id: tool.id.to_string(),
                    handler_key: tool.handler_key,
                    created_at: tool.created_at,
                    version: tool.version.to_string(),
                    source: tool.source,
                    $($own: tool.$own.into(),)*
                    $($shared: tool.$shared,)*
                }
            }
        }
    };
}

version_fields!(tool_out);

impl ToolOut {
    /// The version itself as admins see it, without what holds for its tool besides.
    pub fn of_version(tool: &Tool) -> Self {
        Self::seen_by(Level::Admin, tool.without_context())
    }

    /// The same tool with its schemas in this form.
    pub fn with_schemas(self, form: SchemaForm) -> Self {
        let (parameters_schema, returns_schema) =
            (self.parameters_schema.in_form(form), self.returns_schema.in_form(form));
        Self { parameters_schema, returns_schema, ..self }
    }
}

/// Returns the handler without header values. A stored handler is always readable; an unreadable one would be shown as
/// null.
fn masked(tool: &Tool) -> Value {
    Handler::of(tool).map_or(Value::Null, |it| it.masked())
}
