//! The settings of a workspace, which its admins choose.

mod model;
mod store;

pub use model::{ModelAccess, ModelSettings, has_model, model_access};
pub use store::{DEFAULT_GUEST_MODULES, find, read};

use crate::callers::Scope;
use crate::changes::{Action, Change};
use crate::error::{Error, Place, Problem, Result, shortened};
use crate::ids::ModuleName;
use crate::settings::ModelStreaming;
use model::{Deployment, checked_url};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// The subject of changes of the settings.
const SUBJECT: &str = "workspace:settings";

const MAX_MODULES: usize = 200;

/// The settings, as the database holds them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredSettings {
    pub default_guest_modules: Vec<String>,
    pub model: ModelSettings,
    /// Counts the changes of the settings. A change that is based on an older revision is refused.
    revision: u32,
}

/// The settings in a response. The key of the model is never shown.
#[derive(Serialize, ToSchema)]
#[schema(as = WorkspaceOut)]
pub struct WorkspaceSettings {
    /// The modules of agents whose `allowed_modules` is empty, and of guests who call without an agent.
    #[schema(example = json!(["research"]))]
    default_guest_modules: Vec<String>,
    /// The address of the model's server for the playground. If null: the deployment's (`MODEL_URL`).
    model_url: Option<String>,
    /// The model of agents that name none. If null: the deployment's (`MODEL_NAME`).
    model_name: Option<String>,
    /// Whether a key for the server at `model_url` is stored.
    model_key_set: bool,
    /// When the model's answer is asked for as a stream. If null: always, or the deployment's `MODEL_STREAMING` if
    /// `model_url` is null.
    model_streaming: Option<ModelStreaming>,
    /// How many tokens a request to the model may have. If null: the deployment's (`MODEL_CONTEXT_TOKENS`).
    context_tokens: Option<u32>,
}

impl From<&StoredSettings> for WorkspaceSettings {
    fn from(stored: &StoredSettings) -> Self {
        let model = stored.model.clone();
        Self {
            default_guest_modules: stored.default_guest_modules.clone(),
            model_url: model.url,
            model_name: model.name,
            model_key_set: model.sealed_key.is_some(),
            model_streaming: model.streaming,
            context_tokens: model.context_tokens,
        }
    }
}

/// The settings in the change log, which shows only those that are set. So older rows and newer rows look alike.
#[derive(Serialize)]
struct LoggedSettings<'a> {
    default_guest_modules: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    model_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    model_key_set: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_streaming: Option<ModelStreaming>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_tokens: Option<u32>,
}

impl<'a> From<&'a StoredSettings> for LoggedSettings<'a> {
    fn from(stored: &'a StoredSettings) -> Self {
        let model = &stored.model;
        Self {
            default_guest_modules: &stored.default_guest_modules,
            model_url: model.url.as_deref(),
            model_name: model.name.as_deref(),
            model_key_set: model.sealed_key.is_some(),
            model_streaming: model.streaming,
            context_tokens: model.context_tokens,
        }
    }
}

/// The settings to change. A setting that is not given stays as it is.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WorkspacePatch)]
pub struct SettingsChange {
    /// Names of modules, 1 to 64 lower-case letters, digits, `_` or `-` each. A module need not be registered yet.
    #[schema(max_items = 200)]
    default_guest_modules: Option<Vec<String>>,
    /// The address of a server that speaks OpenAI's Chat Completions, without `/chat/completions`; https only. Another
    /// origin than before drops the stored key. An empty text clears the address and the key.
    #[schema(max_length = 2000, example = "https://models.example.com/v1")]
    model_url: Option<String>,
    /// An empty text clears the name.
    #[schema(max_length = 200)]
    model_name: Option<String>,
    /// The key that the server at `model_url` takes as a bearer token. It is stored sealed and never shown. An empty text
    /// clears the key.
    #[schema(max_length = 4000)]
    model_key: Option<String>,
    /// When the model's answer is asked for as a stream: `always`, `without_tools` (only in requests without tools) or
    /// `never`. An empty text clears the setting.
    #[schema(pattern = "^(always|without_tools|never)?$")]
    model_streaming: Option<String>,
    /// How many tokens a request to the model may have, 1,000 to 1,000,000. 0 clears the number.
    #[schema(minimum = 0, maximum = 1000000)]
    context_tokens: Option<u32>,
}

impl SettingsChange {
    /// The settings after the change, with each module once. The error lists every violation of the rules.
    fn applied_to(
        self,
        before: &StoredSettings,
        deployment: &Deployment<'_, impl Fn(&str) -> std::result::Result<String, &'static str>>,
    ) -> Result<StoredSettings> {
        let mut problems = Vec::new();
        let model = before.model.changed(&self, deployment, &mut problems)?;
        let mut after = StoredSettings { model, ..before.clone() };
        if let Some(modules) = self.default_guest_modules {
            after.default_guest_modules = checked_modules(modules, &mut problems);
        }
        if problems.is_empty() { Ok(after) } else { Err(Error::Invalid(problems)) }
    }
}

/// The modules, each once. The violations of the rules are added to `problems`.
fn checked_modules(modules: Vec<String>, problems: &mut Vec<Problem>) -> Vec<String> {
    let mut problem = |path: &str, message: String| {
        let path = format!("/default_guest_modules{path}");
        problems.push(Problem { place: Place::Body, path, message });
    };
    if modules.len() > MAX_MODULES {
        problem("", format!("holds {} entries; {MAX_MODULES} are allowed", modules.len()));
    }
    for (index, name) in modules.iter().enumerate().filter(|(_, name)| ModuleName::parse(name).is_none()) {
        let rule = "must be 1 to 64 lower-case letters, digits, _ or -";
        problem(&format!("/{index}"), format!("{:?} {rule}", shortened(name)));
    }
    let mut checked = Vec::new();
    for name in modules {
        if !checked.contains(&name) {
            checked.push(name);
        }
    }
    checked
}

/// The settings of a workspace before their first change, as the change log would show them.
pub fn defaults() -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(&LoggedSettings::from(&StoredSettings::default()))
        .map_err(|cause| Error::Internal(format!("the settings are not JSON: {cause}")))
}

pub async fn get(scope: &Scope) -> Result<WorkspaceSettings> {
    let [rows] = scope.read([store::find(scope.workspace())]).await?;
    Ok((&store::read(&rows)?).into())
}

/// Changes the settings. A change that changes nothing writes nothing.
pub async fn update(scope: &Scope, change: SettingsChange) -> Result<WorkspaceSettings> {
    let workspace = scope.workspace();
    let [rows] = scope.read([store::find(workspace)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let before = store::read(&rows)?;
    let app = scope.app();
    let check_url = |url: &str| checked_url(url, app.url_rules());
    let deployment = Deployment { workspace, sealer: app.settings().sealer.as_ref(), check_url };
    let after = change.applied_to(&before, &deployment)?;
    if after == before {
        return Ok((&after).into());
    }
    let change = Change::new(Action::Update, SUBJECT.to_owned())
        .from(&LoggedSettings::from(&before))?
        .to(&LoggedSettings::from(&after))?
        .only_if(store::are_at(workspace, before.revision));
    let [_, written] = scope.write([change.record(&scope.author().await?), store::put(workspace, &after)]).await??;
    if written.changes() == 0 {
        let message = "The settings were changed by another request meanwhile; read them and try again";
        return Err(Error::Conflict(message.into()));
    }
    Ok((&after).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(change: SettingsChange, before: &StoredSettings) -> Result<StoredSettings> {
        let workspace = crate::ids::WorkspaceId::parse("acme").unwrap();
        let check_url = |url: &str| Ok(url.to_owned());
        change.applied_to(before, &Deployment { workspace: &workspace, sealer: None, check_url })
    }

    fn changed(modules: &[&str]) -> Result<StoredSettings> {
        let modules = modules.iter().map(|it| (*it).to_owned()).collect();
        let change = SettingsChange { default_guest_modules: Some(modules), ..Default::default() };
        apply(change, &StoredSettings::default())
    }

    #[test]
    fn the_log_shows_what_is_set_and_no_key() {
        assert_eq!(defaults().unwrap().get(), r#"{"default_guest_modules":[]}"#);
        let model = ModelSettings { sealed_key: Some("sealed".into()), ..Default::default() };
        let stored = StoredSettings { model, ..Default::default() };
        let logged = serde_json::to_string(&LoggedSettings::from(&stored)).unwrap();
        assert_eq!(logged, r#"{"default_guest_modules":[],"model_key_set":true}"#);
        assert!(!serde_json::to_string(&WorkspaceSettings::from(&stored)).unwrap().contains("sealed"));
    }

    #[test]
    fn a_key_needs_a_key_to_seal_it() {
        let change = SettingsChange {
            model_url: Some("https://a.example".into()),
            model_key: Some("sk".into()),
            ..Default::default()
        };
        assert!(matches!(apply(change, &StoredSettings::default()), Err(Error::Unavailable(_))));
    }

    #[test]
    fn each_module_is_kept_once() {
        assert_eq!(changed(&["b", "a", "b"]).unwrap().default_guest_modules, ["b", "a"]);
        let before = changed(&["a"]).unwrap();
        assert_eq!(apply(SettingsChange::default(), &before).unwrap(), before);
    }

    #[test]
    fn every_wrong_name_is_told() {
        let long = "x".repeat(65);
        let mut names = vec!["ok", "Not", "a.b", "", &long];
        let paths = |names: &[&str]| {
            let Err(Error::Invalid(problems)) = changed(names) else { unreachable!("it breaks the rules") };
            problems.into_iter().map(|it| it.path).collect::<Vec<_>>()
        };
        let expected = ["/1", "/2", "/3", "/4"].map(|it| format!("/default_guest_modules{it}"));
        assert_eq!(paths(&names), expected);
        names.truncate(1);
        assert_eq!(paths(&names.repeat(201)), ["/default_guest_modules"]);
    }
}
