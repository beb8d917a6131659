//! The manifest of a bundle, `toolset.yaml`: read strictly, with the line and the JSON pointer of every fault, and written
//! anew for exports. Pure.
//!
//! | file | contents |
//! |---|---|
//! | `fields` | the fields of the manifest's objects: names, types, faults |
//! | `places` | the lines of the manifest's parts, for faults that are found later |
//! | `tool`, `entrypoint` | the tools |
//! | `overrides`, `renderer` | what the manifest says about tools besides |
//! | `server` | the MCP servers |
//! | `write` | the manifest as YAML |

mod entrypoint;
mod fields;
mod overrides;
mod places;
#[cfg(test)]
mod random;
mod renderer;
mod server;
#[cfg(test)]
mod tests;
mod tool;
mod write;

pub use overrides::DeclaredOverride;
pub use places::Places;
pub use server::DeclaredServer;
pub use tool::DeclaredTool;

use super::ToolsetVersion;
use crate::error::BundleNote;
use crate::ids::ToolsetId;
use crate::text_enum::{TextEnum, text_enum};
use crate::yaml::read_located;
use fields::{Faults, Fields, Ids, Shape, Spot};
use overrides::Declared;
use serde_json::Value;
use std::rc::Rc;

const MAX_TOOLS: usize = 200;
const MAX_SERVERS: usize = 50;
const MAX_OVERRIDES: usize = 400;

/// The longest description of a toolset, in characters.
const MAX_DESCRIPTION_CHARS: usize = 500;

/// The most values of a manifest. Each takes some 100 bytes of memory.
const MAX_VALUES: usize = 100_000;

const SHAPE: Shape = Shape {
    noun: "the manifest",
    fields: &["manifest_version", "id", "name", "version", "description", "tools", "tool_overrides", "mcp_servers"],
    aliases: &[],
};

text_enum! {
    /// The version of the manifest's own form.
    ManifestVersion {
        One = "1",
    }
}

/// What a bundle says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The version of the manifest's own form: `"1"`.
    pub manifest_version: ManifestVersion,
    /// The id of the toolset: 1 to 64 lower-case letters, digits, `_` and `-`. The ids of its tools begin with it and a
    /// colon.
    pub id: ToolsetId,
    /// The name for people: 1 to 200 characters on one line.
    pub name: String,
    /// A semantic version, such as `1.0.0`. It is a text, so it stands in quotes if it looks like a number.
    pub version: ToolsetVersion,
    /// What the toolset is for: at most 500 characters. Empty, if not given.
    pub description: String,
    /// The Python tools, at most 200.
    pub tools: Vec<DeclaredTool>,
    /// What the toolset says about its tools besides, at most 400. `renderer` and `enabled` of a tool are here too.
    pub tool_overrides: Vec<DeclaredOverride>,
    /// The MCP servers that are installed with the toolset, at most 50.
    pub mcp_servers: Vec<DeclaredServer>,
    /// Where all of this stands in the text.
    pub places: Places,
}

impl Manifest {
    /// Reads a manifest, and finds every fault. With faults, the manifest holds what could be read, for further checks
    /// that find more of them; it must not be installed. There is none without an id.
    pub fn read(file: &str, text: &str) -> (Option<Self>, Vec<BundleNote>) {
        let document = match read_located(text, MAX_VALUES) {
            Ok(document) => Rc::new(document),
            Err(fault) => {
                let note = BundleNote {
                    file: Some(file.to_owned()),
                    line: Some(fault.line),
                    path: None,
                    message: format!("is not YAML that can be read: {}", fault.message),
                };
                return (None, vec![note]);
            }
        };
        let mut faults = Faults::new(file);
        let mut places = Places::of(file, document.clone());
        let root = Spot { node: document.root(), pointer: String::new() };
        let manifest = Fields::of(root, &SHAPE, &mut faults).and_then(|it| read_root(&it, &mut places, &mut faults));
        (manifest.map(|it| Self { places, ..it }), faults.into_notes())
    }

    /// A note about the part at a JSON pointer, with its line, or that of the nearest part that there is.
    pub fn note(&self, pointer: &str, message: impl Into<String>) -> BundleNote {
        self.places.note(pointer, message)
    }

    /// What the author should know, although nothing is wrong.
    pub fn warnings(&self) -> &[BundleNote] {
        &self.places.warnings
    }

    /// The JSON pointer of a tool in the text, by its id in the toolset.
    pub fn tool_pointer(&self, id: &str) -> &str {
        self.places.tools.get(id).map_or("/tools", String::as_str)
    }

    /// The JSON pointer of an MCP server in the text.
    pub fn server_pointer(&self, id: &str) -> &str {
        self.places.servers.get(id).map_or("/mcp_servers", String::as_str)
    }

    /// The files that renderers show: their paths in the bundle, and the JSON pointers of these paths.
    pub fn artifacts(&self) -> impl Iterator<Item = (String, &str)> {
        self.tool_overrides.iter().filter_map(|it| {
            let config = self.places.renderers.get(it.tool_id.as_str()).map_or("/tool_overrides", String::as_str);
            Some((format!("{config}/artifact"), it.artifact()?))
        })
    }
}

fn read_root(fields: &Fields<'_>, places: &mut Places, faults: &mut Faults<'_>) -> Option<Manifest> {
    read_manifest_version(fields, faults);
    let id = read_id(fields, faults);
    let name = fields.required("name", faults).and_then(|it| it.name(faults));
    let version = read_version(fields, faults);
    let description = fields.description("description", MAX_DESCRIPTION_CHARS, faults).unwrap_or_default();

    let [mut tool_ids, mut server_ids, mut override_ids] = [(); 3].map(|()| Ids::default());
    let tools = fields.items("tools", MAX_TOOLS, faults);
    let read_tools = tools.into_iter().filter_map(|it| tool::read(it, &mut tool_ids, faults)).collect::<Vec<_>>();
    let servers = fields.items("mcp_servers", MAX_SERVERS, faults);
    let of_toolset = id.as_ref().map(ToolsetId::as_str);
    let mcp_servers =
        servers.into_iter().filter_map(|it| server::read(it, of_toolset, &mut server_ids, faults)).collect::<Vec<_>>();
    let declared = Declared { toolset: id.as_ref(), tools: &tool_ids, servers: &server_ids };
    let overrides = fields.items("tool_overrides", MAX_OVERRIDES, faults);
    let mut tool_overrides = overrides
        .into_iter()
        .filter_map(|it| overrides::read(it, &declared, &mut override_ids, places, faults))
        .collect::<Vec<_>>();
    (places.tools, places.servers) = (tool_ids.0, server_ids.0);

    let id = id?;
    let mut tools = Vec::new();
    for mut read in read_tools {
        tools.extend(read.tool.take());
        overrides::add_of_tool(read, &id, &mut tool_overrides, places);
    }
    if places.tools.is_empty() && places.servers.is_empty() {
        let warning = places.note("", "The toolset has neither tools nor MCP servers");
        places.warnings.push(warning);
    }
    Some(Manifest {
        manifest_version: ManifestVersion::One,
        name: name.unwrap_or_else(|| id.to_string()),
        id,
        version: version.or_else(|| ToolsetVersion::parse("0.0.0"))?,
        description,
        tools,
        tool_overrides,
        mcp_servers,
        places: Places::default(),
    })
}

/// The number and the text are both taken.
fn read_manifest_version(fields: &Fields<'_>, faults: &mut Faults<'_>) {
    let Some(spot) = fields.required_such_as("manifest_version", ": write manifest_version: \"1\"", faults) else {
        return;
    };
    let is_known = match spot.value() {
        Value::String(text) => ManifestVersion::parse(text).is_some(),
        other => other.as_u64() == Some(1),
    };
    if !is_known {
        spot.refuse("only manifest_version 1 is known", faults);
    }
}

fn read_id(fields: &Fields<'_>, faults: &mut Faults<'_>) -> Option<ToolsetId> {
    let spot = fields.required("id", faults)?;
    let id = ToolsetId::parse(spot.text(faults)?);
    if id.is_none() {
        spot.refuse("must be 1 to 64 lower-case letters, digits, _ or -", faults);
    }
    id
}

fn read_version(fields: &Fields<'_>, faults: &mut Faults<'_>) -> Option<ToolsetVersion> {
    let spot = fields.required_such_as("version", ": a semantic version, such as 1.0.0", faults)?;
    if spot.value().is_number() {
        spot.refuse("is a number and must be a text: write it in quotes, with three parts, such as \"1.0.0\"", faults);
        return None;
    }
    let version = ToolsetVersion::parse(spot.text(faults)?);
    if version.is_none() {
        spot.refuse("must be a semantic version, such as 1.0.0 or 1.0.0-beta.1", faults);
    }
    version
}
