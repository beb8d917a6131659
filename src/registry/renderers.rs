//! The renderers of tools. Only built-ins have one, and theirs are code: a renderer is no part of a version, so a change
//! of it needs no new version, and no row holds it.

use super::handler::Builtin;
use super::tool::Tool;
use crate::rendering::{Renderer, RendererKind};
use crate::text_enum::TextEnum;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// How a call of the built-in is shown.
fn definition(builtin: Builtin) -> Option<(RendererKind, Value)> {
    match builtin {
        Builtin::ReadFile | Builtin::WriteFile => Some((RendererKind::Code, json!({"file": "$args.path"}))),
        Builtin::ExecutePython => Some((RendererKind::Code, json!({"content": "$return", "language": "text"}))),
        Builtin::EmailGet => {
            let content = "# $return.subject\n\n**From:** $return.sender\n\n**Date:** $return.date\n\n$return.body";
            Some((RendererKind::Document, json!({"content": content})))
        }
        Builtin::ListFiles | Builtin::EmailSearch => None,
    }
}

/// The built-ins that have a renderer.
pub fn builtin_renderers() -> &'static [(Builtin, Renderer)] {
    static RENDERERS: LazyLock<Vec<(Builtin, Renderer)>> = LazyLock::new(|| {
        let renderer = |builtin: Builtin| match definition(builtin)? {
            // A test checks that every configuration is good.
            (kind, Value::Object(config)) => Some((builtin, Renderer::new(kind, config).ok()?)),
            _ => None,
        };
        Builtin::ALL.iter().copied().filter_map(renderer).collect()
    });
    &RENDERERS
}

impl Tool {
    /// The renderer of the tool's calls.
    pub fn renderer(&self) -> Option<&'static Renderer> {
        let is_own = |(builtin, _): &&(Builtin, Renderer)| self.is_builtin() && builtin.as_str() == self.id.as_str();
        builtin_renderers().iter().find(is_own).map(|(_, renderer)| renderer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tool::{Source, fixture};

    #[test]
    fn every_configuration_is_good() {
        let defined = Builtin::ALL.iter().filter(|it| definition(**it).is_some());
        assert!(defined.eq(builtin_renderers().iter().map(|(builtin, _)| builtin)));
    }

    #[test]
    fn only_the_built_in_itself_has_its_renderer() {
        let tool = |id: &str, source: Source| Tool { source, ..fixture(id) };
        assert_eq!(tool("read_file", Source::Builtin).renderer().unwrap().kind(), RendererKind::Code);
        assert!(tool("list_files", Source::Builtin).renderer().is_none());
        assert!(tool("read_file", Source::Registered).renderer().is_none());
    }
}
