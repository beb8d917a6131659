//! The bodies of requests about MCP servers, and the rules that they keep.

use super::server::{OwnSettings, Process, ServerSettings, Transport, stdio_place};
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::ServerId;
use crate::registry::{HeaderValue, Risk};
use crate::upstreams::{NO_NAME, Problems, fault_of_credentials, kept_headers, plain};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

const MAX_ARGS: usize = 64;
const MAX_ARG_BYTES: usize = 4_096;
const MAX_ENV: usize = 64;
const MAX_HOSTS: usize = 64;
const MAX_HOST_BYTES: usize = 253;

const NO_COMMAND: &str = "is missing: args, env, cwd and allowed_hosts are those of a command";
const NO_URL: &str = "is for remote servers: a stdio server has a command, and no url";
const NOT_STDIO: &str = "is for the transport stdio: a remote server has a url, and no command";

/// A remote server has a `url`; a process has a `command`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = McpServerIn)]
pub struct ServerIn {
    /// The ids of the server's tools begin with its id and a colon.
    #[schema(pattern = "^[a-z0-9_-]{1,64}$", example = "time")]
    pub id: String,
    /// `stdio` with a `command`, else `streamable-http`, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The address of a remote server.
    #[schema(min_length = 1, max_length = 2048, example = "https://mcp.example.com/mcp")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers of every request to a remote server. A value may name credentials of the workspace as `${NAME}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
    /// The program of a stdio server: `npx`, `uvx`, `node`, `python3`, or one that the MCP host has.
    #[schema(max_length = 256)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[schema(max_items = 64)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// The environment of a stdio server. A value may name credentials of the workspace as `${NAME}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// The directory that a stdio server starts in, within its own files.
    #[schema(max_length = 1024)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Tools of a server that is not enabled cannot be called; true, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether each call of the server's tools needs an approval; true, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
    /// The risk of the server's tools; `medium`, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<Risk>,
    /// Whether definitions that change, and tools that appear later, are accepted without an admin; false, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_accept: Option<bool>,
    /// The hosts that a stdio server may reach; none, if not given.
    #[schema(max_items = 64, example = json!(["api.example.com"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_hosts: Option<Vec<String>>,
}

/// Fields that are not given stay as they are.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = McpServerPatch)]
pub struct ServerChange {
    transport: Option<Transport>,
    /// Another origin drops the values of `headers`, unless they are given again.
    #[schema(min_length = 1, max_length = 2048)]
    url: Option<String>,
    /// Replaces all headers. The value `***` keeps the present value of the header, if the origin stays the same.
    headers: Option<BTreeMap<String, String>>,
    /// Another program, or other arguments, drop the values of `env`, unless they are given again.
    #[schema(max_length = 256)]
    command: Option<String>,
    #[schema(max_items = 64)]
    args: Option<Vec<String>>,
    /// Replaces the whole environment. The value `***` keeps the present value, if the program stays the same.
    env: Option<BTreeMap<String, String>>,
    #[schema(max_length = 1024)]
    cwd: Option<String>,
    pub enabled: Option<bool>,
    requires_approval: Option<bool>,
    risk_level: Option<Risk>,
    auto_accept: Option<bool>,
    #[schema(max_items = 64)]
    allowed_hosts: Option<Vec<String>>,
}

impl ServerIn {
    /// The id and the settings, with all values as they are stored. Fails with everything that is wrong.
    pub fn check(self, scope: &Scope) -> Result<(ServerId, ServerSettings)> {
        let mut problems = Problems::default();
        let id = ServerId::parse(&self.id);
        if id.is_none() {
            problems.add("/id", NO_NAME);
        }
        let default = if self.command.is_some() { Transport::Stdio } else { Transport::StreamableHttp };
        let transport = self.transport.unwrap_or(default);
        let gives_process = gives_process(&self.args, &self.env, &self.cwd, &self.allowed_hosts);
        let process = self.command.map(|command| Process {
            command,
            args: self.args.unwrap_or_default(),
            env: plain(self.env.unwrap_or_default()),
            cwd: self.cwd,
            allowed_hosts: self.allowed_hosts.unwrap_or_default(),
        });
        if process.is_none() && gives_process {
            problems.add("/command", NO_COMMAND);
        }
        let settings = ServerSettings {
            transport,
            url: self.url.map(|it| it.trim().to_owned()),
            headers: plain(self.headers.unwrap_or_default()),
            enabled: self.enabled.unwrap_or(true),
            auto_accept: self.auto_accept.unwrap_or(false),
            toolset_id: None,
            paused: false,
            own: OwnSettings {
                requires_approval: self.requires_approval.unwrap_or(true),
                risk_level: self.risk_level.unwrap_or(Risk::Medium),
                process,
                files: None,
                by_admin: BTreeSet::new(),
            },
        };
        problems.masked("headers", &settings.headers);
        if let Some(process) = &settings.own.process {
            problems.masked("env", &process.env);
        }
        let settings = settings.checked(scope, &self.id, problems)?;
        // A server without an id has a problem, and does not get here.
        id.map(|it| (it, settings)).ok_or_else(|| Error::Internal("an MCP server has no id".into()))
    }
}

impl ServerChange {
    /// The settings after the change, with all values as they are stored.
    pub fn apply(self, scope: &Scope, id: &ServerId, before: &ServerSettings) -> Result<ServerSettings> {
        let mut problems = Problems::default();
        let transport = self.transport.unwrap_or(match (&self.url, &self.command) {
            (Some(_), None) if before.transport == Transport::Stdio => Transport::StreamableHttp,
            (None, Some(_)) => Transport::Stdio,
            _ => before.transport,
        });
        let is_stdio = transport == Transport::Stdio;
        // What the transport has no use for is told, and not dropped.
        if is_stdio && self.url.is_some() {
            problems.add("/url", NO_URL);
        } else if !is_stdio && self.command.is_some() {
            problems.add("/command", NOT_STDIO);
        } else if !is_stdio && gives_process(&self.args, &self.env, &self.cwd, &self.allowed_hosts) {
            problems.add("/command", NO_COMMAND);
        }
        let url = self.url.map(|it| it.trim().to_owned()).or_else(|| before.url.clone()).filter(|_| !is_stdio);
        let kept = match (&before.url, &url) {
            (Some(before_url), Some(url)) => kept_headers(scope, &before.headers, before_url, url),
            _ => BTreeMap::new(),
        };
        let headers = match self.headers {
            None => kept,
            Some(given) => problems.changed("headers", given, &kept),
        };
        let process = if is_stdio {
            let present = before.own.process.as_ref();
            let command = self.command.or_else(|| present.map(|it| it.command.clone())).unwrap_or_default();
            let args = self.args.or_else(|| present.map(|it| it.args.clone())).unwrap_or_default();
            let cwd = self.cwd.or_else(|| present.and_then(|it| it.cwd.clone()));
            // Another program must not get the secrets of this one.
            let same = present.filter(|it| (&it.command, &it.args, &it.cwd) == (&command, &args, &cwd));
            let kept = same.map(|it| it.env.clone()).unwrap_or_default();
            let env = match self.env {
                None => kept,
                Some(given) => problems.changed("env", given, &kept),
            };
            let allowed_hosts =
                self.allowed_hosts.or_else(|| present.map(|it| it.allowed_hosts.clone())).unwrap_or_default();
            Some(Process { command, args, env, cwd, allowed_hosts })
        } else {
            None
        };
        let mut after = ServerSettings {
            transport,
            url,
            headers,
            enabled: self.enabled.unwrap_or(before.enabled),
            auto_accept: self.auto_accept.unwrap_or(before.auto_accept),
            toolset_id: before.toolset_id.clone(),
            paused: before.paused,
            own: OwnSettings {
                requires_approval: self.requires_approval.unwrap_or(before.own.requires_approval),
                risk_level: self.risk_level.unwrap_or(before.own.risk_level),
                process,
                files: before.own.files.clone(),
                by_admin: before.own.by_admin.clone(),
            },
        };
        if before.toolset_id.is_some() {
            after.own.by_admin.extend(before.differing(&after));
        }
        after.checked(scope, id.as_str(), problems)
    }
}

impl ServerSettings {
    /// Checks the settings, whose values are plain or were sealed before, and seals the literal values.
    fn checked(mut self, scope: &Scope, id: &str, mut problems: Problems) -> Result<Self> {
        self.rules(scope, &mut problems);
        self.seal(scope, id, problems)?;
        Ok(self)
    }

    /// Seals the literal values. Fails if there is any problem.
    pub fn seal(&mut self, scope: &Scope, id: &str, problems: Problems) -> Result<()> {
        problems.none()?;
        let place = self.place(id);
        self.headers = Problems::default().sealed(scope, "headers", &self.headers, &place)?;
        if let Some(process) = &mut self.own.process {
            process.env = Problems::default().sealed(scope, "env", &process.env, &stdio_place(id))?;
        }
        Ok(())
    }

    /// Checks everything but whether the values can be sealed.
    pub fn rules(&self, scope: &Scope, problems: &mut Problems) {
        match (self.transport, &self.url, &self.own.process) {
            (Transport::Stdio, None, Some(process)) => process.rules(problems),
            (Transport::Stdio, _, None) => problems.add("/command", "is missing: a stdio server is a command"),
            (Transport::Stdio, Some(_), Some(_)) => {
                problems.add("/url", NO_URL);
            }
            (Transport::StreamableHttp | Transport::Sse, Some(url), None) => {
                problems.url(scope, url, &self.headers);
            }
            (Transport::StreamableHttp | Transport::Sse, None, None) => {
                problems.add("/url", "is missing: a remote server has a url, and a stdio server a command");
            }
            (Transport::StreamableHttp | Transport::Sse, _, Some(_)) => {
                problems.add("/command", NOT_STDIO);
            }
        }
        if self.transport == Transport::Stdio && !self.headers.is_empty() {
            problems.add("/headers", "are for remote servers: a stdio server has an environment (env)");
        }
        problems.headers(&self.headers);
    }
}

impl Process {
    fn rules(&self, problems: &mut Problems) {
        if !is_command(&self.command) {
            problems
                .add("/command", "must be the name of a program, of letters, digits, `.`, `_` and `-`, without a path");
        }
        if self.args.len() > MAX_ARGS {
            problems.add("/args", &format!("holds {} arguments; {MAX_ARGS} are allowed", self.args.len()));
        }
        for (index, arg) in self.args.iter().enumerate() {
            if arg.len() > MAX_ARG_BYTES || arg.contains('\0') {
                problems
                    .add(&format!("/args/{index}"), &format!("must have at most {MAX_ARG_BYTES} bytes, and no NUL"));
            }
        }
        if self.env.len() > MAX_ENV {
            problems.add("/env", &format!("holds {} variables; {MAX_ENV} are allowed", self.env.len()));
        }
        for (name, value) in &self.env {
            if let Some(fault) = fault_of_variable(name, value) {
                problems.add(&format!("/env/{}", name.chars().take(64).collect::<String>()), fault);
            }
        }
        if self.cwd.as_ref().is_some_and(|it| !is_inner_path(it)) {
            problems.add("/cwd", "must be a relative path of at most 1024 bytes, without `..`");
        }
        if self.allowed_hosts.len() > MAX_HOSTS {
            let count = self.allowed_hosts.len();
            problems.add("/allowed_hosts", &format!("holds {count} entries; {MAX_HOSTS} are allowed"));
        }
        for (index, host) in self.allowed_hosts.iter().enumerate() {
            if !is_host(host) {
                problems.add(&format!("/allowed_hosts/{index}"), "must be the name of a host, such as api.example.com");
            }
        }
    }
}

/// Whether anything was given that only a process has. What is empty is nothing: every server is shown with it.
fn gives_process(
    args: &Option<Vec<String>>,
    env: &Option<BTreeMap<String, String>>,
    cwd: &Option<String>,
    hosts: &Option<Vec<String>>,
) -> bool {
    let has_some = |it: &Option<Vec<String>>| it.as_ref().is_some_and(|it| !it.is_empty());
    has_some(args) || has_some(hosts) || cwd.is_some() || env.as_ref().is_some_and(|it| !it.is_empty())
}

fn is_command(text: &str) -> bool {
    let is_fine = |it: u8| it.is_ascii_alphanumeric() || b"._-".contains(&it);
    (1..=256).contains(&text.len()) && text.bytes().all(is_fine) && !text.starts_with(['.', '-'])
}

/// Variables that decide which code a program loads would let the environment replace the program.
const LOADING: [&str; 6] = ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PATH", "HOME", "NODE_OPTIONS"];

fn fault_of_variable(name: &str, value: &HeaderValue) -> Option<&'static str> {
    let is_name_byte = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    let starts_well = !name.is_empty() && !name.starts_with(|it: char| it.is_ascii_digit());
    if !starts_well || name.len() > 128 || !name.bytes().all(is_name_byte) {
        return Some("must have a name of letters, digits and _, which does not begin with a digit");
    }
    if LOADING.contains(&name) {
        return Some("is set by the MCP host itself");
    }
    let value = value.plain().unwrap_or_default();
    if value.len() > 8_192 || value.contains('\0') {
        return Some("must have at most 8192 bytes, and no NUL");
    }
    fault_of_credentials(value)
}

fn is_inner_path(text: &str) -> bool {
    let has_steps_up = || text.split('/').any(|it| it == "..");
    (1..=1_024).contains(&text.len()) && !text.starts_with('/') && !text.contains(['\\', '\0']) && !has_steps_up()
}

fn is_host(text: &str) -> bool {
    let is_fine = |it: u8| it.is_ascii_alphanumeric() || b".-".contains(&it);
    (1..=MAX_HOST_BYTES).contains(&text.len()) && text.bytes().all(is_fine) && !text.starts_with(['.', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_name() {
        for good in ["npx", "python3.11", "mcp-server-time"] {
            assert!(is_command(good), "{good}");
        }
        for bad in ["", "/bin/sh", "../x", "a b", "-c", ".x", "a;b", &"x".repeat(257)] {
            assert!(!is_command(bad), "{bad}");
        }
    }

    #[test]
    fn a_variable_replaces_no_code() {
        let fault = |name: &str, value: &str| fault_of_variable(name, &HeaderValue::Plain(value.to_owned()));
        for (name, value) in [("API_KEY", "x y"), ("a", ""), ("K", "${NAME}"), ("K", "Bearer ${A} ${B}")] {
            assert_eq!(fault(name, value), None, "{name}");
        }
        for (name, value) in [("", "x"), ("1A", "x"), ("A-B", "x"), ("PATH", "x"), ("LD_PRELOAD", "x"), ("A", "a\0")] {
            assert!(fault(name, value).is_some(), "{name}");
        }
        assert!(fault("K", "${no name}").is_some());
    }

    #[test]
    fn a_directory_is_inside() {
        for good in ["a", "a/b", "a/..b"] {
            assert!(is_inner_path(good), "{good}");
        }
        for bad in ["", "/a", "..", "a/../b", "a\\b", "a\0"] {
            assert!(!is_inner_path(bad), "{bad}");
        }
    }
}
