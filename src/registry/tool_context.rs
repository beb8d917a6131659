//! What holds for a tool besides its versions: the toolset that it belongs to, whether it is switched on, and what its
//! override says. A version never holds any of this, so a change of it needs no new version.

use super::renderers::builtin_renderer;
use super::tool::{Source, Tool};
use crate::ids::SERVER_SEPARATOR;
use crate::rendering::{Renderer, RendererKind};
use crate::time::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The context of a tool that comes from a module, a toolset or an MCP server. Other tools have none.
#[derive(Clone, Debug, Deserialize)]
pub struct ToolContext {
    toolset_id: Option<String>,
    /// Whether the upstream or the toolset of the tool is there and enabled, and no override disables the tool.
    enabled: bool,
    renderer: Option<RendererKind>,
    renderer_config: Option<Map<String, Value>>,
    name: Option<String>,
    description: Option<String>,
    requires_approval: Option<bool>,
    /// Since when the files of the tool's toolset have been as they are.
    #[serde(default)]
    files_since: Option<Timestamp>,
}

impl Tool {
    /// The same version without its context, as the change log and comparisons of versions show it.
    pub fn without_context(&self) -> Self {
        Self { context: None, ..self.clone() }
    }

    /// The name that responses and models are shown: the override's, or else the version's.
    pub fn shown_name(&self) -> &str {
        self.overridden(|it| it.name.as_deref()).unwrap_or(&self.name)
    }

    /// The description that responses and models are shown: the override's, or else the version's.
    pub fn shown_description(&self) -> &str {
        self.overridden(|it| it.description.as_deref()).unwrap_or(&self.description)
    }

    /// Whether calls have to wait for an approval, as far as the risk does not ask for one.
    pub fn asks_for_approval(&self) -> bool {
        self.overridden(|it| it.requires_approval).unwrap_or(self.requires_approval)
    }

    /// Whether the files of the tool's toolset have changed since then. The code is no part of a version.
    pub fn has_other_code_since(&self, time: Timestamp) -> bool {
        self.overridden(|it| it.files_since).is_some_and(|since| since > time)
    }

    fn overridden<'a, T>(&'a self, field: impl Fn(&'a ToolContext) -> Option<T>) -> Option<T> {
        self.context.as_deref().and_then(field)
    }

    /// Whether calls of the tool's active version are possible. A tool of a module, a toolset or an MCP server is only
    /// switched on if it was read with its context.
    pub fn is_switched_on(&self) -> bool {
        match self.source {
            Source::Builtin | Source::Registered => true,
            Source::Module | Source::Toolset | Source::Mcp => self.context.as_ref().is_some_and(|it| it.enabled),
        }
    }

    /// `enabled` of a response. A version without its context, as in the change log, counts as enabled.
    pub fn shown_enabled(&self) -> bool {
        self.context.as_ref().is_none_or(|it| it.enabled)
    }

    /// The toolset that the tool, or the tool's MCP server, belongs to.
    pub fn toolset_id(&self) -> Option<&str> {
        match self.source {
            Source::Toolset => self.own_toolset(),
            Source::Mcp => self.overridden(|it| it.toolset_id.as_deref()),
            Source::Builtin | Source::Registered | Source::Module => None,
        }
    }

    /// The toolset whose function a tool of source `toolset` is: its id up to the colon.
    pub fn own_toolset(&self) -> Option<&str> {
        match self.source {
            Source::Toolset => self.id.as_str().split_once(SERVER_SEPARATOR).map(|(toolset, _)| toolset),
            Source::Builtin | Source::Registered | Source::Module | Source::Mcp => None,
        }
    }

    /// The MCP server that the tool belongs to.
    pub fn server_id(&self) -> Option<&str> {
        match self.source {
            Source::Mcp => self.id.as_str().split_once(SERVER_SEPARATOR).map(|(server, _)| server),
            Source::Builtin | Source::Registered | Source::Module | Source::Toolset => None,
        }
    }

    /// The renderer of the tool's calls.
    pub fn renderer(&self) -> Option<Cow<'static, Renderer>> {
        match self.source {
            Source::Builtin => builtin_renderer(self.id.as_str()).map(Cow::Borrowed),
            Source::Toolset | Source::Mcp => {
                let (kind, config) = self.overridden(|it| it.renderer.zip(it.renderer_config.as_ref()))?;
                // The configuration was checked when it was stored.
                Renderer::new(kind, config.clone()).ok().map(Cow::Owned)
            }
            Source::Registered | Source::Module => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Risk, fixture};
    use serde_json::json;

    fn tool(source: Source, context: Option<Value>) -> Tool {
        let context = context.map(|it| serde_json::from_value(it).unwrap());
        Tool { source, context, ..fixture("kit:plot") }
    }

    #[test]
    fn an_override_replaces_what_it_names() {
        let plain = tool(Source::Toolset, Some(json!({"enabled": true})));
        assert_eq!((plain.shown_name(), plain.shown_description()), (plain.name.as_str(), plain.description.as_str()));
        assert!(plain.renderer().is_none() && !plain.needs_approval() && plain.is_switched_on());
        let context = json!({
            "enabled": true, "name": "Plot", "description": "Draws", "requires_approval": true, "renderer": "html",
            "renderer_config": {"artifact": "a.html"},
        });
        let overridden = tool(Source::Toolset, Some(context));
        assert_eq!((overridden.shown_name(), overridden.shown_description()), ("Plot", "Draws"));
        assert!(overridden.needs_approval());
        assert_eq!(overridden.renderer().unwrap().kind(), RendererKind::Html);
        let version = overridden.without_context();
        assert_eq!((version.shown_name(), version.needs_approval()), (plain.name.as_str(), false));
    }

    #[test]
    fn an_override_lowers_the_approval_but_not_that_of_the_risk() {
        let mut tool = tool(Source::Mcp, Some(json!({"enabled": true, "requires_approval": false})));
        tool.requires_approval = true;
        assert!(!tool.needs_approval());
        tool.risk_level = Risk::High;
        assert!(tool.needs_approval());
    }

    #[test]
    fn only_an_enabled_context_switches_a_tool_of_others_on() {
        for source in [Source::Module, Source::Toolset, Source::Mcp] {
            assert!(!tool(source, None).is_switched_on() && tool(source, None).shown_enabled());
            let is_on = |enabled: bool| tool(source, Some(json!({"enabled": enabled}))).is_switched_on();
            assert_eq!((is_on(true), is_on(false)), (true, false));
        }
        assert!(tool(Source::Registered, None).is_switched_on());
    }

    #[test]
    fn the_id_tells_the_toolset_and_the_server() {
        let of = |source, toolset: Option<&str>| {
            let tool = tool(source, Some(json!({"enabled": true, "toolset_id": toolset})));
            (tool.toolset_id().map(str::to_owned), tool.server_id().map(str::to_owned))
        };
        assert_eq!(of(Source::Toolset, None), (Some("kit".into()), None));
        assert_eq!(of(Source::Mcp, None), (None, Some("kit".into())));
        assert_eq!(of(Source::Mcp, Some("bundle")), (Some("bundle".into()), Some("kit".into())));
        assert_eq!(of(Source::Registered, None), (None, None));
    }
}
