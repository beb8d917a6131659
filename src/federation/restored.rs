//! MCP servers in the change log and in backups, and the rules that the servers of a backup keep: those of a registration.

use super::server::{McpServer, OwnSettings, Process, ServerRecord, ServerSettings, Transport, stdio_place};
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::{ServerId, ToolsetId};
use crate::registry::{HeaderValue, masked_url};
use crate::upstreams::{MASK, NO_NAME, Problems, UpstreamRecord, UpstreamSettings};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl ServerRecord {
    fn settings(self) -> ServerSettings {
        let process = self.command.map(|command| Process {
            command,
            args: self.args,
            env: self.env,
            cwd: self.cwd,
            allowed_hosts: self.allowed_hosts,
        });
        ServerSettings {
            transport: self.transport,
            url: self.url,
            headers: self.headers,
            enabled: self.enabled,
            auto_accept: self.auto_accept,
            toolset_id: self.toolset_id,
            paused: self.paused,
            own: OwnSettings {
                requires_approval: self.requires_approval,
                risk_level: self.risk_level,
                process,
                files: self.files,
                by_admin: self.by_admin,
            },
        }
    }
}

impl ServerRecord {
    /// Checks what only servers of toolsets have. The room `backup` checks that the toolset is there.
    fn bundle_rules(&self, problems: &mut Problems) {
        if self.toolset_id.as_ref().is_some_and(|it| ToolsetId::parse(it).is_none()) {
            problems.add("/toolset_id", NO_NAME);
        }
        if self.paused && (self.enabled || self.toolset_id.is_none()) {
            problems.add("/paused", "is for servers of disabled toolsets, which are not enabled");
        }
        if self.toolset_id.is_none() && (self.files.is_some() || !self.by_admin.is_empty()) {
            problems.add("/toolset_id", "is missing: files and by_admin are those of a toolset's server");
        }
        let is_hash = |it: &String| it.len() == 64 && it.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        if self.files.as_ref().is_some_and(|it| !is_hash(it)) {
            problems.add("/files", "must be a SHA-256 of 64 lower-case hexadecimal digits");
        }
    }
}

impl UpstreamRecord for ServerRecord {
    type Settings = ServerSettings;

    fn stored(server: &McpServer) -> Self {
        let settings = server.settings.clone();
        let (command, args, env, cwd, allowed_hosts) = match settings.own.process {
            Some(it) => (Some(it.command), it.args, it.env, it.cwd, it.allowed_hosts),
            None => (None, Vec::new(), BTreeMap::new(), None, Vec::new()),
        };
        Self {
            id: server.name().to_owned(),
            transport: settings.transport,
            url: settings.url,
            headers: settings.headers,
            command,
            args,
            env,
            cwd,
            allowed_hosts,
            enabled: settings.enabled,
            requires_approval: settings.own.requires_approval,
            risk_level: settings.own.risk_level,
            auto_accept: settings.auto_accept,
            toolset_id: settings.toolset_id,
            paused: settings.paused,
            files: settings.own.files,
            by_admin: settings.own.by_admin,
            created_at: server.created_at,
        }
    }

    /// The names of the headers, of the variables and of the URL's parameters stay.
    fn without_values(self) -> Self {
        let mask = |(name, _)| (name, HeaderValue::Plain(MASK.to_owned()));
        let headers = self.headers.into_iter().map(mask).collect();
        let env = self.env.into_iter().map(mask).collect();
        Self { headers, env, url: self.url.as_deref().map(masked_url), ..self }
    }

    fn name(&self) -> &str {
        &self.id
    }

    fn credentials(&self) -> Vec<String> {
        self.clone().settings().credentials()
    }

    fn row(&self) -> Result<Value> {
        let columns = self.clone().settings().columns();
        Ok(json!({
            "name": self.id, "kind": columns.kind, "url": columns.url, "slow": false, "timeout_seconds": null,
            "headers": columns.headers, "enabled": columns.enabled, "auto_accept": columns.auto_accept, "include": null,
            "server": columns.server, "toolset_id": columns.toolset_id, "paused": columns.paused, "created_at": self.created_at,
        }))
    }

    fn checked(mut self, scope: &Scope) -> Result<Self> {
        let mut problems = Problems::default();
        if ServerId::parse(&self.id).is_none() {
            problems.add("/id", NO_NAME);
        }
        if self.transport != Transport::Stdio && !(self.args.is_empty() && self.env.is_empty() && self.cwd.is_none()) {
            problems.add("/command", "is missing: args, env and cwd are those of a command");
        }
        self.bundle_rules(&mut problems);
        let place = self.clone().settings().place(&self.id);
        let mut opened = self.clone().settings();
        problems.opened(scope, "headers", &mut opened.headers, &place);
        if let Some(process) = &mut opened.own.process {
            problems.opened(scope, "env", &mut process.env, &stdio_place(&self.id));
        }
        opened.rules(scope, &mut problems);
        let mut stored = self.clone().settings();
        stored.seal(scope, &self.id, problems)?;
        self.headers = stored.headers;
        self.env = stored.own.process.map(|it| it.env).unwrap_or_default();
        Ok(self)
    }
}
