//! The tools that a manifest declares.

use super::entrypoint::Entrypoint;
use super::fields::{Faults, Fields, Ids, Shape, Spot};
use super::renderer::{self, GivenRenderer};
use crate::callers::Level;
use crate::registry::{Example, Risk, SideEffect};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest description of a tool, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 8_192;

/// The most entries of a tool's lists. The registry's own rules come later, and are stricter.
const MAX_LIST: usize = 100;

const SHAPE: Shape = Shape {
    noun: "a tool",
    fields: &[
        "id",
        "entrypoint",
        "name",
        "description",
        "input_schema",
        "returns_schema",
        "requires_confirmation",
        "timeout_seconds",
        "risk_level",
        "required_permission",
        "required_capabilities",
        "rate_limit",
        "category",
        "side_effects",
        "examples",
        "renderer",
        "renderer_config",
        "enabled",
    ],
    aliases: &[("requires_approval", "requires_confirmation")],
};

const SIDE_EFFECT: Shape =
    Shape { noun: "a side effect", fields: &["effect_type", "description", "reversible", "scope"], aliases: &[] };

const EXAMPLE: Shape =
    Shape { noun: "an example", fields: &["description", "params", "expected_output"], aliases: &[] };

/// A tool as a manifest declares it. What is not given comes from the function's decorator, or is a default.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredTool {
    /// The id in the toolset: 1 to 128 letters, digits, `_`, `.` and `-`. The tool's whole id is `toolset:id`.
    pub id: String,
    /// The function that runs, as `module:function`.
    pub entrypoint: Entrypoint,
    /// The name for people: 1 to 200 characters on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the tool does, for models: at most 8,192 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of the arguments. It is inferred from the function's hints if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Map<String, Value>>,
    /// The JSON Schema of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns_schema: Option<Map<String, Value>>,
    /// Whether each call needs an approval. `requires_confirmation` in the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
    /// How long a call may take: 1 to 120 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// How much harm a call can do: safe, low, medium, high or critical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<Risk>,
    /// The level that a caller needs: guest, user, admin or owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_permission: Option<Level>,
    /// The capabilities that an agent needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_capabilities: Vec<String>,
    /// How many calls a minute an agent may make: 1 to 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<u32>,
    /// The category in lists: 1 to 64 lower-case letters, digits, `_` and `-`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The effects of a call besides its result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_effects: Vec<SideEffect>,
    /// Calls that show how the tool is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

/// A tool that was read, with what it says that belongs into an override.
pub struct ReadTool<'a> {
    pub spot: Spot<'a>,
    /// The id, also if something else is wrong with the tool.
    pub id: Option<String>,
    /// None if the tool has a fault that leaves nothing to run.
    pub tool: Option<DeclaredTool>,
    pub renderer: Option<GivenRenderer>,
    pub enabled: Option<bool>,
}

/// Whether a text can be the part of a tool's id after the colon.
pub fn is_tool_name(text: &str) -> bool {
    let is_fine = |it: u8| it.is_ascii_alphanumeric() || b"_.-".contains(&it);
    (1..=128).contains(&text.len()) && text.bytes().all(is_fine)
}

pub fn read<'a>(spot: Spot<'a>, ids: &mut Ids, faults: &mut Faults<'_>) -> Option<ReadTool<'a>> {
    let fields = Fields::of(spot.clone(), &SHAPE, faults)?;
    let id = read_id(&fields, ids, faults);
    let entrypoint = read_entrypoint(&fields, faults);
    let renderer = renderer::read(&fields, faults);
    let enabled = fields.flag("enabled", faults);
    let is_whole = id.is_some() && entrypoint.is_some();
    // The other fields are read even if there is nothing to run, because their faults are told too.
    let tool = DeclaredTool {
        id: id.clone().unwrap_or_default(),
        entrypoint: entrypoint.unwrap_or_default(),
        name: fields.name("name", faults),
        description: fields.description("description", MAX_DESCRIPTION_CHARS, faults),
        input_schema: fields.object("input_schema", faults),
        returns_schema: fields.object("returns_schema", faults),
        requires_approval: fields.flag("requires_confirmation", faults),
        timeout_seconds: fields.whole("timeout_seconds", 1..=120, faults),
        risk_level: fields.word("risk_level", faults),
        required_permission: fields.word("required_permission", faults),
        required_capabilities: fields.texts("required_capabilities", MAX_LIST, faults),
        rate_limit: fields.whole("rate_limit", 1..=10_000, faults),
        category: fields.text("category", faults),
        side_effects: read_all(&fields, "side_effects", read_side_effect, faults),
        examples: read_all(&fields, "examples", read_example, faults),
    };
    Some(ReadTool { spot, id, tool: is_whole.then_some(tool), renderer, enabled })
}

fn read_id(fields: &Fields<'_>, ids: &mut Ids, faults: &mut Faults<'_>) -> Option<String> {
    let spot = fields.required("id", faults)?;
    let id = spot.text(faults)?;
    if !is_tool_name(id) {
        let more = if id.contains(':') { ". The toolset's id and a colon are put before it" } else { "" };
        spot.refuse(format!("must be 1 to 128 letters, digits, _, . and -{more}"), faults);
        return None;
    }
    ids.take(id, &fields.spot, spot, faults).then(|| id.to_owned())
}

fn read_entrypoint(fields: &Fields<'_>, faults: &mut Faults<'_>) -> Option<Entrypoint> {
    let spot = fields.required_such_as("entrypoint", ": the function to run, such as tools.analyze:run", faults)?;
    let entrypoint = Entrypoint::parse(spot.text(faults)?);
    if entrypoint.is_none() {
        spot.refuse(Entrypoint::RULE, faults);
    }
    entrypoint
}

fn read_all<T>(
    fields: &Fields<'_>,
    field: &str,
    read: fn(Spot<'_>, &mut Faults<'_>) -> Option<T>,
    faults: &mut Faults<'_>,
) -> Vec<T> {
    fields.items(field, MAX_LIST, faults).into_iter().filter_map(|it| read(it, faults)).collect()
}

fn read_side_effect(spot: Spot<'_>, faults: &mut Faults<'_>) -> Option<SideEffect> {
    let fields = Fields::of(spot, &SIDE_EFFECT, faults)?;
    let [effect_type, description, scope] = ["effect_type", "description", "scope"]
        .map(|it| fields.required(it, faults).and_then(|it| it.text(faults)).map(str::to_owned));
    let reversible = fields.required("reversible", faults).and_then(|it| it.flag(faults));
    Some(SideEffect { effect_type: effect_type?, description: description?, reversible: reversible?, scope: scope? })
}

fn read_example(spot: Spot<'_>, faults: &mut Faults<'_>) -> Option<Example> {
    let fields = Fields::of(spot, &EXAMPLE, faults)?;
    let description = fields.required("description", faults).and_then(|it| it.text(faults)).map(str::to_owned);
    let params = fields.required("params", faults).and_then(|it| it.object(faults)).cloned();
    let expected_output = fields.get("expected_output").map(|it| it.value().clone());
    Some(Example { description: description?, params: Value::Object(params?), expected_output })
}
