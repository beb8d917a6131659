//! SQL for the tables `agents` and `agent_tools`.

mod toolbox;

pub use toolbox::{
    ToolboxSearch, find_agent_with_defaults, list_toolbox, read_default_modules, read_toolbox, search_toolbox,
};

use super::attachment::{Attached, AttachmentReading};
use super::{Agent, AgentStanding, AttachmentRecord, Config, Profile};
use crate::callers::Level;
use crate::db::{Condition, ManyRows, Param, Rows, Statement, condition, first_bytes, for_each, sql};
use crate::error::{Error, Result};
use crate::ids::{AgentId, TokenId, ToolId, WorkspaceId};
use crate::page::PageRequest;
use crate::registry::{
    OVERRIDE_JOIN, Risk, TOOL_BYTES, TOOL_COLUMNS, Tool, ToolLookup, select_within_bytes, tool_context,
};
use crate::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

macro_rules! columns_without_prompt {
    () => {
        "id, name, capabilities, max_risk, allowed_modules, permission_level, default_tools, find_tools, model, max_steps,
         temperature, created_at, revision"
    };
}

const AGENT_COLUMNS: &str = concat!(columns_without_prompt!(), ", system_prompt");

/// The columns that the calls of an agent need. The prompt may be long, and no call needs it.
const CALLING_AGENT_COLUMNS: &str = columns_without_prompt!();

/// Whether any tool is attached to the agent of the row.
const HAS_ATTACHMENTS: &str = "EXISTS (
    SELECT 1 FROM agent_tools a WHERE a.workspace_id = ?1 AND a.agent_id = agents.id) AS has_attachments";

/// True while the agent is at the revision that was read.
pub fn agent_is_at(workspace: &WorkspaceId, agent: &Agent) -> Condition {
    condition("EXISTS (SELECT 1 FROM agents WHERE workspace_id = ?1 AND id = ?2 AND revision = ?3)")
        .bind(workspace.as_str())
        .bind(agent.id.as_str())
        .bind(agent.revision)
}

/// True while the attachment is at the revision that was read.
pub fn attachment_is_at(workspace: &WorkspaceId, agent: &AgentId, reading: &AttachmentReading) -> Condition {
    condition(
        "EXISTS (SELECT 1 FROM agent_tools WHERE workspace_id = ?1 AND agent_id = ?2 AND tool_key = ?3 AND revision = ?4)",
    )
    .bind(workspace.as_str())
    .bind(agent.as_str())
    .bind(reading.attached.tool.key)
    .bind(reading.revision)
}

/// The agent's attachments, as the change log shows them (for [`crate::changes::record_each`]).
pub fn find_attachments_of_agent(workspace: &WorkspaceId, agent: &AgentId) -> Statement {
    sql("SELECT 'attachment:' || a.agent_id || '/' || t.id AS subject, t.id AS tool_id,
           json_object('agent_id', a.agent_id, 'tool_id', t.id, 'config', json(a.config)) AS previous_state
         FROM agent_tools a JOIN tools t ON t.key = a.tool_key WHERE a.workspace_id = ?1 AND a.agent_id = ?2")
    .bind(workspace.as_str())
    .bind(agent.as_str())
}

#[derive(Deserialize)]
struct AgentRow {
    id: String,
    name: String,
    capabilities: String,
    max_risk: Risk,
    allowed_modules: String,
    permission_level: Level,
    default_tools: u8,
    find_tools: u8,
    /// Missing for the agent of a call.
    #[serde(default)]
    system_prompt: Option<String>,
    model: Option<String>,
    max_steps: Option<u32>,
    temperature: Option<f64>,
    created_at: Timestamp,
    revision: u32,
}

impl TryFrom<AgentRow> for Agent {
    type Error = Error;

    fn try_from(row: AgentRow) -> Result<Self> {
        Ok(Self {
            id: AgentId::parse(&row.id)
                .ok_or_else(|| Error::Internal(format!("the agent {} has a broken id", row.id)))?,
            profile: Profile {
                name: row.name,
                capabilities: stored_json(&row.capabilities)?,
                max_risk: row.max_risk,
                allowed_modules: stored_json(&row.allowed_modules)?,
                permission_level: row.permission_level,
                default_tools: row.default_tools != 0,
                find_tools: row.find_tools != 0,
                system_prompt: row.system_prompt,
                model: row.model,
                max_steps: row.max_steps,
                temperature: row.temperature,
            },
            created_at: row.created_at,
            revision: row.revision,
        })
    }
}

/// The columns of a row besides those of the tool. The tool and these columns are parsed one after the other, because
/// serde's `flatten` would be slower and take more code.
#[derive(Deserialize)]
struct AttachmentRow {
    config: Option<String>,
    revision: u32,
}

fn reading(tool: Tool, row: AttachmentRow) -> Result<AttachmentReading> {
    let config = row.config.as_deref().map(stored_json).transpose()?.map(Config);
    Ok(AttachmentReading { attached: Attached { tool, config }, revision: row.revision })
}

/// The columns of a row besides those of the agent.
#[derive(Deserialize)]
struct StandingRow {
    tool: Option<u32>,
    config: Option<String>,
    attached: u8,
    has_attachments: u8,
}

/// The relation of a call's agent to a tool. The agent is the one that the call names, or else the one to which the
/// token is bound. There is a row for each tool that `sought` may mean. Without `sought`, there is one row without a
/// tool.
pub fn find_standing(
    workspace: &WorkspaceId,
    agent: Option<&str>,
    token: Option<&TokenId>,
    sought: Option<ToolLookup<'_>>,
) -> Statement {
    let tools = sought.map_or_else(|| "SELECT NULL AS tool".to_owned(), |it| it.keys(4));
    let statement = sql(format!(
        "SELECT {CALLING_AGENT_COLUMNS}, tool,
           (SELECT config FROM agent_tools a WHERE a.workspace_id = ?1 AND a.agent_id = agents.id AND a.tool_key = tool) AS config,
           EXISTS (SELECT 1 FROM agent_tools a WHERE a.workspace_id = ?1 AND a.agent_id = agents.id AND a.tool_key = tool)
             AS attached,
           {HAS_ATTACHMENTS}
         FROM agents, ({tools})
         WHERE workspace_id = ?1
           AND id = coalesce(?2, (SELECT agent_id FROM tokens WHERE workspace_id = ?1 AND id = ?3))"
    ))
    .bind(workspace.as_str())
    .bind(agent)
    .bind(token.map(TokenId::as_str));
    match sought {
        Some(sought) => statement.bind(sought.param()),
        None => statement,
    }
}

pub fn read_standing(rows: &Rows, tool_key: Option<u32>) -> Result<Option<AgentStanding>> {
    let row = rows.all::<StandingRow>()?.into_iter().find(|it| it.tool == tool_key);
    let (Some(agent), Some(row)) = (rows.first::<AgentRow>()?, row) else { return Ok(None) };
    Ok(Some(AgentStanding {
        agent: agent.try_into()?,
        config: row.config.as_deref().map(stored_json).transpose()?.map(Config),
        attached: row.attached != 0,
        has_attachments: row.has_attachments != 0,
    }))
}

fn stored_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|cause| Error::Internal(format!("stored JSON cannot be read: {cause}")))
}

/// A page of the workspace's agents, oldest first, for [`read_shown_agents`].
pub fn list_agents(workspace: &WorkspaceId, request: &PageRequest) -> Result<Statement> {
    let (created_at, id) = request.after_age()?;
    Ok(sql(format!(
        "SELECT {AGENT_COLUMNS}, {HAS_ATTACHMENTS} FROM agents
         WHERE workspace_id = ?1 AND (created_at, id) > (?2, ?3)
         ORDER BY created_at, id LIMIT +?4"
    ))
    .bind(workspace.as_str())
    .bind(created_at)
    .bind(id)
    .bind(request.rows_to_ask()))
}

/// All agents of the workspace, oldest first, if the condition is true.
pub fn find_all(workspace: &WorkspaceId, only_if: Condition) -> Statement {
    sql(format!("SELECT {AGENT_COLUMNS} FROM agents WHERE workspace_id = ?1"))
        .bind(workspace.as_str())
        .and(only_if)
        .ordered_by("created_at, id")
}

/// The size of an agent in a backup, or somewhat less.
const AGENT_BYTES: &str = "300 + octet_length(name) + octet_length(capabilities) + octet_length(allowed_modules)
    + coalesce(octet_length(system_prompt), 0) + coalesce(octet_length(model), 0)";

/// The size of the attachment `a` in a backup, or somewhat less.
const ATTACHMENT_BYTES: &str = "120 + coalesce(octet_length(a.config), 0)";

/// The SQL for the size of all agents and attachments of the workspace `?1` in a backup.
pub fn bytes_of_all() -> String {
    format!(
        "(SELECT coalesce(sum({AGENT_BYTES}), 0) FROM agents WHERE workspace_id = ?1)
         + (SELECT coalesce(sum({ATTACHMENT_BYTES}), 0) FROM agent_tools a WHERE a.workspace_id = ?1)"
    )
}

/// How many bytes and rows the selections `…_after` have.
const MAX_BYTES: u32 = 2_000_000;
const MAX_ROWS: u32 = 4_000;

/// The next agents of the workspace, sorted by id. At the end, no row is selected.
pub fn agents_after(workspace: &WorkspaceId, id: Option<&str>) -> Statement {
    let found = first_bytes(
        &format!(
            "SELECT id AS found_id, {AGENT_BYTES} AS bytes FROM agents
             WHERE workspace_id = ?1 AND id > ?2 ORDER BY id LIMIT {MAX_ROWS}"
        ),
        "found_id",
        MAX_BYTES,
    );
    sql(format!(
        "SELECT {AGENT_COLUMNS} FROM ({found}) CROSS JOIN agents ON workspace_id = ?1 AND id = found_id ORDER BY id"
    ))
    .bind(workspace.as_str())
    .bind(id.unwrap_or_default())
}

/// The next attachments of the workspace's own tools, sorted by tool and then by agent. `last` is the tool and the agent
/// before them. At the end, no row is selected.
pub fn attachments_after(workspace: &WorkspaceId, last: Option<(&str, &str)>) -> Statement {
    let rows = format!(
        "SELECT t.id AS tool_id, t.key AS tool_key, a.agent_id, {ATTACHMENT_BYTES} AS bytes
         FROM tools t CROSS JOIN agent_tools a INDEXED BY agent_tools_by_tool
           ON a.tool_key = t.key AND a.workspace_id = ?1
         WHERE t.workspace_id = ?1 AND t.id >= ?2 AND (t.id > ?2 OR a.agent_id > ?3)
         ORDER BY t.id, a.agent_id LIMIT {MAX_ROWS}"
    );
    attachments_of(&rows, "tool_id, agent_id", workspace, last)
}

/// The next attachments of built-ins, sorted by agent and then by tool. `last` is the agent and the tool before them. At
/// the end, no row is selected.
pub fn builtin_attachments_after(workspace: &WorkspaceId, last: Option<(&str, &str)>) -> Statement {
    let rows = format!(
        "SELECT t.id AS tool_id, t.key AS tool_key, a.agent_id, {ATTACHMENT_BYTES} AS bytes
         FROM agents g CROSS JOIN tools t ON t.workspace_id = ''
         CROSS JOIN agent_tools a ON a.workspace_id = ?1 AND a.agent_id = g.id AND a.tool_key = t.key
         WHERE g.workspace_id = ?1 AND g.id >= ?2 AND (g.id > ?2 OR t.id > ?3)
         ORDER BY g.id, t.id LIMIT {MAX_ROWS}"
    );
    attachments_of(&rows, "agent_id, tool_id", workspace, last)
}

fn attachments_of(rows: &str, order: &str, workspace: &WorkspaceId, last: Option<(&str, &str)>) -> Statement {
    let (one, two) = last.unwrap_or_default();
    let found = first_bytes(rows, order, MAX_BYTES);
    sql(format!(
        "SELECT found.agent_id, found.tool_id, a.config, a.created_at FROM ({found}) found
         CROSS JOIN agent_tools a ON a.workspace_id = ?1 AND a.agent_id = found.agent_id AND a.tool_key = found.tool_key
         ORDER BY {}",
        order.split(", ").map(|it| format!("found.{it}")).collect::<Vec<_>>().join(", ")
    ))
    .bind(workspace.as_str())
    .bind(one)
    .bind(two)
}

pub fn find_agent(workspace: &WorkspaceId, id: &AgentId) -> Statement {
    sql(format!("SELECT {AGENT_COLUMNS} FROM agents WHERE workspace_id = ?1 AND id = ?2"))
        .bind(workspace.as_str())
        .bind(id.as_str())
}

/// The agent, for [`read_shown_agents`].
pub fn show_agent(workspace: &WorkspaceId, id: &AgentId) -> Statement {
    sql(format!("SELECT {AGENT_COLUMNS}, {HAS_ATTACHMENTS} FROM agents WHERE workspace_id = ?1 AND id = ?2"))
        .bind(workspace.as_str())
        .bind(id.as_str())
}

/// Agents, each with whether any tool is attached to it.
pub fn read_shown_agents(rows: &Rows) -> Result<Vec<(Agent, bool)>> {
    #[derive(Deserialize)]
    struct AttachmentsRow {
        has_attachments: u8,
    }
    let attachments = rows.all::<AttachmentsRow>()?.into_iter().map(|it| it.has_attachments != 0);
    Ok(read_agents(rows)?.into_iter().zip(attachments).collect())
}

/// How many agents [`neighbours`] selects on each side.
const NEIGHBOURS: u32 = 100;

/// Selects the ids and names of the agents whose ids come before and after a text in the alphabet.
pub fn neighbours(workspace: &WorkspaceId, text: &str) -> Statement {
    sql(format!(
        "SELECT id, name FROM (
           SELECT id, name FROM agents WHERE workspace_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT {NEIGHBOURS})
         UNION ALL SELECT id, name FROM (
           SELECT id, name FROM agents WHERE workspace_id = ?1 AND id >= ?2 ORDER BY id LIMIT {NEIGHBOURS})"
    ))
    .bind(workspace.as_str())
    .bind(text)
}

pub fn read_neighbours(rows: &Rows) -> Result<Vec<(String, String)>> {
    #[derive(Deserialize)]
    struct Row {
        id: String,
        name: String,
    }
    Ok(rows.all::<Row>()?.into_iter().map(|it| (it.id, it.name)).collect())
}

pub fn read_agent(rows: &Rows) -> Result<Option<Agent>> {
    rows.first::<AgentRow>()?.map(Agent::try_from).transpose()
}

pub fn read_agents(rows: &Rows) -> Result<Vec<Agent>> {
    rows.all::<AgentRow>()?.into_iter().map(Agent::try_from).collect()
}

pub fn insert_agent(workspace: &WorkspaceId, agent: &Agent) -> Statement {
    let statement =
        sql("INSERT INTO agents (workspace_id, id, name, capabilities, max_risk, allowed_modules, permission_level,
           default_tools, find_tools, system_prompt, model, max_steps, temperature, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)")
        .bind(workspace.as_str())
        .bind(agent.id.as_str());
    bind_profile(statement, &agent.profile).bind(agent.created_at.to_string())
}

/// Updates the agent, if it is still at the revision that was read.
pub fn update_agent(workspace: &WorkspaceId, agent: &Agent) -> Statement {
    let statement = sql("UPDATE agents SET name = ?3, capabilities = ?4, max_risk = ?5, allowed_modules = ?6,
           permission_level = ?7, default_tools = ?8, find_tools = ?9, system_prompt = ?10, model = ?11,
           max_steps = ?12, temperature = ?13, revision = revision + 1
         WHERE workspace_id = ?1 AND id = ?2 AND revision = ?14")
    .bind(workspace.as_str())
    .bind(agent.id.as_str());
    bind_profile(statement, &agent.profile).bind(agent.revision)
}

fn bind_profile(statement: Statement, profile: &Profile) -> Statement {
    statement
        .bind(profile.name.as_str())
        .bind(json!(profile.capabilities).to_string())
        .bind(profile.max_risk.as_str())
        .bind(json!(profile.allowed_modules).to_string())
        .bind(profile.permission_level.as_str())
        .bind(profile.default_tools)
        .bind(profile.find_tools)
        .bind(profile.system_prompt.as_deref())
        .bind(profile.model.as_deref())
        .bind(profile.max_steps)
        .bind(profile.temperature.map_or(Param::Null, Param::Number))
}

/// Deletes the agent, if it is still at the revision that was read.
pub fn delete_agent(workspace: &WorkspaceId, agent: &Agent) -> Statement {
    sql("DELETE FROM agents WHERE workspace_id = ?1 AND id = ?2 AND revision = ?3")
        .bind(workspace.as_str())
        .bind(agent.id.as_str())
        .bind(agent.revision)
}

/// How many tools can be attached to one agent.
pub const MAX_ATTACHED: u32 = 1_000;

/// True while the agent has fewer than [`MAX_ATTACHED`] tools, and the tool still has its key. A restore may have
/// removed the tool and given its key to another tool.
pub fn can_attach(workspace: &WorkspaceId, agent: &AgentId, tool: &Tool) -> Condition {
    condition(
        "(SELECT count(*) FROM agent_tools WHERE workspace_id = ?1 AND agent_id = ?2) < ?3
           AND EXISTS (SELECT 1 FROM tools WHERE workspace_id IN ('', ?1) AND id = ?4 AND key = ?5)",
    )
    .bind(workspace.as_str())
    .bind(agent.as_str())
    .bind(MAX_ATTACHED)
    .bind(tool.id.as_str())
    .bind(tool.key)
}

/// The present attachments of an agent, for the preview of another one.
#[derive(Deserialize)]
pub struct AttachedCount {
    pub tools: u32,
    #[serde(deserialize_with = "read_flag")]
    pub has_tool: bool,
}

fn read_flag<'de, D: serde::Deserializer<'de>>(column: D) -> std::result::Result<bool, D::Error> {
    Ok(u8::deserialize(column)? != 0)
}

/// Selects how many tools an agent has, and whether it has this one.
pub fn count_attached(workspace: &WorkspaceId, agent: &AgentId, tool: &ToolId) -> Statement {
    sql("SELECT count(*) AS tools, coalesce(max(a.tool_key = t.key), 0) AS has_tool FROM agent_tools a
         LEFT JOIN tools t ON t.workspace_id IN ('', ?1) AND t.id = ?3
         WHERE a.workspace_id = ?1 AND a.agent_id = ?2")
    .bind(workspace.as_str())
    .bind(agent.as_str())
    .bind(tool.as_str())
}

pub fn read_count_attached(rows: &Rows) -> Result<AttachedCount> {
    rows.first()?.ok_or_else(|| Error::Internal("a count has no row".into()))
}

/// Selects attachments `a` with the current versions of their tools.
fn select_attached(rest: &str) -> Statement {
    sql(format!(
        "SELECT {TOOL_COLUMNS}, {}, a.config, a.revision FROM agent_tools a
         JOIN tools t ON t.key = a.tool_key JOIN tool_versions v ON v.key = t.current_version_key {OVERRIDE_JOIN}
         WHERE a.workspace_id = ?1 AND a.agent_id = ?2 {rest}",
        tool_context()
    ))
}

/// A page of the agent's attachments with the current versions of their tools, in the order of the tools' creation. `?3`
/// is the tool after which the page begins. The page is bounded by bytes ([`registry::is_cut`](crate::registry::is_cut)).
pub fn list_attached(workspace: &WorkspaceId, agent: &AgentId, request: &PageRequest) -> Statement {
    let columns = format!("{TOOL_COLUMNS}, {}, a.config, a.revision", tool_context());
    let bytes = format!("{TOOL_BYTES} + coalesce(octet_length(a.config), 0)");
    let from = format!(
        "FROM (
           SELECT tool_key, config, revision FROM agent_tools
           WHERE workspace_id = ?1 AND agent_id = ?2
             AND tool_key > coalesce((SELECT key FROM tools WHERE workspace_id IN ('', ?1) AND id = ?3), 0)
           ORDER BY tool_key LIMIT +?4) a
         CROSS JOIN tools t ON t.key = a.tool_key CROSS JOIN tool_versions v ON v.key = t.current_version_key
         {OVERRIDE_JOIN}"
    );
    sql(select_within_bytes("*", &columns, &bytes, &from, "a.tool_key"))
        .bind(workspace.as_str())
        .bind(agent.as_str())
        .bind(request.after())
        .bind(request.rows_to_ask())
}

pub fn find_attached(workspace: &WorkspaceId, agent: &AgentId, tool_id: &ToolId) -> Statement {
    select_attached("AND a.tool_key = (SELECT key FROM tools WHERE workspace_id IN ('', ?1) AND id = ?3)")
        .bind(workspace.as_str())
        .bind(agent.as_str())
        .bind(tool_id.as_str())
}

pub fn read_attached(rows: &Rows) -> Result<Option<AttachmentReading>> {
    let both = rows.first::<Tool>()?.zip(rows.first::<AttachmentRow>()?);
    both.map(|(tool, row)| reading(tool, row)).transpose()
}

pub fn read_all_attached(rows: &Rows) -> Result<Vec<Attached>> {
    let both = rows.all::<Tool>()?.into_iter().zip(rows.all::<AttachmentRow>()?);
    both.map(|(tool, row)| Ok(reading(tool, row)?.attached)).collect()
}

/// Attaches the tool, if it [can be attached](can_attach). The revision starts at a number that no attachment of the
/// workspace has ever had. If the tool was detached and attached again, a change that is based on the earlier
/// attachment is therefore refused.
pub fn insert_attachment(
    workspace: &WorkspaceId,
    agent: &AgentId,
    tool: &Tool,
    config: Option<&Config>,
    now: Timestamp,
) -> Statement {
    sql("INSERT INTO agent_tools (workspace_id, agent_id, tool_key, config, created_at, revision)
         SELECT ?1, ?2, ?3, ?4, ?5, 1 + coalesce((SELECT max(seq) FROM changes WHERE workspace_id = ?1), 0) WHERE true")
    .bind(workspace.as_str())
    .bind(agent.as_str())
    .bind(tool.key)
    .bind(config.map(Config::to_json))
    .bind(now.to_string())
    .and(can_attach(workspace, agent, tool))
}

/// Updates the attachment, if it is still at the revision that was read.
pub fn update_attachment(
    workspace: &WorkspaceId,
    agent: &AgentId,
    reading: &AttachmentReading,
    config: &Config,
) -> Statement {
    sql("UPDATE agent_tools SET config = ?5, revision = revision + 1
         WHERE workspace_id = ?1 AND agent_id = ?2 AND tool_key = ?3 AND revision = ?4")
    .bind(workspace.as_str())
    .bind(agent.as_str())
    .bind(reading.attached.tool.key)
    .bind(reading.revision)
    .bind(config.to_json())
}

/// Deletes the attachment, if it is still at the revision that was read.
pub fn delete_attachment(workspace: &WorkspaceId, agent: &AgentId, reading: &AttachmentReading) -> Statement {
    sql("DELETE FROM agent_tools WHERE workspace_id = ?1 AND agent_id = ?2 AND tool_key = ?3 AND revision = ?4")
        .bind(workspace.as_str())
        .bind(agent.as_str())
        .bind(reading.attached.tool.key)
        .bind(reading.revision)
}

/// Every attachment of the workspace, sorted by the age of the agent and then by the age of the tool, if the condition is
/// true.
pub fn find_all_attachments(workspace: &WorkspaceId, only_if: Condition) -> Statement {
    sql("SELECT a.agent_id, t.id AS tool_id, a.config, a.created_at FROM agent_tools a
         JOIN agents g ON g.workspace_id = a.workspace_id AND g.id = a.agent_id JOIN tools t ON t.key = a.tool_key
         WHERE a.workspace_id = ?1")
    .bind(workspace.as_str())
    .and(only_if)
    .ordered_by("g.created_at, g.id, t.created_at, t.id")
}

pub fn read_all_attachments(rows: &Rows) -> Result<Vec<AttachmentRecord>> {
    #[derive(Deserialize)]
    struct Row {
        agent_id: String,
        tool_id: String,
        config: Option<String>,
        created_at: Timestamp,
    }
    let read = |row: Row| {
        Ok(AttachmentRecord {
            agent_id: row.agent_id,
            tool_id: row.tool_id,
            config: row.config.as_deref().map(stored_json).transpose()?,
            created_at: row.created_at,
        })
    };
    rows.all::<Row>()?.into_iter().map(read).collect()
}

/// Inserts agents, each as an [`AgentOut`](super::AgentOut). Agents that exist already are replaced.
pub fn put_agents(workspace: &WorkspaceId, agents: &impl ManyRows, revision: u32) -> Result<Vec<Statement>> {
    let text = "INSERT INTO agents (workspace_id, id, name, capabilities, max_risk, allowed_modules,
          permission_level, default_tools, find_tools, system_prompt, model, max_steps, temperature, created_at, revision)
        SELECT ?1, value ->> 'id', value ->> 'name', value -> 'capabilities', value ->> 'max_risk',
          value -> 'allowed_modules', value ->> 'permission_level', value ->> 'default_tools',
          value ->> 'find_tools', value ->> 'system_prompt', value ->> 'model', value ->> 'max_steps',
          value ->> 'temperature', value ->> 'created_at', ?3
        FROM json_each(?2) WHERE true
        ON CONFLICT (workspace_id, id) DO UPDATE SET name = excluded.name, capabilities = excluded.capabilities,
          max_risk = excluded.max_risk, allowed_modules = excluded.allowed_modules,
          permission_level = excluded.permission_level, default_tools = excluded.default_tools,
          find_tools = excluded.find_tools, system_prompt = excluded.system_prompt, model = excluded.model,
          max_steps = excluded.max_steps, temperature = excluded.temperature, created_at = excluded.created_at,
          revision = excluded.revision";
    Ok(for_each(workspace, agents, text)?.into_iter().map(|it| it.bind(revision)).collect())
}

pub fn delete_agents(workspace: &WorkspaceId, ids: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(workspace, ids, "DELETE FROM agents WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?2))")
}

/// Inserts attachments, each as an [`AttachmentRecord`]. Attachments that exist already are replaced.
pub fn put_attachments(workspace: &WorkspaceId, attachments: &impl ManyRows, revision: u32) -> Result<Vec<Statement>> {
    let text = "INSERT INTO agent_tools (workspace_id, agent_id, tool_key, config, created_at, revision)
        SELECT ?1, it.value ->> 'agent_id', t.key, nullif(it.value -> 'config', 'null'), it.value ->> 'created_at', ?3
        FROM json_each(?2) it CROSS JOIN tools t ON t.workspace_id IN ('', ?1) AND t.id = it.value ->> 'tool_id' WHERE true
        ON CONFLICT (workspace_id, agent_id, tool_key) DO UPDATE SET config = excluded.config,
          created_at = excluded.created_at, revision = excluded.revision";
    Ok(for_each(workspace, attachments, text)?.into_iter().map(|it| it.bind(revision)).collect())
}

/// Deletes attachments, each given as an object with its `agent_id` and its `tool_id`.
pub fn delete_attachments(workspace: &WorkspaceId, attachments: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(
        workspace,
        attachments,
        "DELETE FROM agent_tools WHERE workspace_id = ?1 AND (agent_id, tool_key) IN (
           SELECT it.value ->> 'agent_id', t.key FROM json_each(?2) it
           CROSS JOIN tools t ON t.workspace_id IN ('', ?1) AND t.id = it.value ->> 'tool_id')",
    )
}
