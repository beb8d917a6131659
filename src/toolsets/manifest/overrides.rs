//! What a manifest says about tools besides their declarations: renderers, names, descriptions, approvals.

use super::fields::{Faults, Fields, Ids, Shape, Spot};
use super::places::Places;
use super::renderer::{self, GivenRenderer};
use super::tool::{MAX_DESCRIPTION_CHARS, ReadTool, is_tool_name};
use crate::error::shortened;
use crate::ids::{SERVER_SEPARATOR, ToolId, ToolsetId};
use crate::rendering::RendererKind;
use serde_json::{Map, Value};

const SHAPE: Shape = Shape {
    noun: "an override",
    fields: &[
        "tool_id",
        "renderer",
        "renderer_config",
        "name_override",
        "description_override",
        "requires_confirmation",
        "enabled",
    ],
    aliases: &[("requires_approval", "requires_confirmation")],
};

/// What a toolset says about a tool of its own, or of one of its MCP servers. What is not given stays as the tool has it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredOverride {
    /// `toolset:tool` or `server:tool`. A manifest may leave out the toolset's own id and the colon.
    pub tool_id: ToolId,
    /// What shows the results of calls: code, document, html or frame.
    pub renderer: Option<RendererKind>,
    /// The configuration of the renderer. It is given with `renderer` and only then.
    pub renderer_config: Option<Map<String, Value>>,
    /// Another name for people: 1 to 200 characters on one line.
    pub name_override: Option<String>,
    /// Another description, for models: at most 8,192 characters.
    pub description_override: Option<String>,
    /// Whether each call needs an approval. `requires_confirmation` in the manifest.
    pub requires_approval: Option<bool>,
    /// The tool cannot be called if this is false.
    pub enabled: Option<bool>,
}

impl DeclaredOverride {
    fn of(tool_id: ToolId) -> Self {
        Self {
            tool_id,
            renderer: None,
            renderer_config: None,
            name_override: None,
            description_override: None,
            requires_approval: None,
            enabled: None,
        }
    }

    fn show_with(&mut self, renderer: Option<GivenRenderer>, places: &mut Places) {
        let Some(GivenRenderer { kind, config, pointer }) = renderer else { return };
        (self.renderer, self.renderer_config) = (Some(kind), Some(config));
        places.renderers.insert(self.tool_id.as_str().to_owned(), pointer);
    }

    /// The path of the page that the renderer `html` shows, without a leading `./`.
    pub fn artifact(&self) -> Option<&str> {
        let config = self.renderer_config.as_ref().filter(|_| self.renderer == Some(RendererKind::Html))?;
        let path = config.get("artifact")?.as_str()?;
        Some(path.strip_prefix("./").unwrap_or(path))
    }
}

/// The ids that the manifest's overrides may name.
pub struct Declared<'a> {
    /// None if the toolset's id could not be read.
    pub toolset: Option<&'a ToolsetId>,
    pub tools: &'a Ids,
    pub servers: &'a Ids,
}

/// Reads an override. None if its tool is none of the bundle's.
pub fn read(
    spot: Spot<'_>,
    declared: &Declared<'_>,
    ids: &mut Ids,
    places: &mut Places,
    faults: &mut Faults<'_>,
) -> Option<DeclaredOverride> {
    let fields = Fields::of(spot, &SHAPE, faults)?;
    let tool_id = read_tool_id(&fields, declared, ids, faults);
    let renderer = renderer::read(&fields, faults);
    let name_override = fields.name("name_override", faults);
    let description_override = fields.description("description_override", MAX_DESCRIPTION_CHARS, faults);
    let requires_approval = fields.flag("requires_confirmation", faults);
    let enabled = fields.flag("enabled", faults);
    let base = DeclaredOverride::of(tool_id?);
    let mut it = DeclaredOverride { name_override, description_override, requires_approval, enabled, ..base };
    it.show_with(renderer, places);
    Some(it)
}

fn read_tool_id(
    fields: &Fields<'_>,
    declared: &Declared<'_>,
    ids: &mut Ids,
    faults: &mut Faults<'_>,
) -> Option<ToolId> {
    let spot = fields.required("tool_id", faults)?;
    let text = spot.text(faults)?;
    // Without the toolset's id nobody knows which tools are its own.
    let toolset = declared.toolset?;
    let id = match resolve(text, toolset, declared, faults) {
        Ok(id) => id,
        Err(message) => {
            spot.refuse(message, faults);
            return None;
        }
    };
    ids.take(id.as_str(), &fields.spot, spot, faults).then_some(id)
}

/// The whole id of the tool that an override names, or the reason why the override cannot name it.
fn resolve(text: &str, toolset: &ToolsetId, declared: &Declared<'_>, faults: &Faults<'_>) -> Result<ToolId, String> {
    let (owner, tool) = text.split_once(SERVER_SEPARATOR).unwrap_or((toolset.as_str(), text));
    if owner == toolset.as_str() {
        if !declared.tools.0.contains_key(tool) {
            let meant = faults.suggest(tool, declared.tools.0.keys().map(String::as_str));
            return Err(format!("{} is no tool of this toolset{meant}", shortened(tool)));
        }
    } else if !declared.servers.0.contains_key(owner) {
        return Err(format!(
            "{} is a tool of others: a toolset overrides its own tools and those of its own MCP servers",
            shortened(text)
        ));
    }
    let id = ToolId::parse(&format!("{owner}{SERVER_SEPARATOR}{tool}")).filter(|_| is_tool_name(tool));
    id.ok_or_else(|| "must name a tool by 1 to 128 letters, digits, _, . and -".to_owned())
}

/// Turns what a tool says about its renderer, and whether it is enabled, into an override. An override of its own says
/// it first.
pub fn add_of_tool(
    tool: ReadTool<'_>,
    toolset: &ToolsetId,
    overrides: &mut Vec<DeclaredOverride>,
    places: &mut Places,
) {
    let id = tool.id.and_then(|own| ToolId::parse(&format!("{toolset}{SERVER_SEPARATOR}{own}")));
    let Some(id) = id.filter(|_| tool.renderer.is_some() || tool.enabled.is_some()) else { return };
    let at = overrides.iter().position(|it| it.tool_id == id).unwrap_or_else(|| {
        overrides.push(DeclaredOverride::of(id));
        overrides.len() - 1
    });
    let present = &mut overrides[at];
    if let Some(given) = &tool.renderer
        && present.renderer.is_some()
    {
        let is_same = present.renderer == Some(given.kind) && present.renderer_config.as_ref() == Some(&given.config);
        warn_if(!is_same, &format!("{}/renderer", tool.spot.pointer), places);
    } else {
        present.show_with(tool.renderer, places);
    }
    match (present.enabled, tool.enabled) {
        (Some(one), Some(other)) => warn_if(one != other, &format!("{}/enabled", tool.spot.pointer), places),
        (None, given) => present.enabled = given,
        (Some(_), None) => {}
    }
}

fn warn_if(differs: bool, pointer: &str, places: &mut Places) {
    if differs {
        let warning = places.note(pointer, "is not used: the tool's override in tool_overrides says otherwise");
        places.warnings.push(warning);
    }
}
