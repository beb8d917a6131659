//! The vars and secrets that operators set. They are read once per isolate, and cannot change while it lives.

use crate::ids::WorkspaceId;
use crate::seal::Sealer;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use worker::Env;

pub struct Settings {
    /// Without a token, a caller owns the workspace it names. For development only.
    pub open: bool,
    /// SHA-256 of the token that is owner everywhere.
    pub root_token: Option<[u8; 32]>,
    /// Origins that browsers may call from; `*` for all.
    pub cors_origins: Vec<String>,
    /// Whether answers tell what they cost.
    pub cost_header: bool,
    /// Seals the arguments of calls that wait for an approval, and keys the hashes of arguments.
    pub sealer: Option<Sealer>,
    /// Seals what must be readable for years: the literal header values of tools. It needs a `SECRET_KEY`, because a
    /// root token is replaced from time to time.
    pub lasting_sealer: Option<Sealer>,
    /// How long an approval waits to be decided.
    pub approval_seconds: u32,
    /// Whether tools may be at addresses of private networks. For development only.
    pub private_urls: bool,
    /// How many bytes the files of one session may have together.
    pub session_max_bytes: u64,
    /// After how many days a file manifest is deleted that is no session's current one; never, if not set.
    pub file_manifest_retention_days: Option<u32>,
    /// From how many bytes on the database counts as too large.
    pub database_alert_bytes: u64,
    /// The URL of a sandbox server that is not one of the deployment's containers.
    pub sandbox_url: Option<String>,
    /// Over how many containers Python is spread.
    pub sandbox_instances: u32,
    /// How long an idle container stays up.
    pub sandbox_idle_seconds: u32,
    /// Faults of D1 that tests plan, as JSON (`db.js`). No deployment sets this, and no caller can.
    pub d1_faults: Option<String>,
    /// Secrets that only some workspaces may use as credentials.
    credential_workspaces: BTreeMap<String, Vec<String>>,
    /// The names of all these settings. No tool can use one of them as a credential.
    own_names: BTreeSet<&'static str>,
}

const DAY_SECONDS: u32 = 24 * 60 * 60;
const DEFAULT_SESSION_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// Four fifths of the most that a D1 database can hold.
const DEFAULT_DATABASE_ALERT_BYTES: u64 = 8_000_000_000;
const DEFAULT_SANDBOX_INSTANCES: u32 = 5;
const DEFAULT_SANDBOX_IDLE_SECONDS: u32 = 300;

impl Settings {
    pub fn of(env: &Env) -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(|| Self::read(|name| env.var(name).ok().map(|it| it.to_string())))
    }

    /// Fails closed: only the exact word opens.
    fn read(var: impl Fn(&str) -> Option<String>) -> Self {
        let vars = Vars { var, names: RefCell::default() };
        let root_token = vars.secret("ROOT_TOKEN");
        let secret_key = vars.secret("SECRET_KEY");
        Self {
            open: vars.is("AUTH", "open"),
            root_token: root_token.as_ref().map(|token| Sha256::digest(token).into()),
            cors_origins: (vars.text("CORS_ORIGINS").split(','))
                .map(|origin| origin.trim().to_owned())
                .filter(|origin| !origin.is_empty())
                .collect(),
            cost_header: vars.is("COST_HEADER", "on"),
            lasting_sealer: secret_key.as_deref().map(Sealer::new),
            // The root token is a secret too: a deployment that has one needs no other.
            sealer: secret_key.or(root_token).map(|it| Sealer::new(&it)),
            approval_seconds: (vars.number("APPROVAL_SECONDS"))
                .and_then(|it| u32::try_from(it).ok())
                .unwrap_or(DAY_SECONDS),
            private_urls: vars.is("PRIVATE_URLS", "allow"),
            session_max_bytes: vars.number("SESSION_MAX_BYTES").unwrap_or(DEFAULT_SESSION_MAX_BYTES),
            file_manifest_retention_days: vars.count("FILE_MANIFEST_RETENTION_DAYS"),
            database_alert_bytes: vars.number("DATABASE_ALERT_BYTES").unwrap_or(DEFAULT_DATABASE_ALERT_BYTES),
            sandbox_url: vars.secret("SANDBOX_URL").map(|it| it.trim().trim_end_matches('/').to_owned()),
            sandbox_instances: vars.count("SANDBOX_INSTANCES").unwrap_or(DEFAULT_SANDBOX_INSTANCES),
            sandbox_idle_seconds: vars.count("SANDBOX_IDLE_SECONDS").unwrap_or(DEFAULT_SANDBOX_IDLE_SECONDS),
            d1_faults: vars.secret("D1_FAULTS"),
            credential_workspaces: credential_workspaces(&vars.text("CREDENTIAL_WORKSPACES")),
            // The last field, when every setting has been read.
            own_names: vars.names.into_inner(),
        }
    }

    /// Whether tools of a workspace may use the Worker's secret of that name. A secret that is not listed is for all
    /// workspaces; a setting of the Worker itself is for none.
    pub fn lends(&self, secret: &str, workspace: &WorkspaceId) -> bool {
        !self.own_names.contains(secret)
            && self.credential_workspaces.get(secret).is_none_or(|it| it.iter().any(|id| id == workspace.as_str()))
    }
}

/// The Worker's vars and secrets. Every name that a setting is read by is noted, so that no new setting can be
/// forgotten where secrets are lent to tools.
struct Vars<V> {
    var: V,
    names: RefCell<BTreeSet<&'static str>>,
}

impl<V: Fn(&str) -> Option<String>> Vars<V> {
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

/// `NAME=workspace workspace, NAME=workspace`: a secret that is listed without a workspace is for none.
fn credential_workspaces(list: &str) -> BTreeMap<String, Vec<String>> {
    let entries = list.split(',').filter_map(|entry| entry.split_once('='));
    entries
        .map(|(name, workspaces)| (name.trim().to_owned(), workspaces.split_whitespace().map(str::to_owned).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Settings {
        Settings::read(|name| vars.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn nothing_set_is_closed() {
        let settings = read(&[]);
        assert!(!settings.open && !settings.cost_header);
        assert!(settings.root_token.is_none() && settings.cors_origins.is_empty());
        assert!(settings.sealer.is_none() && !settings.private_urls && settings.d1_faults.is_none());
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
    fn the_sandbox_is_where_it_is_said_to_be() {
        let settings = read(&[("SANDBOX_INSTANCES", "0")]);
        assert_eq!((settings.sandbox_url, settings.sandbox_instances, settings.sandbox_idle_seconds), (None, 5, 300));
        let settings = read(&[("SANDBOX_URL", "http://10.0.0.7:8080/"), ("SANDBOX_INSTANCES", "2")]);
        assert_eq!((settings.sandbox_url.as_deref(), settings.sandbox_instances), (Some("http://10.0.0.7:8080"), 2));
    }

    #[test]
    fn secrets_are_lent_to_tools_but_for_our_own() {
        let settings = read(&[("CREDENTIAL_WORKSPACES", "ONE=acme beta, NONE=,")]);
        let lends = |secret: &str, workspace: &str| settings.lends(secret, &WorkspaceId::parse(workspace).unwrap());
        assert!(lends("OTHER", "acme") && lends("ONE", "acme") && lends("ONE", "beta"));
        assert!(!lends("ONE", "gamma") && !lends("NONE", "acme"));
        assert!(!lends("ROOT_TOKEN", "acme") && !lends("SECRET_KEY", "acme"));
    }

    #[test]
    fn no_setting_of_wrangler_toml_is_lent_to_tools() {
        let toml = include_str!("../wrangler.toml");
        let (_, vars) = toml.split_once("[vars]").unwrap();
        let vars = vars.split("\n[").next().unwrap();
        let names = vars.lines().filter_map(|line| line.trim_start_matches("# ").split_once(" = "));
        let names = names.map(|(name, _)| name).filter(|it| it.bytes().all(|it| it.is_ascii_uppercase() || it == b'_'));
        let (settings, workspace) = (read(&[]), WorkspaceId::parse("acme").unwrap());
        let names = names.collect::<Vec<_>>();
        assert!(names.contains(&"AUTH") && names.contains(&"CREDENTIAL_WORKSPACES"), "{names:?}");
        for name in names {
            assert!(!settings.lends(name, &workspace), "{name}");
        }
    }

    #[test]
    fn origins_are_a_comma_list() {
        assert_eq!(
            read(&[("CORS_ORIGINS", "https://a.example, https://b.example,")]).cors_origins,
            ["https://a.example", "https://b.example"]
        );
    }
}
