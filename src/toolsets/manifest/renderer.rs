//! The renderer of a tool, in the two forms in which a manifest may give it.

use super::fields::{Faults, Fields, Spot};
use crate::rendering::{Renderer, RendererKind};
use serde_json::{Map, Value};

/// A renderer that keeps the rules.
pub struct GivenRenderer {
    pub kind: RendererKind,
    pub config: Map<String, Value>,
    /// The JSON pointer of the configuration.
    pub pointer: String,
}

/// Reads `renderer: html` with `renderer_config`, or `renderer: {type: html, …}`, of a tool or an override.
pub fn read(fields: &Fields<'_>, faults: &mut Faults<'_>) -> Option<GivenRenderer> {
    let config = fields.get("renderer_config");
    let Some(renderer) = fields.get("renderer") else {
        if let Some(config) = config {
            config.refuse("is given without renderer: code, document, html or frame", faults);
        }
        return None;
    };
    match renderer.value() {
        Value::Object(given) => {
            if let Some(config) = config {
                config.refuse("is given twice: renderer holds its own configuration", faults);
                return None;
            }
            let Some(of_type) = renderer.node.fields().find(|(name, _)| *name == "type") else {
                renderer.refuse_inner("/type", "is missing: code, document, html or frame", faults);
                return None;
            };
            let of_type = Spot { node: of_type.1, pointer: format!("{}/type", renderer.pointer) };
            let kind = of_type.word(faults)?;
            let others = given.iter().filter(|(name, _)| *name != "type");
            checked(kind, others.map(|(name, value)| (name.clone(), value.clone())).collect(), renderer, faults)
        }
        _ => {
            let kind = renderer.word(faults)?;
            let given = match config {
                Some(config) => config.object(faults)?.clone(),
                None => Map::new(),
            };
            checked(kind, given, config.unwrap_or(renderer), faults)
        }
    }
}

fn checked(
    kind: RendererKind,
    config: Map<String, Value>,
    spot: &Spot<'_>,
    faults: &mut Faults<'_>,
) -> Option<GivenRenderer> {
    match Renderer::new(kind, config) {
        Ok(renderer) => Some(GivenRenderer { kind, config: renderer.config().clone(), pointer: spot.pointer.clone() }),
        Err(problems) => {
            for problem in problems {
                let inner = problem.path.strip_prefix("/renderer_config").unwrap_or(&problem.path);
                spot.refuse_inner(inner, problem.message, faults);
            }
            None
        }
    }
}
