//! The vars and secrets that operators set. They are read once per isolate, and cannot change while it lives.

use crate::ids::WorkspaceId;
use crate::outgoing::origin_of;
use crate::seal::Sealer;
use crate::text_enum::{TextEnum, text_enum};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use worker::Env;

pub struct Settings {
    /// Without a token, a caller owns the workspace it names. For development only.
    pub open: bool,
    /// Hosts besides this machine's own names that requests may name in open mode, in lower case.
    pub open_hosts: Vec<String>,
    /// SHA-256 of the token that is owner everywhere.
    pub root_token: Option<[u8; 32]>,
    /// Origins that browsers may call from; `*` for all.
    pub cors_origins: Vec<String>,
    /// Whether answers tell what they cost.
    pub cost_header: bool,
    /// Signs tokens, seals the arguments of calls that wait for an approval and the literal header values of tools, and
    /// keys the hashes of arguments. The root
    /// token is no substitute for the key: who holds a signed token could test guesses of the root token against it.
    pub sealer: Option<Sealer>,
    /// How long an approval waits to be decided.
    pub approval_seconds: u32,
    /// Whether tools may be at addresses of private networks. For development only.
    pub private_urls: bool,
    /// How many bytes the files of one session may have together.
    pub session_max_bytes: u64,
    /// How many bytes a workspace may store in files, their history, calls and messages together.
    pub workspace_quota_bytes: u64,
    /// After how many days the record of a call that has ended is deleted; never, if not set.
    pub call_retention_days: Option<u32>,
    /// After how many days a file manifest is deleted that is no session's current one; never, if not set.
    pub file_manifest_retention_days: Option<u32>,
    /// Where the rows of workspaces are. None if the setting is a word that nobody knows: rows must not go to a place that the
    /// operator did not mean.
    pub storage: Option<Storage>,
    /// Whether D1 has read replicas, so that a caller may read from one with a bookmark.
    pub read_replicas: bool,
    /// From how many bytes on the database counts as too large.
    pub database_alert_bytes: u64,
    /// The URL of a sandbox server that is not one of the deployment's containers.
    pub sandbox_url: Option<String>,
    /// Over how many containers Python is spread.
    pub sandbox_instances: u32,
    /// How long an idle container stays up.
    pub sandbox_idle_seconds: u32,
    /// The URL of a host of stdio MCP servers that is not one of the deployment's containers, and what it wants to be told.
    pub mcp_host_url: Option<String>,
    pub mcp_host_secret: Option<String>,
    /// How long the container of an idle MCP server stays up.
    pub mcp_host_idle_seconds: u32,
    /// How long a call of a slow module's tool may take, if neither the tool nor the module names a timeout.
    pub slow_module_seconds: u32,
    /// The model of workspaces that have none of their own: its server, its name and its key.
    pub model_url: Option<String>,
    pub model_name: Option<String>,
    pub model_key: Option<String>,
    pub model_streaming: ModelStreaming,
    /// How many tokens a request to a model may have.
    pub model_context_tokens: u32,
    /// How long a turn of the playground may take.
    pub turn_seconds: u32,
    /// Other times for the chats of tests, as JSON (`playground/times.rs`). No deployment sets this, and no caller can.
    pub chat_times: Option<String>,
    /// Faults of D1 that tests plan, as JSON (`db.js`). No deployment sets this, and no caller can.
    pub d1_faults: Option<String>,
    /// The secrets that tools may use as credentials, by name.
    loans: BTreeMap<String, Vec<Loan>>,
    /// The names of all these settings. No tool can use one of them as a credential.
    own_names: BTreeSet<&'static str>,
}

text_enum! {
    /// Where the rows of workspaces are.
    Storage {
        /// All workspaces share the D1 database `DB`.
        D1 = "d1",
        /// Each workspace has a Durable Object with a database of its own.
        Objects = "objects",
    }
}

text_enum! {
    /// When the answers of a model are asked for as a stream. Some servers lose the calls in a stream.
    ModelStreaming {
        Always = "always",
        /// Only in requests without tools.
        WithoutTools = "without_tools",
        Never = "never",
    }
}

/// The secret that is lent to the model's server alone.
const MODEL_KEY: &str = "MODEL_KEY";

const DAY_SECONDS: u32 = 24 * 60 * 60;
const DEFAULT_SESSION_MAX_BYTES: u64 = 1024 * 1024 * 1024;
const DEFAULT_WORKSPACE_QUOTA_BYTES: u64 = 1_000_000_000;
const DEFAULT_CALL_RETENTION_DAYS: u32 = 90;
/// Four fifths of the most that a D1 database can hold.
const DEFAULT_DATABASE_ALERT_BYTES: u64 = 8_000_000_000;
const DEFAULT_SANDBOX_INSTANCES: u32 = 5;
const DEFAULT_SANDBOX_IDLE_SECONDS: u32 = 300;
const DEFAULT_MCP_HOST_IDLE_SECONDS: u32 = 300;
const DEFAULT_SLOW_MODULE_SECONDS: u32 = 120;
const MAX_TIMEOUT_SECONDS: u32 = 3_600;
const DEFAULT_MODEL_CONTEXT_TOKENS: u32 = 32_000;
const DEFAULT_TURN_SECONDS: u32 = 600;

impl Settings {
    pub fn of(env: &Env) -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(|| Self::read(|name| env.var(name).ok().map(|it| it.to_string())))
    }

    /// Fails closed: only the exact word opens.
    fn read(var: impl Fn(&str) -> Option<String>) -> Self {
        let vars = Vars { var, names: RefCell::default() };
        let root_token = vars.secret("ROOT_TOKEN");
        Self {
            open: vars.is("AUTH", "open"),
            root_token: root_token.as_ref().map(|token| Sha256::digest(token).into()),
            open_hosts: comma_list(&vars.text("OPEN_HOSTS").to_ascii_lowercase()),
            cors_origins: comma_list(&vars.text("CORS_ORIGINS")),
            cost_header: vars.is("COST_HEADER", "on"),
            sealer: vars.secret("SECRET_KEY").map(|it| Sealer::new(&it)),
            approval_seconds: (vars.number("APPROVAL_SECONDS"))
                .and_then(|it| u32::try_from(it).ok())
                .unwrap_or(DAY_SECONDS),
            private_urls: vars.is("PRIVATE_URLS", "allow"),
            session_max_bytes: vars.number("SESSION_MAX_BYTES").unwrap_or(DEFAULT_SESSION_MAX_BYTES),
            workspace_quota_bytes: vars.number("WORKSPACE_QUOTA_BYTES").unwrap_or(DEFAULT_WORKSPACE_QUOTA_BYTES),
            call_retention_days: (vars.number("CALL_RETENTION_DAYS"))
                .map_or(Some(DEFAULT_CALL_RETENTION_DAYS), |it| u32::try_from(it).ok().filter(|it| *it > 0)),
            file_manifest_retention_days: vars.count("FILE_MANIFEST_RETENTION_DAYS"),
            storage: match vars.text("STORAGE").trim() {
                "" => Some(Storage::D1),
                word => Storage::parse(word),
            },
            read_replicas: vars.is("D1_READ_REPLICAS", "on"),
            database_alert_bytes: vars.number("DATABASE_ALERT_BYTES").unwrap_or(DEFAULT_DATABASE_ALERT_BYTES),
            sandbox_url: vars.secret("SANDBOX_URL").map(|it| it.trim().trim_end_matches('/').to_owned()),
            sandbox_instances: vars.count("SANDBOX_INSTANCES").unwrap_or(DEFAULT_SANDBOX_INSTANCES),
            sandbox_idle_seconds: vars.count("SANDBOX_IDLE_SECONDS").unwrap_or(DEFAULT_SANDBOX_IDLE_SECONDS),
            mcp_host_url: vars.secret("MCP_HOST_URL").map(|it| it.trim().trim_end_matches('/').to_owned()),
            mcp_host_secret: vars.secret("MCP_HOST_SECRET"),
            mcp_host_idle_seconds: vars.count("MCP_HOST_IDLE_SECONDS").unwrap_or(DEFAULT_MCP_HOST_IDLE_SECONDS),
            slow_module_seconds: (vars.count("SLOW_MODULE_SECONDS"))
                .unwrap_or(DEFAULT_SLOW_MODULE_SECONDS)
                .min(MAX_TIMEOUT_SECONDS),
            model_url: vars.secret("MODEL_URL").map(|it| it.trim().trim_end_matches('/').to_owned()),
            model_name: vars.secret("MODEL_NAME").map(|it| it.trim().to_owned()),
            model_key: vars.secret(MODEL_KEY),
            model_streaming: ModelStreaming::parse(vars.text("MODEL_STREAMING").trim())
                .unwrap_or(ModelStreaming::Always),
            model_context_tokens: vars.count("MODEL_CONTEXT_TOKENS").unwrap_or(DEFAULT_MODEL_CONTEXT_TOKENS),
            turn_seconds: (vars.count("TURN_SECONDS")).unwrap_or(DEFAULT_TURN_SECONDS).min(MAX_TIMEOUT_SECONDS),
            chat_times: vars.secret("CHAT_TIMES"),
            d1_faults: vars.secret("D1_FAULTS"),
            loans: loans(&vars.text("CREDENTIAL_WORKSPACES")),
            // The last field, when every setting has been read. `workspace.js` reads one more.
            own_names: vars.names_and("OBJECT_UPKEEP_SECONDS"),
        }
    }

    /// Settings as these vars make them.
    #[cfg(test)]
    pub fn of_vars(vars: &[(&str, &str)]) -> Self {
        Self::read(|name| vars.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned()))
    }

    /// Whether tools of a workspace may send the Worker's secret of that name to some host.
    pub fn lends(&self, secret: &str, workspace: &WorkspaceId) -> bool {
        self.has_loan(secret, |loan| loan.is_for(workspace))
    }

    /// Whether tools of a workspace may send the Worker's secret of that name to this host. The host has a port if it is
    /// not the usual one of its protocol.
    pub fn lends_to_host(&self, secret: &str, workspace: &WorkspaceId, host: &str) -> bool {
        self.has_loan(secret, |loan| loan.is_for(workspace) && (loan.host == "*" || loan.host == host))
    }

    /// Whether `MODEL_KEY` may be sent to the host of `MODEL_URL` for a workspace. No tool gets this secret.
    pub fn lends_model_key(&self, workspace: &WorkspaceId) -> bool {
        let origin = self.model_url.as_deref().and_then(origin_of);
        let host = origin.as_deref().and_then(|it| it.split_once("://")).map(|(_, host)| host);
        let fits = |loan: &Loan| loan.is_for(workspace) && (loan.host == "*" || Some(loan.host.as_str()) == host);
        self.loans.get(MODEL_KEY).map_or(self.open, |it| it.iter().any(fits))
    }

    /// A secret that is not listed is lent to nobody, except in open mode, where every caller is trusted. A setting of
    /// the Worker itself is never lent.
    fn has_loan(&self, secret: &str, fits: impl Fn(&Loan) -> bool) -> bool {
        let listed = self.loans.get(secret);
        !self.own_names.contains(secret) && listed.map_or(self.open, |it| it.iter().any(fits))
    }
}

/// The Worker's vars and secrets. Every name that a setting is read by is noted, so that no new setting can be
/// forgotten where secrets are lent to tools.
struct Vars<V> {
    var: V,
    names: RefCell<BTreeSet<&'static str>>,
}

impl<V: Fn(&str) -> Option<String>> Vars<V> {
    /// The names of all settings that were read, and one more.
    fn names_and(self, other: &'static str) -> BTreeSet<&'static str> {
        let mut names = self.names.into_inner();
        names.insert(other);
        names
    }

    fn get(&self, name: &'static str) -> Option<String> {
        self.names.borrow_mut().insert(name);
        (self.var)(name)
    }

    /// Empty, if it is not set.
    fn text(&self, name: &'static str) -> String {
        self.get(name).unwrap_or_default()
    }

    fn is(&self, name: &'static str, word: &str) -> bool {
        self.get(name).is_some_and(|it| it.trim() == word)
    }

    /// None, if it is empty.
    fn secret(&self, name: &'static str) -> Option<String> {
        self.get(name).filter(|it| !it.is_empty())
    }

    fn number(&self, name: &'static str) -> Option<u64> {
        self.get(name).and_then(|it| it.trim().parse().ok())
    }

    /// A number above 0.
    fn count(&self, name: &'static str) -> Option<u32> {
        self.number(name).and_then(|it| u32::try_from(it).ok()).filter(|it| *it > 0)
    }
}

/// The words between commas.
fn comma_list(text: &str) -> Vec<String> {
    text.split(',').map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

/// The permission for one workspace to send a secret to one host. `*` stands for all.
struct Loan {
    workspace: String,
    /// In lower case, and with a port unless it is the usual one.
    host: String,
}

impl Loan {
    fn is_for(&self, workspace: &WorkspaceId) -> bool {
        self.workspace == "*" || self.workspace == workspace.as_str()
    }
}

/// `NAME=workspace@host workspace@host, NAME=workspace@host`. A name may be listed more than once. A word without a host
/// lends nothing, and neither does a name without words.
fn loans(list: &str) -> BTreeMap<String, Vec<Loan>> {
    let mut loans = BTreeMap::<String, Vec<Loan>>::new();
    for (name, words) in list.split(',').filter_map(|entry| entry.split_once('=')) {
        let words = words.split_whitespace().filter_map(|it| it.split_once('@'));
        let words =
            words.map(|(workspace, host)| Loan { workspace: workspace.to_owned(), host: host.to_ascii_lowercase() });
        loans.entry(name.trim().to_owned()).or_default().extend(words);
    }
    loans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Settings {
        Settings::of_vars(vars)
    }

    #[test]
    fn nothing_set_is_closed() {
        let settings = read(&[]);
        assert!(!settings.open && !settings.cost_header);
        assert!(settings.root_token.is_none() && settings.cors_origins.is_empty());
        assert!(settings.sealer.is_none() && !settings.private_urls);
        assert!(settings.d1_faults.is_none() && settings.chat_times.is_none());
        assert_eq!(settings.approval_seconds, 86_400);
    }

    #[test]
    fn only_the_exact_word_opens() {
        assert!(read(&[("AUTH", "open")]).open);
        for word in ["", "Open", "required", "true", "opened"] {
            assert!(!read(&[("AUTH", word)]).open, "{word}");
        }
    }

    #[test]
    fn an_empty_root_token_is_none() {
        assert!(read(&[("ROOT_TOKEN", "")]).root_token.is_none());
        assert!(read(&[("ROOT_TOKEN", "x")]).root_token.is_some());
        assert!(read(&[("ROOT_TOKEN", "x")]).sealer.is_none() && read(&[("SECRET_KEY", "x")]).sealer.is_some());
    }

    #[test]
    fn what_is_no_number_keeps_the_default() {
        for vars in [&[][..], &[("SESSION_MAX_BYTES", "much"), ("FILE_MANIFEST_RETENTION_DAYS", "-1")]] {
            let settings = read(vars);
            assert_eq!((settings.session_max_bytes, settings.file_manifest_retention_days), (1_073_741_824, None));
        }
        let settings = read(&[("SESSION_MAX_BYTES", "5000"), ("FILE_MANIFEST_RETENTION_DAYS", "30")]);
        assert_eq!((settings.session_max_bytes, settings.file_manifest_retention_days), (5_000, Some(30)));
        assert_eq!(read(&[("FILE_MANIFEST_RETENTION_DAYS", "0")]).file_manifest_retention_days, None);
    }

    #[test]
    fn records_of_calls_are_kept_for_ninety_days_unless_the_operator_says_otherwise() {
        let days = |vars: &[(&str, &str)]| read(vars).call_retention_days;
        assert_eq!((days(&[]), days(&[("CALL_RETENTION_DAYS", "long")])), (Some(90), Some(90)));
        assert_eq!(days(&[("CALL_RETENTION_DAYS", "7")]), Some(7));
        for forever in ["0", "99999999999"] {
            assert_eq!(days(&[("CALL_RETENTION_DAYS", forever)]), None, "{forever}");
        }
        let quota = |vars: &[(&str, &str)]| read(vars).workspace_quota_bytes;
        assert_eq!((quota(&[]), quota(&[("WORKSPACE_QUOTA_BYTES", "much")])), (1_000_000_000, 1_000_000_000));
        assert_eq!(quota(&[("WORKSPACE_QUOTA_BYTES", "5000")]), 5_000);
    }

    #[test]
    fn the_sandbox_is_where_it_is_said_to_be() {
        let settings = read(&[("SANDBOX_INSTANCES", "0")]);
        assert_eq!((settings.sandbox_url, settings.sandbox_instances, settings.sandbox_idle_seconds), (None, 5, 300));
        let settings = read(&[("SANDBOX_URL", "http://10.0.0.7:8080/"), ("SANDBOX_INSTANCES", "2")]);
        assert_eq!((settings.sandbox_url.as_deref(), settings.sandbox_instances), (Some("http://10.0.0.7:8080"), 2));
    }

    #[test]
    fn the_host_of_mcp_servers_is_where_it_is_said_to_be() {
        let settings = read(&[]);
        assert_eq!(
            (settings.mcp_host_url, settings.mcp_host_secret, settings.mcp_host_idle_seconds),
            (None, None, 300)
        );
        let given = [("MCP_HOST_URL", "http://10.0.0.7:8081/"), ("MCP_HOST_SECRET", "s"), ("AUTH", "open")];
        let settings = read(&given);
        assert_eq!(settings.mcp_host_url.as_deref(), Some("http://10.0.0.7:8081"));
        assert_eq!(settings.mcp_host_secret.as_deref(), Some("s"));
        assert!(!settings.lends("MCP_HOST_SECRET", &WorkspaceId::parse("acme").unwrap()));
    }

    #[test]
    fn a_secret_is_lent_to_the_listed_workspaces_and_hosts_alone() {
        let list = "ONE=acme@a.example beta@B.example:8443, ONE=gamma@*,ALL=*@*, HOST=*@a.example, NONE=, OLD=acme,";
        for (mode, lends_unlisted) in [("required", false), ("open", true)] {
            let settings = read(&[("AUTH", mode), ("CREDENTIAL_WORKSPACES", list), ("ROOT_TOKEN", "x")]);
            let check = |secret: &str, workspace: &str, host: &str, expected: bool| {
                let workspace = WorkspaceId::parse(workspace).unwrap();
                let lent = settings.lends_to_host(secret, &workspace, host);
                assert_eq!(lent, expected, "{mode}: {secret} to {workspace} for {host}");
                assert!(!lent || settings.lends(secret, &workspace));
            };
            check("ONE", "acme", "a.example", true);
            for host in ["b.example", "a.example:8443", "a.example.", "x.a.example", "", "*"] {
                check("ONE", "acme", host, false);
            }
            check("ONE", "beta", "b.example:8443", true);
            check("ONE", "beta", "b.example", false);
            check("ONE", "gamma", "anything.example", true);
            check("ONE", "delta", "a.example", false);
            check("ALL", "delta", "anything.example", true);
            check("HOST", "delta", "a.example", true);
            check("HOST", "delta", "b.example", false);
            check("NONE", "acme", "a.example", false);
            check("OLD", "acme", "a.example", false);
            check("UNLISTED", "acme", "a.example", lends_unlisted);
            for own in ["ROOT_TOKEN", "SECRET_KEY", "CREDENTIAL_WORKSPACES"] {
                check(own, "acme", "a.example", false);
            }
        }
    }

    #[test]
    fn a_setting_that_is_listed_is_not_lent_either() {
        let settings = read(&[("CREDENTIAL_WORKSPACES", "ROOT_TOKEN=*@*"), ("ROOT_TOKEN", "x")]);
        assert!(!settings.lends("ROOT_TOKEN", &WorkspaceId::parse("acme").unwrap()));
    }

    #[test]
    fn no_setting_of_wrangler_toml_is_lent_to_tools() {
        let toml = include_str!("../wrangler.toml");
        let (_, vars) = toml.split_once("[vars]").unwrap();
        let vars = vars.split("\n[").next().unwrap();
        let names = vars.lines().filter_map(|line| line.trim_start_matches("# ").split_once(" = "));
        let names = names.map(|(name, _)| name).filter(|it| it.bytes().all(|it| it.is_ascii_uppercase() || it == b'_'));
        let (settings, workspace) = (read(&[("AUTH", "open")]), WorkspaceId::parse("acme").unwrap());
        let names = names.collect::<Vec<_>>();
        assert!(names.contains(&"AUTH") && names.contains(&"CREDENTIAL_WORKSPACES"), "{names:?}");
        for name in names {
            assert!(!settings.lends(name, &workspace), "{name}");
        }
    }

    #[test]
    fn requests_of_tools_take_the_public_way() {
        let toml = include_str!("../wrangler.toml");
        let flags = toml.lines().find_map(|it| it.strip_prefix("compatibility_flags = ")).unwrap();
        assert!(flags.contains("\"global_fetch_strictly_public\""), "{flags}");
    }

    #[test]
    fn the_model_is_where_it_is_said_to_be() {
        let settings = read(&[("MODEL_STREAMING", "often"), ("TURN_SECONDS", "99999")]);
        assert_eq!((settings.model_url, settings.model_name, settings.model_key), (None, None, None));
        assert_eq!((settings.model_streaming, settings.model_context_tokens), (ModelStreaming::Always, 32_000));
        assert_eq!((settings.turn_seconds, read(&[]).turn_seconds), (3_600, 600));
        let settings = read(&[("MODEL_URL", "https://m.example/v1/"), ("MODEL_STREAMING", "without_tools")]);
        assert_eq!(settings.model_url.as_deref(), Some("https://m.example/v1"));
        assert_eq!(settings.model_streaming, ModelStreaming::WithoutTools);
    }

    #[test]
    fn hosts_are_a_comma_list_in_lower_case() {
        assert_eq!(read(&[("OPEN_HOSTS", "Peg.lan, 10.0.0.7:8787,")]).open_hosts, ["peg.lan", "10.0.0.7:8787"]);
        assert!(read(&[]).open_hosts.is_empty());
    }

    #[test]
    fn origins_are_a_comma_list() {
        assert_eq!(
            read(&[("CORS_ORIGINS", "https://a.example, https://b.example,")]).cors_origins,
            ["https://a.example", "https://b.example"]
        );
    }
}
