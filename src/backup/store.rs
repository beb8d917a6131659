//! SQL that reads a whole registry, and that puts another in its place. Rows go in as JSON arrays, a megabyte at a time.

use super::difference::Difference;
use super::document::{AttachmentRecord, Backup, ToolRecord, VersionRecord};
use crate::agents::{self, AgentOut};
use crate::callers::{self, BoundToken};
use crate::db::{Rows, Statement, json_chunks, sql};
use crate::error::{Error, Result};
use crate::ids::{Version, WorkspaceId};
use crate::registry::credential::Credential;
use crate::registry::{self, Tool};
use crate::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};

/// All of the registry, and what a restore must know besides.
pub fn everything(workspace: &WorkspaceId) -> [Statement; 8] {
    let of = |text: &str| sql(text).bind(workspace.as_str());
    [
        registry::find_all_versions(workspace),
        agents::find_all(workspace),
        of("SELECT a.agent_id, t.id AS tool_id, a.config, a.created_at FROM agent_tools a
            JOIN agents g ON g.workspace_id = a.workspace_id AND g.id = a.agent_id JOIN tools t ON t.key = a.tool_key
            WHERE a.workspace_id = ?1 ORDER BY g.created_at, g.id, t.created_at, t.id"),
        registry::find_credentials(workspace),
        of("SELECT tool_id || '@' || major || '.' || minor || '.' || patch AS id FROM banned_versions
            WHERE workspace_id = ?1"),
        callers::find_bound_tokens(workspace),
        sql("SELECT id FROM tools WHERE workspace_id = ''"),
        of("SELECT coalesce(max(seq), 0) AS seq FROM changes WHERE workspace_id = ?1"),
    ]
}

pub fn read_everything(rows: &[Rows; 8]) -> Result<Backup> {
    #[derive(Deserialize)]
    struct AttachmentRow {
        agent_id: String,
        tool_id: String,
        config: Option<String>,
        created_at: Timestamp,
    }
    let [versions, agents, attachments, credentials, ..] = rows;
    let versions = registry::read_tools(versions)?;
    let mut tools: Vec<ToolRecord> = Vec::new();
    for it in &versions {
        if tools.last().is_none_or(|last| last.id != it.id.as_str()) {
            tools.push(ToolRecord { id: it.id.to_string(), source: it.source, created_at: it.created_at });
        }
    }
    let attachment = |row: AttachmentRow| {
        let config = row.config.as_deref().map(serde_json::from_str).transpose();
        Ok(AttachmentRecord {
            agent_id: row.agent_id,
            tool_id: row.tool_id,
            config: config.map_err(|cause| Error::Internal(format!("a configuration cannot be read: {cause}")))?,
            created_at: row.created_at,
        })
    };
    Ok(Backup {
        tools,
        versions: versions.into_iter().map(VersionRecord::try_from).collect::<Result<_>>()?,
        agents: agents::read_all(agents)?.iter().map(AgentOut::from).collect(),
        attachments: attachments.all::<AttachmentRow>()?.into_iter().map(attachment).collect::<Result<_>>()?,
        credentials: credentials.all::<Credential>()?,
    })
}

/// What a restore must know besides the registry.
pub struct Surroundings {
    /// Versions that were deactivated for security, as `tool@version`.
    pub banned: HashSet<String>,
    pub bound_tokens: Vec<BoundToken>,
    /// The names of the built-in tools.
    pub builtins: HashSet<String>,
    /// The number of the last change.
    pub seq: u32,
}

pub fn read_surroundings(rows: &[Rows; 8]) -> Result<Surroundings> {
    #[derive(Deserialize)]
    struct Id {
        id: String,
    }
    #[derive(Deserialize)]
    struct Seq {
        seq: u32,
    }
    let [.., banned, bound_tokens, builtins, seq] = rows;
    let ids = |rows: &Rows| Ok::<_, Error>(rows.all::<Id>()?.into_iter().map(|it| it.id).collect());
    Ok(Surroundings {
        banned: ids(banned)?,
        bound_tokens: bound_tokens.all()?,
        builtins: ids(builtins)?,
        seq: seq.first::<Seq>()?.map_or(0, |it| it.seq),
    })
}

/// The statements that make the registry what it is to be. What they touch gets a revision that nothing of the workspace
/// has had, so that what others decided on an older reading is refused.
pub fn put_in_place(
    workspace: &WorkspaceId,
    differs: &Difference<'_>,
    tools: &[Tool],
    revision: u32,
) -> Result<Vec<Statement>> {
    let mut all = Statements { workspace, revision, all: Vec::new() };
    let touched = differs.versions.put.iter().map(|(it, _)| it.tool_id.as_str());
    let touched = touched.chain(differs.versions.removed.iter().map(|it| it.tool_id.as_str()));
    let touched = touched.chain(differs.tools.put.iter().map(|(it, _)| it.id.as_str())).collect::<BTreeSet<_>>();
    let touched = touched.into_iter().map(Value::from).collect::<Vec<_>>();

    all.remove(differs);
    // Versions that differ go and come back: a tool's current one is not pointed at meanwhile.
    all.each(
        &touched,
        "UPDATE tools SET current_version_key = NULL, revision = ?2
        WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?3))",
    );
    let replaced = differs.versions.put.iter().filter_map(|(_, before)| *before);
    let replaced = differs.versions.removed.iter().copied().chain(replaced).map(named).collect::<Vec<_>>();
    all.each(
        &replaced,
        "DELETE FROM tool_versions WHERE key IN (
        SELECT v.key FROM json_each(?3) it
        CROSS JOIN tools t ON t.workspace_id = ?1 AND t.id = it.value ->> 'tool_id'
        CROSS JOIN tool_versions v ON v.tool_key = t.key AND v.major = it.value ->> 'major'
          AND v.minor = it.value ->> 'minor' AND v.patch = it.value ->> 'patch')",
    );
    all.put(differs, tools)?;
    all.each(
        &touched,
        "UPDATE tools SET current_version_key = coalesce(
          (SELECT key FROM tool_versions WHERE tool_key = tools.key AND active = 1),
          (SELECT key FROM tool_versions WHERE tool_key = tools.key ORDER BY major DESC, minor DESC, patch DESC LIMIT 1))
        WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?3))",
    );
    Ok(all.all)
}

/// A version by its numbers, as they stand in the table.
fn named(it: &VersionRecord) -> Value {
    let version = Version::parse(&it.version);
    let number = |of: fn(Version) -> u32| version.map(of);
    json!({
        "tool_id": it.tool_id,
        "major": number(|it| it.major),
        "minor": number(|it| it.minor),
        "patch": number(|it| it.patch),
    })
}

struct Statements<'a> {
    workspace: &'a WorkspaceId,
    revision: u32,
    all: Vec<Statement>,
}

impl Statements<'_> {
    /// A statement for each chunk of the items, which are `?3`; `?1` is the workspace, `?2` the revision.
    fn each(&mut self, items: &[Value], text: &str) {
        for (_, chunk) in json_chunks(items) {
            self.all.push(sql(text).bind(self.workspace.as_str()).bind(self.revision).bind(chunk));
        }
    }

    fn remove(&mut self, differs: &Difference<'_>) {
        let attachments = differs.attachments.removed.iter();
        let attachments = attachments.map(|it| json!({"agent_id": it.agent_id, "tool_id": it.tool_id}));
        self.each(
            &attachments.collect::<Vec<_>>(),
            "DELETE FROM agent_tools
            WHERE workspace_id = ?1 AND (agent_id, tool_key) IN (
              SELECT it.value ->> 'agent_id', t.key FROM json_each(?3) it CROSS JOIN tools t ON t.workspace_id IN ('', ?1) AND t.id = it.value ->> 'tool_id')",
        );
        let ids = |ids: Vec<&str>| ids.into_iter().map(Value::from).collect::<Vec<_>>();
        self.each(
            &ids(differs.agents.removed.iter().map(|it| it.id.as_str()).collect()),
            "DELETE FROM agents WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?3))",
        );
        self.each(
            &ids(differs.tools.removed.iter().map(|it| it.id.as_str()).collect()),
            "DELETE FROM tools WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?3))",
        );
        self.each(
            &ids(differs.credentials.removed.iter().map(|it| it.id.as_str()).collect()),
            "DELETE FROM credentials WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?3))",
        );
    }

    fn put(&mut self, differs: &Difference<'_>, tools: &[Tool]) -> Result<()> {
        let credentials = differs.credentials.put.iter().map(|(it, _)| json!(it)).collect::<Vec<_>>();
        self.each(&credentials, "INSERT INTO credentials (workspace_id, id, description, created_at)
            SELECT ?1, value ->> 'id', value ->> 'description', value ->> 'created_at' FROM json_each(?3) WHERE true
            ON CONFLICT (workspace_id, id) DO UPDATE SET description = excluded.description, created_at = excluded.created_at");
        let agents = differs.agents.put.iter().map(|(it, _)| json!(it)).collect::<Vec<_>>();
        self.each(
            &agents,
            "INSERT INTO agents (workspace_id, id, name, capabilities, max_risk, allowed_modules,
              permission_level, default_tools, find_tools, created_at, revision)
            SELECT ?1, value ->> 'id', value ->> 'name', value -> 'capabilities', value ->> 'max_risk',
              value -> 'allowed_modules', value ->> 'permission_level', value ->> 'default_tools',
              value ->> 'find_tools', value ->> 'created_at', ?2
            FROM json_each(?3) WHERE true
            ON CONFLICT (workspace_id, id) DO UPDATE SET name = excluded.name, capabilities = excluded.capabilities,
              max_risk = excluded.max_risk, allowed_modules = excluded.allowed_modules,
              permission_level = excluded.permission_level, default_tools = excluded.default_tools,
              find_tools = excluded.find_tools,
              created_at = excluded.created_at, revision = excluded.revision",
        );
        let records = differs.tools.put.iter().map(|(it, _)| json!(it)).collect::<Vec<_>>();
        self.each(
            &records,
            "INSERT INTO tools (workspace_id, id, source, created_at, revision)
            SELECT ?1, value ->> 'id', value ->> 'source', value ->> 'created_at', ?2 FROM json_each(?3) WHERE true
            ORDER BY key
            ON CONFLICT (workspace_id, id) DO UPDATE SET source = excluded.source, created_at = excluded.created_at",
        );
        let put = differs.versions.put.iter();
        let put = put.map(|(it, _)| (it.tool_id.as_str(), it.version.as_str())).collect::<HashSet<_>>();
        let versions = tools.iter().filter(|it| put.contains(&(it.id.as_str(), it.version.to_string().as_str())));
        let versions = versions.map(registry::version_json).collect::<Result<Vec<_>>>()?;
        self.each(&versions, &registry::insert_versions("?3"));
        let attachments = differs.attachments.put.iter().map(|(it, _)| json!(it)).collect::<Vec<_>>();
        self.each(&attachments, "INSERT INTO agent_tools (workspace_id, agent_id, tool_key, config, created_at, revision)
            SELECT ?1, it.value ->> 'agent_id', t.key, nullif(it.value -> 'config', 'null'), it.value ->> 'created_at', ?2
            FROM json_each(?3) it CROSS JOIN tools t ON t.workspace_id IN ('', ?1) AND t.id = it.value ->> 'tool_id' WHERE true
            ON CONFLICT (workspace_id, agent_id, tool_key) DO UPDATE SET config = excluded.config,
              created_at = excluded.created_at, revision = excluded.revision");
        Ok(())
    }
}
