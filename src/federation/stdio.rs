//! Reaches stdio servers: processes that an MCP host runs. The host speaks Streamable HTTP for each process, so the client
//! asks it like any other server. A request names the configuration of its process by a hash. A host that does not have
//! this configuration says so before anything runs, and then gets it.

use super::bundled_files::BundledFiles;
use super::server::{McpServer, Process, ServerSettings, stdio_place};
use crate::app::App;
use crate::callers::Scope;
use crate::durable::mcp_host;
use crate::error::Error;
use crate::files::{self, StoredPiece, WantedContents};
use crate::hex;
use crate::ids::WorkspaceId;
use crate::mcp_client::{ClientFailure, FailureCause, McpPeer, McpTransport, PeerAnswer, PeerMemory};
use crate::memory_turn::LARGE_BYTES;
use crate::outgoing::{OutgoingFailure, OutgoingRequest, OutgoingResponse, Route, excerpt, fill_in};
use crate::registry::Server;
use crate::upstreams::{UpstreamWarning, credentials_of};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use worker::{Method, Stub, console_warn};

/// The header that names the configuration which a request is for.
const CONFIGURATION: &str = "Mcp-Host-Config";

/// The response of a host that has another configuration for the process, or none. Nothing has run.
const CONFIGURATION_NEEDED: u16 = 412;
/// The response of an object that has no container.
const NO_CONTAINER: u16 = 501;

/// How long a host may take to store a configuration, or to stop a process.
const CONFIGURING: Duration = Duration::from_secs(30);

const NO_HOST: &str =
    "this deployment has no MCP host for stdio servers: neither a container (MCP_HOST) nor MCP_HOST_URL";

/// Known after the first request, and constant for the life of the isolate: this deployment has no containers.
static NO_CONTAINERS: AtomicBool = AtomicBool::new(false);

/// Whether stdio servers have somewhere to run, as far as this isolate knows. No host is asked.
pub fn has_host(app: &App) -> bool {
    let has_containers = || app.mcp_hosts().is_some() && !NO_CONTAINERS.load(Ordering::Relaxed);
    app.settings().mcp_host_url.is_some() || has_containers()
}

/// The process as a host takes it.
#[derive(Serialize)]
struct Configuration<'a> {
    command: &'a str,
    args: &'a [String],
    env: BTreeMap<String, String>,
    cwd: Option<&'a str>,
    /// The list of the toolset's files, by its hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<&'a str>,
}

/// Where a host is.
enum Host {
    /// The object of a container.
    Object(Stub),
    /// A process at this URL, which wants this secret.
    Url(String, Option<String>),
}

impl Host {
    /// The hosts of the deployment, in the order in which they are asked.
    fn all(app: &App, workspace: &WorkspaceId, id: &str) -> Vec<Self> {
        let has_containers = !NO_CONTAINERS.load(Ordering::Relaxed);
        let object = Some(()).filter(|()| has_containers).and_then(|()| mcp_host::object(app, workspace, id).ok()?);
        let settings = app.settings();
        let url = settings.mcp_host_url.clone().map(|url| Self::Url(url, settings.mcp_host_secret.clone()));
        object.map(Self::Object).into_iter().chain(url).collect()
    }

    /// The URL of a path of the host. An object has no address of its own.
    fn url(&self, path: &str) -> String {
        match self {
            Self::Object(_) => format!("{}{path}", mcp_host::ORIGIN),
            Self::Url(url, _) => format!("{url}{path}"),
        }
    }

    fn route(&self) -> Route<'_> {
        match self {
            Self::Object(object) => Route::Object(object),
            Self::Url(..) => Route::Network,
        }
    }

    /// The headers of every request to the host.
    fn headers(&self, allowed_hosts: &[String]) -> BTreeMap<String, String> {
        let mut headers = BTreeMap::new();
        match self {
            Self::Object(_) if allowed_hosts.is_empty() => {}
            Self::Object(_) => {
                headers.insert(mcp_host::ALLOWED_HOSTS.to_owned(), allowed_hosts.join(","));
            }
            Self::Url(_, Some(secret)) => {
                headers.insert("Authorization".to_owned(), format!("Bearer {secret}"));
            }
            Self::Url(_, None) => {}
        }
        headers
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: &str,
        allowed_hosts: &[String],
    ) -> Result<OutgoingResponse, OutgoingFailure> {
        let url = self.url(path);
        let headers = self.headers(allowed_hosts);
        let time = Some(CONFIGURING);
        let request = OutgoingRequest { method, headers, time, ..OutgoingRequest::post(&url, body) };
        request.send(self.route()).await
    }
}

/// Asks the process of a server. Fails with the reason, if the process cannot be asked, in words that may be shown to
/// every caller.
pub async fn ask<T>(
    scope: &Scope,
    id: &str,
    settings: &ServerSettings,
    process: &Process,
    memory: Option<PeerMemory>,
    question: impl AsyncFn(&McpPeer<'_>, Option<PeerMemory>) -> PeerAnswer<T>,
) -> Result<(PeerAnswer<T>, Server), String> {
    let (configuration, lent) = configuration(scope, id, settings, process)?;
    let hash = hex::encode(&Sha256::digest(&configuration));
    let path = path(scope.workspace(), id);
    for host in Host::all(scope.app(), scope.workspace(), id) {
        let mut headers = host.headers(&process.allowed_hosts);
        headers.insert(CONFIGURATION.to_owned(), hash.clone());
        let url = host.url(&format!("{path}/mcp"));
        let peer = McpPeer {
            url: &url,
            headers: &headers,
            transport: McpTransport::StreamableHttp,
            route: host.route(),
            turn: scope.memory_turn(),
        };
        let mut answer = question(&peer, memory.clone()).await;
        if is_refused(&answer, NO_CONTAINER) {
            NO_CONTAINERS.store(true, Ordering::Relaxed);
            continue;
        }
        if is_refused(&answer, CONFIGURATION_NEEDED) {
            send_files(scope, &host, &path, settings, &process.allowed_hosts).await?;
            configure(scope, &host, &path, &configuration, &process.allowed_hosts).await?;
            answer = question(&peer, memory).await;
        }
        return Ok((in_plain_words(answer), Server::with_secrets(url, headers, lent)));
    }
    Err(NO_HOST.to_owned())
}

/// The answer with the host's own words about a process that it could not ask. The end of the process' stderr, which comes
/// with them, is for admins.
fn in_plain_words<T>(mut answer: PeerAnswer<T>) -> PeerAnswer<T> {
    if let Err(ClientFailure { cause: FailureCause::Refused { status, text }, .. }) = &mut answer.outcome {
        *text = refusal(*status, text);
    }
    answer
}

fn is_refused<T>(answer: &PeerAnswer<T>, by: u16) -> bool {
    matches!(&answer.outcome, Err(ClientFailure { cause: FailureCause::Refused { status, .. }, .. }) if *status == by)
}

/// The path of a server's process on a host.
fn path(workspace: &WorkspaceId, id: &str) -> String {
    format!("/servers/{workspace}:{id}")
}

/// The configuration as JSON, and the secrets in it. Fails with the reason, if a secret is missing: a process never
/// starts with a part of its environment.
fn configuration(
    scope: &Scope,
    id: &str,
    settings: &ServerSettings,
    process: &Process,
) -> Result<(String, Vec<String>), String> {
    let (app, place) = (scope.app(), stdio_place(id));
    let mut opened = BTreeMap::new();
    for (name, value) in &process.env {
        let value = value.open(app.settings().sealer.as_ref(), name, &place);
        let value = value.ok_or("a variable was sealed with another SECRET_KEY; give the variable's value again")?;
        opened.insert(name.clone(), value);
    }
    let filled = fill_in(&opened, |name| app.credential(scope.workspace(), name, &place));
    let env = filled.map_err(|missing| has_no_value(&missing, &place))?;
    let lent = env.values().filter(|it| it.len() >= MIN_SECRET_BYTES).cloned().collect();
    let configuration = Configuration {
        command: &process.command,
        args: &process.args,
        env,
        cwd: process.cwd.as_deref(),
        files: settings.own.files.as_deref(),
    };
    let text = serde_json::to_string(&configuration).map_err(|_| "its configuration is not JSON")?;
    Ok((text, lent))
}

/// A warning for each credential that the environment of a stdio server names, and that has no value here. The server stays
/// stopped until all of them have one.
pub fn missing_credentials(scope: &Scope, server: &McpServer) -> Vec<UpstreamWarning> {
    let place = stdio_place(server.name());
    let named = server.settings.own.process.iter().flat_map(|it| credentials_of(&it.env));
    let missing = named.filter(|it| scope.app().credential(scope.workspace(), it, &place).is_none());
    missing.map(|it| UpstreamWarning { tool: None, message: has_no_value(&it, &place) }).collect()
}

pub fn has_no_value(credential: &str, place: &str) -> String {
    format!(
        "the credential {credential} has no value here; wrangler secret put sets one, and CREDENTIAL_WORKSPACES lends it to \
         {place}"
    )
}

/// The shortest value of a variable that counts as a secret. A shorter one occurs in results by chance.
const MIN_SECRET_BYTES: usize = 8;

async fn configure(
    scope: &Scope,
    host: &Host,
    path: &str,
    configuration: &str,
    allowed_hosts: &[String],
) -> Result<(), String> {
    tell(scope, host, Method::Put, path, configuration, allowed_hosts).await.map(drop)
}

/// Tells the host something, and returns what it answers. Fails with the host's words if the host refuses.
async fn tell(
    scope: &Scope,
    host: &Host,
    method: Method,
    path: &str,
    body: &str,
    allowed_hosts: &[String],
) -> Result<String, String> {
    let unreachable = |_| "the MCP host could not be reached".to_owned();
    let response = host.send(method, path, body, allowed_hosts).await.map_err(unreachable)?;
    let status = response.status();
    let text = response.text(MAX_ANSWER_BYTES, scope.memory_turn()).await.map_err(unreachable)?;
    if (200..300).contains(&status) { Ok(text) } else { Err(refusal(status, &text)) }
}

/// The longest answer names the contents of 2,000 files.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Sends the files of the server's toolset, as far as the host lacks them. The configuration that names them comes after
/// them.
async fn send_files(
    scope: &Scope,
    host: &Host,
    path: &str,
    settings: &ServerSettings,
    allowed_hosts: &[String],
) -> Result<(), String> {
    #[derive(Deserialize)]
    struct ListAnswer {
        missing: Vec<String>,
    }
    #[derive(Serialize)]
    struct PiecesBody<'a> {
        pieces: Vec<StoredPiece<'a>>,
    }
    let (Some(toolset), Some(hash)) = (&settings.toolset_id, &settings.own.files) else { return Ok(()) };
    let unreadable = |cause: Error| {
        console_warn!("the files of the toolset {toolset} cannot be read: {cause:?}");
        "the files of its toolset cannot be read".to_owned()
    };
    let listed = files::list_bundle(scope, toolset).await.map_err(unreadable)?;
    let list = BundledFiles::new(listed.iter().map(|it| (it.path.as_str(), it.sha256.as_str(), it.size)));
    let list = list.filter(|it| it.hash() == hash).ok_or(OTHER_FILES)?;
    let path = format!("{path}/files");
    let answer = tell(scope, host, Method::Put, &path, list.body(), allowed_hosts).await?;
    let answer = serde_json::from_str::<ListAnswer>(&answer).map_err(|_| "the MCP host did not take its files")?;
    // The host must not learn of contents that the toolset does not have.
    if answer.missing.iter().any(|it| !listed.iter().any(|file| file.sha256 == *it)) {
        return Err("the MCP host asked for contents that are not its own".to_owned());
    }
    let bytes =
        listed.iter().filter(|it| answer.missing.contains(&it.sha256)).map(|it| it.size as usize).sum::<usize>();
    if bytes > LARGE_BYTES {
        scope.memory_turn().take().await;
    }
    let mut wanted = WantedContents::new(answer.missing);
    while let Some(stored) = wanted.next(scope).await.map_err(unreadable)? {
        let pieces = stored.all().map_err(unreadable)?;
        let body = serde_json::to_string(&PiecesBody { pieces }).map_err(|_| "its files are not JSON")?;
        tell(scope, host, Method::Post, &path, &body, allowed_hosts).await?;
    }
    if wanted.left() > 0 { Err(OTHER_FILES.to_owned()) } else { Ok(()) }
}

const OTHER_FILES: &str =
    "the files of its toolset are not those that it was registered with: try again, or import the toolset again";

/// The host's own words about a request that it refuses.
fn refusal(status: u16, text: &str) -> String {
    let error = serde_json::from_str::<serde_json::Value>(text).ok();
    let error = error.as_ref().and_then(|it| it.get("error")).and_then(serde_json::Value::as_str);
    match error {
        Some(error) => excerpt(error).to_owned(),
        None => format!("the MCP host answered with the status {status}"),
    }
}

/// Stops the process of a server, and has the host forget it. A failure is logged: an idle process ends by itself.
pub async fn stop(scope: &Scope, id: &str) {
    let path = path(scope.workspace(), id);
    for host in Host::all(scope.app(), scope.workspace(), id) {
        match host.send(Method::Delete, &path, "", &[]).await {
            Ok(response) if response.status() == NO_CONTAINER => NO_CONTAINERS.store(true, Ordering::Relaxed),
            Ok(response) if response.status() < 500 => return,
            Ok(response) => console_warn!("the process of {id} was not stopped: status {}", response.status()),
            Err(cause) => console_warn!("the process of {id} was not stopped: {cause}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_hosts_words() {
        assert_eq!(
            refusal(422, r#"{"error": "npx: the package x is not installed"}"#),
            "npx: the package x is not installed"
        );
        assert_eq!(refusal(500, "<html>"), "the MCP host answered with the status 500");
    }
}
