//! The MCP servers that a manifest declares. The rules for servers are those of federation, which come later.

use super::fields::{Faults, Fields, Ids, Shape, Spot};
use crate::federation::Transport;
use crate::ids::ServerId;
use crate::registry::Risk;
use serde::Serialize;
use std::collections::BTreeMap;

/// The most entries of a server's lists and objects.
const MAX_ENTRIES: usize = 100;

const SHAPE: Shape = Shape {
    noun: "an MCP server",
    fields: &[
        "id",
        "transport",
        "command",
        "args",
        "env",
        "cwd",
        "url",
        "headers",
        "requires_confirmation",
        "risk_level",
        "enabled",
        "auto_accept",
        "allowed_hosts",
    ],
    aliases: &[("server_type", "transport"), ("type", "transport"), ("requires_approval", "requires_confirmation")],
};

/// Other words for a transport, which the configuration files of other clients use.
const OTHER_WORDS: [(&str, Transport); 3] = [
    ("http", Transport::StreamableHttp),
    ("streamable_http", Transport::StreamableHttp),
    ("streamableHttp", Transport::StreamableHttp),
];

/// An MCP server as a manifest declares it. Its JSON is the body that registers such a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeclaredServer {
    /// 1 to 64 lower-case letters, digits, `_` and `-`. The ids of the server's tools begin with it and a colon.
    pub id: String,
    /// stdio, sse or streamable-http. With a `command` it is stdio, and with a `url` streamable-http, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The program of a stdio server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The arguments of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The environment of the program. A value may name credentials of the workspace as `${NAME}`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The directory in which the program starts, within the files of the bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The address of a remote server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers of every request to a remote server. A value may name credentials of the workspace as `${NAME}`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Whether each call of the server's tools needs an approval; true, if not given. `requires_confirmation` in the
    /// manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
    /// The risk of the server's tools; medium, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<Risk>,
    /// Whether the server starts with the toolset; true, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether definitions that change later are accepted without an admin; false, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_accept: Option<bool>,
    /// The hosts that a stdio server may reach; none, if not given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_hosts: Vec<String>,
}

/// Reads a server. None if it has no id of its own. `toolset` is the id of the toolset.
pub fn read(spot: Spot<'_>, toolset: Option<&str>, ids: &mut Ids, faults: &mut Faults<'_>) -> Option<DeclaredServer> {
    let fields = Fields::of(spot, &SHAPE, faults)?;
    let id = read_id(&fields, toolset, ids, faults);
    let server = DeclaredServer {
        id: id.clone().unwrap_or_default(),
        transport: fields.get("transport").and_then(|it| it.word_of(&OTHER_WORDS, faults)),
        command: fields.text("command", faults),
        args: fields.texts("args", MAX_ENTRIES, faults),
        env: fields.text_map("env", MAX_ENTRIES, faults),
        cwd: fields.text("cwd", faults),
        url: fields.text("url", faults),
        headers: fields.text_map("headers", MAX_ENTRIES, faults),
        requires_approval: fields.flag("requires_confirmation", faults),
        risk_level: fields.word("risk_level", faults),
        enabled: fields.flag("enabled", faults),
        auto_accept: fields.flag("auto_accept", faults),
        allowed_hosts: fields.texts("allowed_hosts", MAX_ENTRIES, faults),
    };
    id.map(|_| server)
}

fn read_id(fields: &Fields<'_>, toolset: Option<&str>, ids: &mut Ids, faults: &mut Faults<'_>) -> Option<String> {
    let spot = fields.required("id", faults)?;
    let id = spot.text(faults)?;
    if ServerId::parse(id).is_none() {
        spot.refuse("must be 1 to 64 lower-case letters, digits, _ or -", faults);
        return None;
    }
    if toolset == Some(id) {
        spot.refuse("is the id of the toolset: the ids of their tools would be the same", faults);
        return None;
    }
    ids.take(id, &fields.spot, spot, faults).then(|| id.to_owned())
}
