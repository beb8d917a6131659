//! The renderers of built-ins. They are code: a renderer is no part of a version, so a change of it needs no new version,
//! and no row holds it. Other tools have the renderers of their overrides.

use super::handler::Builtin;
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

/// The renderer of the built-in with this id.
pub fn builtin_renderer(id: &str) -> Option<&'static Renderer> {
    builtin_renderers().iter().find(|(builtin, _)| builtin.as_str() == id).map(|(_, renderer)| renderer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tool::{Source, Tool, fixture};

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
