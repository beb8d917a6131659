//! Random manifests, for tests.

use super::entrypoint::Entrypoint;
use super::{DeclaredOverride, DeclaredServer, DeclaredTool, Manifest, ManifestVersion, Places};
use crate::callers::Level;
use crate::dice::Dice;
use crate::federation::Transport;
use crate::ids::{ToolId, ToolsetId};
use crate::registry::{Example, Risk, SideEffect};
use crate::rendering::RendererKind;
use crate::text_enum::TextEnum;
use crate::toolsets::ToolsetVersion;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub fn manifest(dice: &mut Dice) -> Manifest {
    let id = ToolsetId::parse(dice.pick(&["kit", "my-kit", "0", "true", "null", "1e5", "_-"])).unwrap();
    let tools = (0..dice.below(4)).map(|index| tool(dice, index)).collect::<Vec<_>>();
    let mcp_servers = (0..dice.below(3)).map(|index| server(dice, index)).collect::<Vec<_>>();
    let own = tools.iter().map(|it| format!("{id}:{}", it.id));
    let theirs = mcp_servers.iter().map(|it| format!("{}:search.x", it.id));
    let names = own.chain(theirs).filter(|_| !dice.once_in(3)).collect::<Vec<_>>();
    let tool_overrides = names.iter().map(|it| tool_override(dice, it)).collect();
    Manifest {
        manifest_version: ManifestVersion::One,
        id,
        name: name(dice),
        version: ToolsetVersion::parse(dice.pick(&["1.0.0", "0.0.1-beta.1", "10.2.3+build.7"])).unwrap(),
        description: if dice.once_in(3) { String::new() } else { text(dice) },
        tools,
        tool_overrides,
        mcp_servers,
        places: Places::default(),
    }
}

fn tool(dice: &mut Dice, index: usize) -> DeclaredTool {
    DeclaredTool {
        id: format!("{}{index}", dice.pick(&["run", "Read.file-", "1.", "-", "0x", "e"])),
        entrypoint: Entrypoint::parse(dice.pick(&["tools.a:run", "yes:no", "a.b._c:__d"])).unwrap(),
        name: maybe(dice, name),
        description: maybe(dice, text),
        input_schema: maybe(dice, |it| object(it, 4)),
        returns_schema: maybe(dice, |it| object(it, 2)),
        requires_approval: maybe(dice, |it| it.once_in(2)),
        timeout_seconds: maybe(dice, |it| 1 + it.below(120) as u32),
        risk_level: maybe(dice, |it| it.pick(Risk::ALL)),
        required_permission: maybe(dice, |it| it.pick(Level::ALL)),
        required_capabilities: texts(dice),
        rate_limit: maybe(dice, |it| 1 + it.below(10_000) as u32),
        category: maybe(dice, text),
        side_effects: (0..dice.below(2)).map(|_| side_effect(dice)).collect(),
        examples: (0..dice.below(3)).map(|_| example(dice)).collect(),
    }
}

fn side_effect(dice: &mut Dice) -> SideEffect {
    SideEffect { effect_type: text(dice), description: text(dice), reversible: dice.once_in(2), scope: text(dice) }
}

fn example(dice: &mut Dice) -> Example {
    let expected_output = maybe(dice, |it| value(it, 2)).filter(|it| !it.is_null());
    Example { description: text(dice), params: Value::Object(object(dice, 2)), expected_output }
}

fn server(dice: &mut Dice, index: usize) -> DeclaredServer {
    DeclaredServer {
        id: format!("{}{index}", dice.pick(&["srv", "0-", "off_"])),
        transport: maybe(dice, |it| it.pick(Transport::ALL)),
        command: maybe(dice, text),
        args: texts(dice),
        env: text_map(dice),
        cwd: maybe(dice, text),
        url: maybe(dice, text),
        headers: text_map(dice),
        requires_approval: maybe(dice, |it| it.once_in(2)),
        risk_level: maybe(dice, |it| it.pick(Risk::ALL)),
        enabled: maybe(dice, |it| it.once_in(2)),
        auto_accept: maybe(dice, |it| it.once_in(2)),
        allowed_hosts: texts(dice),
    }
}

fn tool_override(dice: &mut Dice, id: &str) -> DeclaredOverride {
    let renderer = maybe(dice, |it| it.pick(RendererKind::ALL));
    let renderer_config = renderer.map(|kind| {
        let config = match kind {
            RendererKind::Code => {
                json!({"file": "$args.path", "language": "auto", "further": ["$return", {"on": 1.0}]})
            }
            RendererKind::Document => json!({"content": "# $$5: $return.x\n", "editable": true}),
            RendererKind::Html => json!({"artifact": "./artifacts/a b.html", "data": "$return"}),
            RendererKind::Frame => json!({"port": "$return.port"}),
        };
        config.as_object().unwrap().clone()
    });
    DeclaredOverride {
        tool_id: ToolId::parse(id).unwrap(),
        renderer,
        renderer_config,
        name_override: maybe(dice, name),
        description_override: maybe(dice, text),
        requires_approval: maybe(dice, |it| it.once_in(2)),
        enabled: maybe(dice, |it| it.once_in(2)),
    }
}

fn maybe<T>(dice: &mut Dice, make: impl FnOnce(&mut Dice) -> T) -> Option<T> {
    if dice.once_in(2) { Some(make(dice)) } else { None }
}

fn texts(dice: &mut Dice) -> Vec<String> {
    (0..dice.below(3)).map(|_| text(dice)).collect()
}

fn text_map(dice: &mut Dice) -> BTreeMap<String, String> {
    (0..dice.below(3)).map(|_| (text(dice), text(dice))).collect()
}

fn object(dice: &mut Dice, depth: usize) -> Map<String, Value> {
    (0..dice.below(4)).map(|_| (text(dice), value(dice, depth))).collect()
}

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(dice.once_in(2)),
        2 => json!(dice.below(1_000)),
        3 => json!(dice.below(1_000) as f64 / 8.0),
        4 => json!(text(dice)),
        5 => (0..dice.below(3)).map(|_| value(dice, depth - 1)).collect(),
        _ => Value::Object(object(dice, depth - 1)),
    }
}

fn name(dice: &mut Dice) -> String {
    format!("{}{}", dice.pick(&["Kit", "1.0", "no", "# x", "a: b", "'", "{x}", "- y", "é😀"]), dice.below(100))
}

fn text(dice: &mut Dice) -> String {
    const PIECES: [&str; 24] = [
        "",
        "a",
        "Word",
        "1",
        "1.5",
        "true",
        "off",
        "~",
        " ",
        ": ",
        " #",
        "- ",
        "[",
        "{",
        "&x",
        "*x",
        "!",
        "|",
        "\n",
        "\t",
        "\"",
        "\\",
        "é😀",
        "${API_KEY}",
    ];
    (0..dice.below(4)).map(|_| dice.pick(&PIECES)).collect()
}
