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
use crate::rendering::{Renderer, RendererKind};
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
            /// What shows the results of calls; null if the tool has no renderer.
            renderer: Option<RendererKind>,
            /// The configuration of the renderer, with expressions such as `$args.path`.
            #[schema(value_type = Option<Object>)]
            renderer_config: Option<&'static Map<String, Value>>,
            /// Whether calls wait for an approval: `requires_approval`, or the risk is `high` or `critical`. A call of an
            /// older version also waits if the active version needs an approval.
            needs_approval: bool,
            #[schema(value_type = String, format = DateTime)]
            registered_at: Timestamp,
            registered_by: String,
            #[schema(value_type = Option<String>, format = DateTime)]
            deactivated_at: Option<Timestamp>,
            deactivated_reason: Option<DeactivationReason>,
            /// Where and how the tool runs; shown to admins, with header values masked.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schema(nullable = false)]
            handler: Option<Value>,
        }

        impl ToolOut {
            /// `tool` as a caller of that level may see it.
            pub fn seen_by(level: Level, tool: Tool) -> Self {
                Self {
                    handler: (level >= Level::Admin).then(|| masked(&tool)),
                    renderer: tool.renderer().map(Renderer::kind),
                    renderer_config: tool.renderer().map(Renderer::config),
                    needs_approval: tool.needs_approval(),
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
