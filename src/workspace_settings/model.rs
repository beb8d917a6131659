//! The model that a workspace's playground asks: the rules for the settings of an admin, and the decision between the
//! workspace's own model and the deployment's.

use crate::app::App;
use crate::error::{Error, Place, Problem, Result};
use crate::ids::{WorkspaceId, check_model_name};
use crate::outgoing::{UrlRules, check_url, fault_of_header, may_carry_credentials, origin_of};
use crate::seal::Sealer;
use crate::settings::{ModelStreaming, Settings};
use crate::text_enum::TextEnum;

use super::{SettingsChange, StoredSettings};

const MAX_URL_BYTES: usize = 2_000;
const CONTEXT_TOKENS: std::ops::RangeInclusive<u32> = 1_000..=1_000_000;

/// The path of the endpoint below the URL of a server that speaks OpenAI's Chat Completions.
const ENDPOINT: &str = "/chat/completions";

const NO_SECRET_KEY: Error =
    Error::Unavailable("A model_key cannot be sealed without SECRET_KEY: npx wrangler secret put SECRET_KEY");
const NO_MODEL: Error = Error::Unavailable(
    "No model is configured: set MODEL_URL and MODEL_NAME for the deployment, or model_url and model_name of the \
     workspace (PATCH /api/workspace)",
);
const NOT_LENT: Error = Error::Unavailable(
    "MODEL_KEY is not lent to this workspace: list it in CREDENTIAL_WORKSPACES as MODEL_KEY=workspace@host, with the \
     host of MODEL_URL, or set model_url and model_key of the workspace (PATCH /api/workspace)",
);
const NO_NAME: Error = Error::Unavailable(
    "No model is named: set model of the agent, model_name of the workspace (PATCH /api/workspace), or MODEL_NAME",
);
const NOT_OPENED: Error = Error::Unavailable(
    "The model_key of the workspace was sealed with another SECRET_KEY: set it again (PATCH /api/workspace)",
);
const NOT_CALLABLE: Error = Error::Unavailable(
    "The model_url of the workspace may not be called by this deployment: set another one (PATCH /api/workspace)",
);

/// The settings of the workspace's own model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelSettings {
    pub(super) url: Option<String>,
    pub(super) name: Option<String>,
    pub(super) sealed_key: Option<String>,
    pub(super) streaming: Option<ModelStreaming>,
    pub(super) context_tokens: Option<u32>,
}

/// What the change of settings needs to know of the deployment.
pub(super) struct Deployment<'a, C> {
    pub workspace: &'a WorkspaceId,
    pub sealer: Option<&'a Sealer>,
    /// Returns a URL in its usual spelling, or the reason why it may not be called.
    pub check_url: C,
}

/// Checks a `model_url`. Its requests carry a key, and conversations.
pub(super) fn checked_url(url: &str, rules: UrlRules<'_>) -> std::result::Result<String, &'static str> {
    let url = check_url(url, rules)?;
    if !may_carry_credentials(&url, rules.open) {
        return Err("must begin with https://, because a key must not be readable on its way");
    }
    Ok(url.href())
}

impl ModelSettings {
    /// The settings after a change. The violations of the rules are added to `problems`.
    pub(super) fn changed(
        &self,
        change: &SettingsChange,
        deployment: &Deployment<'_, impl Fn(&str) -> std::result::Result<String, &'static str>>,
        problems: &mut Vec<Problem>,
    ) -> Result<Self> {
        let mut after = self.clone();
        let mut problem = |field: &str, message: String| {
            problems.push(Problem { place: Place::Body, path: format!("/{field}"), message });
        };
        let mut url_is_faulty = false;
        if let Some(url) = change.model_url.as_deref() {
            match checked_given_url(url, &deployment.check_url) {
                Ok(url) => after.url = url,
                Err(message) => {
                    problem("model_url", message);
                    url_is_faulty = true;
                }
            }
        }
        if let Some(name) = change.model_name.as_deref() {
            match check_model_name(name) {
                Ok(()) => after.name = Some(name.to_owned()).filter(|it| !it.is_empty()),
                Err(message) => problem("model_name", message),
            }
        }
        match change.model_streaming.as_deref() {
            None => {}
            Some("") => after.streaming = None,
            Some(word) => match ModelStreaming::parse(word) {
                Some(streaming) => after.streaming = Some(streaming),
                None => problem("model_streaming", "must be always, without_tools, never or empty".into()),
            },
        }
        match change.context_tokens {
            None => {}
            Some(0) => after.context_tokens = None,
            Some(count) if CONTEXT_TOKENS.contains(&count) => after.context_tokens = Some(count),
            Some(_) => {
                let (least, most) = CONTEXT_TOKENS.into_inner();
                problem("context_tokens", format!("must be {least} to {most}, or 0 for the default"));
            }
        }
        let origin = |settings: &Self| settings.url.as_deref().and_then(origin_of);
        if origin(&after) != origin(self) {
            after.sealed_key = None;
        }
        match change.model_key.as_deref() {
            None => {}
            Some("") => after.sealed_key = None,
            Some(key) => {
                let is_sendable = fault_of_header("Authorization", &format!("Bearer {key}")).is_none();
                if key.trim() != key || key.len() > MAX_KEY_BYTES || !is_sendable {
                    problem("model_key", format!("must be visible ASCII characters, at most {MAX_KEY_BYTES}"));
                } else if let Some(origin) = origin(&after) {
                    let sealer = deployment.sealer.ok_or(NO_SECRET_KEY)?;
                    after.sealed_key = Some(sealer.seal(key, &about(deployment.workspace, &origin))?);
                } else if !url_is_faulty {
                    problem("model_key", "needs a model_url: the key is kept for that server alone".into());
                }
            }
        }
        Ok(after)
    }
}

/// The URL to store; none for an empty one.
fn checked_given_url(
    url: &str,
    check_url: impl Fn(&str) -> std::result::Result<String, &'static str>,
) -> std::result::Result<Option<String>, String> {
    if url.is_empty() {
        return Ok(None);
    }
    if url.len() > MAX_URL_BYTES {
        return Err(format!("must be at most {MAX_URL_BYTES} bytes"));
    }
    if url.contains('#') {
        return Err("must not have a fragment".into());
    }
    Ok(Some(check_url(url)?))
}

/// The longest key of a model's server.
const MAX_KEY_BYTES: usize = 4_000;

/// A key is sealed for one workspace and one server. So a person who has only the database cannot have the key sent to
/// another server.
fn about(workspace: &WorkspaceId, origin: &str) -> String {
    format!("model_key/{workspace}/{origin}")
}

/// How to ask the model for one turn.
pub struct ModelAccess {
    /// The URL of the endpoint, `…/chat/completions`.
    pub url: String,
    pub model: String,
    pub key: Option<String>,
    pub streaming: ModelStreaming,
    pub context_tokens: u32,
}

/// The access to the model of a turn: the workspace's own model, or the deployment's. The error says what to set.
pub fn model_access(
    app: &App,
    workspace: &WorkspaceId,
    stored: &StoredSettings,
    agent_model: Option<&str>,
) -> Result<ModelAccess> {
    if let Some(url) = stored.model.url.as_deref() {
        // The rules of the deployment may have changed since the URL was stored.
        checked_url(url, app.url_rules()).map_err(|_| NOT_CALLABLE)?;
    }
    access(app.settings(), workspace, &stored.model, agent_model)
}

/// Whether the workspace has the server of a model that it may ask. An agent may name the model, so it need not be named here.
pub fn has_model(app: &App, workspace: &WorkspaceId, stored: &StoredSettings) -> bool {
    model_access(app, workspace, stored, Some("any")).is_ok()
}

fn access(
    settings: &Settings,
    workspace: &WorkspaceId,
    stored: &ModelSettings,
    agent_model: Option<&str>,
) -> Result<ModelAccess> {
    let (url, key, streaming) = match stored.url.as_deref() {
        Some(url) => (url, own_key(settings.sealer.as_ref(), workspace, stored, url)?, ModelStreaming::Always),
        None => {
            let url = settings.model_url.as_deref().ok_or(NO_MODEL)?;
            if settings.model_key.is_some() && !settings.lends_model_key(workspace) {
                return Err(NOT_LENT);
            }
            (url, settings.model_key.clone(), settings.model_streaming)
        }
    };
    let model = agent_model.or(stored.name.as_deref()).or(settings.model_name.as_deref()).ok_or(NO_NAME)?;
    Ok(ModelAccess {
        url: endpoint(url),
        model: model.to_owned(),
        key,
        streaming: stored.streaming.unwrap_or(streaming),
        context_tokens: stored.context_tokens.unwrap_or(settings.model_context_tokens),
    })
}

/// The workspace's own key, opened.
fn own_key(
    sealer: Option<&Sealer>,
    workspace: &WorkspaceId,
    stored: &ModelSettings,
    url: &str,
) -> Result<Option<String>> {
    let Some(sealed) = stored.sealed_key.as_deref() else { return Ok(None) };
    let origin = origin_of(url).ok_or(NOT_CALLABLE)?;
    Ok(Some(sealer.and_then(|it| it.open(sealed, &about(workspace, &origin))).ok_or(NOT_OPENED)?))
}

/// The endpoint of a server. The path may name the endpoint already, and a query stays at the end.
fn endpoint(url: &str) -> String {
    let (path, query) = url.find('?').map_or((url, ""), |at| url.split_at(at));
    let path = path.trim_end_matches('/');
    format!("{}{ENDPOINT}{query}", path.strip_suffix(ENDPOINT).unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> WorkspaceId {
        WorkspaceId::parse("acme").unwrap()
    }

    fn change(body: serde_json::Value) -> SettingsChange {
        serde_json::from_value(body).unwrap()
    }

    #[track_caller]
    fn applied(before: &ModelSettings, body: serde_json::Value) -> (ModelSettings, Vec<String>) {
        let (workspace, sealer) = (workspace(), Sealer::new("k"));
        let check_url = |url: &str| if url.contains("bad") { Err("is bad") } else { Ok(url.to_owned()) };
        let deployment = Deployment { workspace: &workspace, sealer: Some(&sealer), check_url };
        let mut problems = Vec::new();
        let after = before.changed(&change(body), &deployment, &mut problems).unwrap();
        (after, problems.into_iter().map(|it| it.path).collect())
    }

    fn changed(before: &ModelSettings, body: serde_json::Value) -> ModelSettings {
        let (after, problems) = applied(before, body);
        assert!(problems.is_empty(), "{problems:?}");
        after
    }

    fn own_model() -> ModelSettings {
        changed(
            &ModelSettings::default(),
            serde_json::json!({"model_url": "https://a.example/v1", "model_name": "m", "model_key": "sk-1",
                "model_streaming": "never", "context_tokens": 1000}),
        )
    }

    fn key_of(stored: &ModelSettings) -> Option<String> {
        own_key(Some(&Sealer::new("k")), &workspace(), stored, stored.url.as_deref().unwrap()).unwrap()
    }

    #[test]
    fn a_key_stays_with_its_server() {
        let own = own_model();
        assert!(!own.sealed_key.as_deref().unwrap().contains("sk-1"));
        assert_eq!(key_of(&own).as_deref(), Some("sk-1"));
        let moved = changed(&own, serde_json::json!({"model_url": "https://A.example:443/v2/"}));
        assert_eq!(key_of(&moved).as_deref(), Some("sk-1"), "another path of the same server");
        for url in ["https://b.example/v1", "http://a.example/v1", "https://a.example:8443/v1", ""] {
            assert_eq!(changed(&own, serde_json::json!({"model_url": url})).sealed_key, None, "{url}");
        }
        let other = changed(&own, serde_json::json!({"model_url": "https://b.example", "model_key": "sk-2"}));
        assert_eq!(key_of(&other).as_deref(), Some("sk-2"));
        assert_eq!(changed(&own, serde_json::json!({"model_key": ""})).sealed_key, None);
        let stolen = ModelSettings { url: Some("https://evil.example".into()), ..own };
        assert!(own_key(Some(&Sealer::new("k")), &workspace(), &stolen, "https://evil.example").is_err());
    }

    #[test]
    fn every_setting_can_be_cleared() {
        let body = serde_json::json!({"model_url": "", "model_name": "", "model_key": "", "model_streaming": "",
            "context_tokens": 0});
        assert_eq!(changed(&own_model(), body), ModelSettings::default());
        assert_eq!(changed(&own_model(), serde_json::json!({})).name.as_deref(), Some("m"));
    }

    #[test]
    fn everything_wrong_with_a_model_is_told_at_once() {
        let body = serde_json::json!({"model_url": "https://bad.example", "model_name": "a\nb", "model_key": "a\nb",
            "model_streaming": "sometimes", "context_tokens": 999});
        let (_, problems) = applied(&ModelSettings::default(), body);
        let expected = ["/model_url", "/model_name", "/model_streaming", "/context_tokens", "/model_key"];
        assert_eq!(problems, expected);
        let (_, problems) = applied(&ModelSettings::default(), serde_json::json!({"model_key": "sk"}));
        assert_eq!(problems, ["/model_key"]);
        for (bytes, expected) in [(4_000, &[][..]), (4_001, &["/model_key"])] {
            let (_, problems) = applied(&own_model(), serde_json::json!({"model_key": "k".repeat(bytes)}));
            assert_eq!(problems, expected);
        }
    }

    #[test]
    fn the_workspaces_own_model_comes_with_its_own_key_alone() {
        let vars = [("MODEL_URL", "https://model.example/v1/"), ("MODEL_KEY", "theirs"), ("SECRET_KEY", "k")];
        let settings = Settings::of_vars(&vars);
        let access = access(&settings, &workspace(), &own_model(), None).unwrap();
        assert_eq!(access.url, "https://a.example/v1/chat/completions");
        assert_eq!((access.model.as_str(), access.key.as_deref()), ("m", Some("sk-1")));
        assert_eq!((access.streaming, access.context_tokens), (ModelStreaming::Never, 1_000));
        let keyless = ModelSettings { sealed_key: None, ..own_model() };
        assert_eq!(super::access(&settings, &workspace(), &keyless, Some("x")).unwrap().key, None);
    }

    #[test]
    fn the_key_of_the_deployment_is_lent_to_listed_workspaces() {
        let base = [("MODEL_URL", "https://model.example/v1"), ("MODEL_KEY", "sk"), ("MODEL_NAME", "big")];
        let with = |more: &[(&'static str, &'static str)]| {
            let vars = base.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
            access(&Settings::of_vars(&vars), &workspace(), &ModelSettings::default(), None)
        };
        for lent in ["MODEL_KEY=acme@model.example", "MODEL_KEY=*@*"] {
            let access = with(&[("CREDENTIAL_WORKSPACES", lent)]).unwrap();
            assert_eq!((access.key.as_deref(), access.model.as_str()), (Some("sk"), "big"), "{lent}");
            assert_eq!((access.streaming, access.context_tokens), (ModelStreaming::Always, 32_000));
        }
        assert!(with(&[("AUTH", "open")]).is_ok());
        for kept in ["", "MODEL_KEY=other@model.example", "MODEL_KEY=acme@other.example", "KEY=acme@model.example"] {
            let refusal = with(&[("CREDENTIAL_WORKSPACES", kept)]).err().unwrap().to_string();
            assert!(refusal.starts_with("MODEL_KEY is not lent to this workspace"), "{kept}: {refusal}");
        }
        let settings = Settings::of_vars(&[("CREDENTIAL_WORKSPACES", "MODEL_KEY=*@*"), ("MODEL_KEY", "sk")]);
        assert!(!settings.lends("MODEL_KEY", &workspace()), "no tool gets the key");
    }

    #[test]
    fn a_deployment_without_a_model_says_what_to_set() {
        let refusal = |vars: &[(&str, &str)], agent| {
            access(&Settings::of_vars(vars), &workspace(), &ModelSettings::default(), agent)
                .err()
                .map(|it| it.to_string())
        };
        assert!(refusal(&[], Some("m")).unwrap().starts_with("No model is configured"));
        let url = [("MODEL_URL", "http://127.0.0.1:8080/v1")];
        assert!(refusal(&url, None).unwrap().starts_with("No model is named"));
        assert_eq!(refusal(&url, Some("m")), None);
    }

    #[test]
    fn the_endpoint_is_below_the_url() {
        for (url, expected) in [
            ("https://a.example", "https://a.example/chat/completions"),
            ("https://a.example/v1/", "https://a.example/v1/chat/completions"),
            ("https://a.example/v1/chat/completions", "https://a.example/v1/chat/completions"),
            ("https://a.example/x?api-version=1", "https://a.example/x/chat/completions?api-version=1"),
        ] {
            assert_eq!(endpoint(url), expected);
        }
    }
}
