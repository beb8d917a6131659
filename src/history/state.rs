//! A past state of the registry, rebuilt from the change log alone. Every change holds the state of its subject after
//! the change. The state at a moment therefore follows from the last change of each subject up to this moment.

use super::store;
use crate::callers::Scope;
use crate::db::Rows;
use crate::error::{Error, Result};
use crate::ids::Version;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// How many subjects one query reads.
const AT_ONCE: u32 = 2_000;

/// The largest state that is built, in bytes. A Worker's memory can hold several states of this size.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The kinds of subjects in a state.
const KINDS: [&str; 9] =
    ["agent", "attachment", "credential", "tool", "module", "mcp_server", "toolset", "override", "workspace"];

/// The moment of the requested state.
pub enum Moment {
    Now,
    /// After the last change at or before this time.
    At(Timestamp),
    /// After the change with this number. 0 is the moment before the first change.
    Seq(u32),
}

/// The tools, versions, agents, attachments, credentials, modules, MCP servers, toolsets, overrides and settings of a workspace
/// at a moment. Each list is sorted by id, and the versions of a tool by number.
#[derive(Serialize, ToSchema)]
pub struct State {
    /// The number of the last change that the state includes. 0 if there is none.
    seq: u32,
    /// The time of this change.
    #[schema(value_type = Option<String>, format = DateTime)]
    timestamp: Option<Timestamp>,
    /// Every tool at its current version: the active one, or the highest one if none is active.
    tools: Vec<ToolState>,
    /// Every version, as `GET /api/tools/{tool_id}?version=` shows it to admins.
    #[schema(value_type = Vec<Object>)]
    versions: Vec<Box<RawValue>>,
    /// Every agent, as `GET /api/agents/{agent_id}` shows it, without `default_tools_in_use`.
    #[schema(value_type = Vec<Object>)]
    agents: Vec<Box<RawValue>>,
    /// Every attachment: `agent_id`, `tool_id` and `config`.
    #[schema(value_type = Vec<Object>)]
    attachments: Vec<Box<RawValue>>,
    /// Every credential: `id`, `description` and `created_at`. Whether the Worker had its secret is not logged.
    #[schema(value_type = Vec<Object>)]
    credentials: Vec<Box<RawValue>>,
    /// Every module as an admin has set it, with the values of its headers masked.
    #[schema(value_type = Vec<Object>)]
    modules: Vec<Box<RawValue>>,
    /// Every MCP server as an admin has set it, with the values of its headers and of its environment masked.
    #[schema(value_type = Vec<Object>)]
    mcp_servers: Vec<Box<RawValue>>,
    /// Every toolset, as `GET /api/toolsets/{toolset_id}` shows it, with the ids of its tools within the toolset, and without
    /// its overrides, MCP servers and warnings.
    #[schema(value_type = Vec<Object>)]
    toolsets: Vec<Box<RawValue>>,
    /// Every override of a tool, as `GET /api/toolsets/{toolset_id}` shows it.
    #[schema(value_type = Vec<Object>)]
    overrides: Vec<Box<RawValue>>,
    /// The settings, as `GET /api/workspace` shows them.
    #[schema(value_type = Object)]
    workspace: Box<RawValue>,
}

/// A tool at its current version, in the words of `GET /api/tools`.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub struct ToolState {
    #[schema(example = "word_count")]
    id: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(example = "1.1.0")]
    version: String,
    active: bool,
    source: String,
}

/// Gives the logged state of a version the form that responses have today. The log keeps the form of the day on which a
/// change was made.
pub type ShownVersion = fn(Box<RawValue>) -> Result<Box<RawValue>>;

#[derive(Deserialize)]
struct Point {
    seq: u32,
    timestamp: Timestamp,
}

/// The state at a moment. `default_settings` are the settings of a workspace before their first change.
pub async fn state(
    scope: &Scope,
    moment: Moment,
    shown: ShownVersion,
    default_settings: Box<RawValue>,
) -> Result<State> {
    let found = match moment {
        Moment::Now => store::last_change(scope.workspace()),
        Moment::At(time) => store::change_at(scope.workspace(), time),
        Moment::Seq(seq) => store::change_numbered(scope.workspace(), seq),
    };
    let [found] = scope.read([found]).await?;
    scope.caller().await?.must_be_unbound()?;
    let point = found.first::<Point>()?;
    if let (Moment::Seq(seq @ 1..), None) = (&moment, &point) {
        return Err(Error::not_found("Change", seq));
    }
    if let Moment::At(time) = moment {
        must_be_past(time, scope.app().now(), point.as_ref())?;
    }
    let seq = point.as_ref().map_or(0, |it| it.seq);

    let mut all = KINDS.map(Things::new);
    let mut bytes = 0;
    loop {
        let mut open = all.iter_mut().filter(|it| !it.ended).collect::<Vec<_>>();
        if open.is_empty() {
            break;
        }
        let asked = open.iter().map(|it| store::states(scope.workspace(), it.kind, &it.after, seq, AT_ONCE)).collect();
        for (things, rows) in open.iter_mut().zip(scope.enter(asked).await?) {
            bytes += things.take(&rows)?;
        }
        if bytes > MAX_BYTES {
            return Err(Error::NoRoom {
                message: "The state is too large to be built here: rebuild it from the log as JSON Lines".into(),
                limit_bytes: MAX_BYTES as u64,
            });
        }
    }
    let [agents, attachments, credentials, versions, modules, servers, toolsets, overrides, mut settings] = all;
    let versions = versions.found.into_iter().map(shown).collect::<Result<_>>()?;
    let (tools, versions) = by_tool(versions)?;
    Ok(State {
        seq,
        timestamp: point.map(|it| it.timestamp),
        tools,
        versions,
        agents: agents.found,
        attachments: attachments.found,
        credentials: credentials.found,
        modules: modules.found,
        mcp_servers: servers.found,
        toolsets: toolsets.found,
        overrides: overrides.found,
        workspace: settings.found.pop().unwrap_or(default_settings),
    })
}

/// Fails if the time is in the future, because the state at that time is not known yet. The clock of the database, which
/// the log uses, may be ahead of the clock of the Worker: the time of a change is never in the future.
fn must_be_past(time: Timestamp, now: Timestamp, last: Option<&Point>) -> Result<()> {
    if time > now && last.is_none_or(|it| it.timestamp < time) {
        return Err(Error::query("at", format!("must not be in the future: it is {now} now")));
    }
    Ok(())
}

/// The subjects of one kind that have been read so far.
struct Things {
    kind: &'static str,
    /// The name of the last subject that was read.
    after: String,
    ended: bool,
    found: Vec<Box<RawValue>>,
}

impl Things {
    fn new(kind: &'static str) -> Self {
        Self { kind, after: String::new(), ended: false, found: Vec::new() }
    }

    /// Adds the subjects that one query has found. Returns the size of their states in bytes.
    fn take(&mut self, rows: &Rows) -> Result<usize> {
        #[derive(Deserialize)]
        struct Row {
            subject: String,
            new_state: Option<String>,
            full: u8,
        }
        let rows = rows.all::<Row>()?;
        match rows.last() {
            None => self.ended = true,
            Some(last) => {
                self.ended = last.full == 0 && rows.len() < AT_ONCE as usize - 1;
                self.after = last.subject.split_once(':').map_or("", |(_, name)| name).to_owned();
            }
        }
        let mut bytes = 0;
        for Row { subject, new_state, .. } in rows {
            // At that moment, the subject was already deleted or not yet created.
            let Some(state) = new_state else { continue };
            bytes += state.len();
            let state = RawValue::from_string(state)
                .map_err(|cause| Error::Internal(format!("a state of {subject} is broken: {cause}")))?;
            self.found.push(state);
        }
        Ok(bytes)
    }
}

/// Sorts the versions, and derives the tools to which they belong.
fn by_tool(states: Vec<Box<RawValue>>) -> Result<(Vec<ToolState>, Vec<Box<RawValue>>)> {
    /// The fields of a version that describe its tool.
    #[derive(Deserialize)]
    struct Head {
        id: String,
        version: String,
        source: String,
        created_at: Timestamp,
        active: bool,
    }
    let mut versions = Vec::with_capacity(states.len());
    for state in states {
        let head = serde_json::from_str::<Head>(state.get())
            .map_err(|cause| Error::Internal(format!("a version's state cannot be read: {cause}")))?;
        versions.push((head, state));
    }
    versions.sort_by_cached_key(|(head, _)| (head.id.clone(), Version::parse(&head.version)));
    let mut tools: Vec<ToolState> = Vec::new();
    for (head, _) in &versions {
        let at_version = || ToolState {
            id: head.id.clone(),
            created_at: head.created_at,
            version: head.version.clone(),
            active: head.active,
            source: head.source.clone(),
        };
        match tools.last_mut() {
            Some(tool) if tool.id == head.id => {
                if !tool.active {
                    *tool = at_version();
                }
            }
            _ => tools.push(at_version()),
        }
    }
    Ok((tools, versions.into_iter().map(|(_, state)| state).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn versions_are_in_order_and_tell_their_tools() {
        let state = |id: &str, version: &str, active: bool| {
            let state = json!({"id": id, "version": version, "source": "registered",
                "created_at": "2026-11-16T09:30:00.000Z", "active": active});
            RawValue::from_string(state.to_string()).unwrap()
        };
        let states = vec![
            state("b", "1.10.0", true),
            state("b", "1.9.0", false),
            state("b", "1.11.0", false),
            state("a", "1.0.0", false),
            state("a", "1.1.0", false),
        ];
        let (tools, versions) = by_tool(states).unwrap();
        let tools = tools.iter().map(|it| (it.id.as_str(), it.version.as_str(), it.active)).collect::<Vec<_>>();
        assert_eq!(tools, [("a", "1.1.0", false), ("b", "1.10.0", true)]);
        let versions = versions.iter().map(|it| serde_json::from_str::<Value>(it.get()).unwrap()["version"].clone());
        assert_eq!(versions.collect::<Vec<_>>(), ["1.0.0", "1.1.0", "1.9.0", "1.10.0", "1.11.0"]);
    }

    #[test]
    fn only_the_time_of_a_change_may_be_ahead_of_the_clock() {
        let time = |millis| Timestamp::from_millis(millis).unwrap();
        let last = Point { seq: 1, timestamp: time(70) };
        for (at, change, is_past) in
            [(50, None, true), (51, None, false), (70, Some(&last), true), (71, Some(&last), false)]
        {
            assert_eq!(must_be_past(time(at), time(50), change).is_ok(), is_past, "{at}");
        }
        let refused = must_be_past(time(51), time(50), None).unwrap_err();
        assert!(refused.to_string().contains("1970-01-01T00:00:00.050Z"), "{refused}");
    }
}
