//! The settings of a workspace, which its admins choose.

mod store;

pub use store::DEFAULT_GUEST_MODULES;

use crate::callers::Scope;
use crate::changes::{Action, Change};
use crate::error::{Error, Place, Problem, Result, shortened};
use crate::ids::ModuleName;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// The subject of changes of the settings.
const SUBJECT: &str = "workspace:settings";

const MAX_MODULES: usize = 200;

/// The settings, as responses and the change log show them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[schema(as = WorkspaceOut)]
pub struct WorkspaceSettings {
    /// The modules of agents whose `allowed_modules` is empty, and of guests who call without an agent.
    #[schema(example = json!(["research"]))]
    pub default_guest_modules: Vec<String>,
    /// Counts the changes of the settings. A change that is based on an older revision is refused.
    #[serde(skip)]
    revision: u32,
}

/// The settings to change. A setting that is not given stays as it is.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WorkspacePatch)]
pub struct SettingsChange {
    /// Names of modules, 1 to 64 lower-case letters, digits, `_` or `-` each. A module need not be registered yet.
    #[schema(max_items = 200)]
    default_guest_modules: Option<Vec<String>>,
}

impl SettingsChange {
    /// The settings after the change, with each module once. The error lists every violation of the rules.
    fn applied_to(self, before: &WorkspaceSettings) -> Result<WorkspaceSettings> {
        let mut after = before.clone();
        let Some(modules) = self.default_guest_modules else { return Ok(after) };
        let mut problems = Vec::new();
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
        if !problems.is_empty() {
            return Err(Error::Invalid(problems));
        }
        after.default_guest_modules = Vec::new();
        for name in modules {
            if !after.default_guest_modules.contains(&name) {
                after.default_guest_modules.push(name);
            }
        }
        Ok(after)
    }
}

/// The settings of a workspace before their first change, as the change log would show them.
pub fn defaults() -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(&WorkspaceSettings::default())
        .map_err(|cause| Error::Internal(format!("the settings are not JSON: {cause}")))
}

pub async fn get(scope: &Scope) -> Result<WorkspaceSettings> {
    let [rows] = scope.read([store::find(scope.workspace())]).await?;
    store::read(&rows)
}

/// Changes the settings. A change that changes nothing writes nothing.
pub async fn update(scope: &Scope, change: SettingsChange) -> Result<WorkspaceSettings> {
    let workspace = scope.workspace();
    let [rows] = scope.read([store::find(workspace)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let before = store::read(&rows)?;
    let after = change.applied_to(&before)?;
    if after == before {
        return Ok(after);
    }
    let change = Change::new(Action::Update, SUBJECT.to_owned())
        .from(&before)?
        .to(&after)?
        .only_if(store::are_at(workspace, before.revision));
    let [_, written] = scope.write([change.record(&scope.author().await?), store::put(workspace, &after)]).await??;
    if written.changes() == 0 {
        let message = "The settings were changed by another request meanwhile; read them and try again";
        return Err(Error::Conflict(message.into()));
    }
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(modules: &[&str]) -> Result<WorkspaceSettings> {
        let modules = modules.iter().map(|it| (*it).to_owned()).collect();
        SettingsChange { default_guest_modules: Some(modules) }.applied_to(&WorkspaceSettings::default())
    }

    #[test]
    fn each_module_is_kept_once() {
        assert_eq!(changed(&["b", "a", "b"]).unwrap().default_guest_modules, ["b", "a"]);
        let before = changed(&["a"]).unwrap();
        assert_eq!(SettingsChange::default().applied_to(&before).unwrap(), before);
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
