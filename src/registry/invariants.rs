//! The rules that always hold in a registry: in the live one, and in one that is to be restored.

use super::handler::missing_builtin;
use super::store;
use super::tool::DeactivationReason;
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::{SERVER_SEPARATOR, UpstreamId};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use utoipa::ToSchema;

/// The fields of one version that the invariants check.
pub struct CheckedVersion {
    pub tool_id: String,
    pub version: String,
    pub active: bool,
    pub deactivated_reason: Option<DeactivationReason>,
    /// The key of the handler, if the handler is a built-in.
    pub builtin: Option<String>,
    /// The upstream that the tool belongs to, as the beginning of the tool's id.
    pub upstream: Option<String>,
    /// The toolset that the tool belongs to.
    pub toolset: Option<String>,
    pub credentials_required: Vec<String>,
}

/// The names that versions may refer to.
#[derive(Default)]
pub struct DefinedNames {
    pub credentials: HashSet<String>,
    /// Upstreams, each as the beginning of its tools' ids.
    pub upstreams: HashSet<String>,
    pub toolsets: DeclaredTools,
}

/// The toolsets of a workspace, and the tools that they declare.
#[derive(Default)]
pub struct DeclaredTools {
    toolsets: HashSet<String>,
    /// Whole ids.
    tools: HashSet<String>,
}

impl DeclaredTools {
    /// Adds a toolset, and a tool that it declares.
    pub fn add(&mut self, toolset: &str, tool: Option<&str>) {
        if !self.toolsets.contains(toolset) {
            self.toolsets.insert(toolset.to_owned());
        }
        self.tools.extend(tool.map(|it| format!("{toolset}{SERVER_SEPARATOR}{it}")));
    }

    pub fn has_toolset(&self, id: &str) -> bool {
        self.toolsets.contains(id)
    }

    /// Why calls of this tool of the toolset would reach nothing. None, if they reach the tool.
    pub fn missing(&self, toolset: &str, tool_id: &str) -> Option<String> {
        if !self.toolsets.contains(toolset) {
            return Some(format!("its toolset {toolset} is not installed"));
        }
        (!self.tools.contains(tool_id)).then(|| format!("its toolset {toolset} does not have the tool any more"))
    }
}

#[derive(Serialize, ToSchema)]
pub struct Invariant {
    #[schema(example = "one_active_version")]
    pub name: &'static str,
    ok: bool,
    pub violations: Vec<Breach>,
}

/// A version that breaks an invariant.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub struct Breach {
    pub tool_id: String,
    pub version: String,
    pub message: String,
}

/// The reason why calls of a tool of this upstream would reach nothing.
pub fn missing_upstream(upstream: &str) -> String {
    match UpstreamId::parse(upstream) {
        Some(id) => format!("its {} {} is not registered", id.noun(), id.name()),
        None => format!("its server {upstream} is not registered"),
    }
}

/// Checks the versions against all four invariants.
pub fn check(versions: &[CheckedVersion], defined: &DefinedNames) -> Vec<Invariant> {
    let active = || versions.iter().filter(|it| it.active);
    let mut actives: HashMap<&str, u32> = HashMap::new();
    for version in active() {
        *actives.entry(&version.tool_id).or_default() += 1;
    }
    let one = active().filter_map(|it| {
        let count = actives.get(it.tool_id.as_str()).filter(|count| **count > 1)?;
        Some(breach(it, format!("is one of {count} active versions")))
    });
    let targets = active().flat_map(|it| {
        let upstream = it.upstream.as_deref().filter(|it| !defined.upstreams.contains(*it)).map(missing_upstream);
        let toolset = it.toolset.as_deref().and_then(|toolset| defined.toolsets.missing(toolset, &it.tool_id));
        let missing = it.builtin.as_deref().and_then(missing_builtin).into_iter().chain(upstream).chain(toolset);
        missing.map(|message| breach(it, message))
    });
    let undefined = active().flat_map(|it| {
        let missing = it.credentials_required.iter().filter(|id| !defined.credentials.contains(id.as_str()));
        missing.map(|id| breach(it, format!("needs {id}, which is not a credential of this workspace")))
    });
    let insecure = active()
        .filter(|it| it.deactivated_reason == Some(DeactivationReason::Security))
        .map(|it| breach(it, "is active, and was deactivated for security".to_owned()));
    vec![
        invariant("one_active_version", one.collect()),
        invariant("handler_targets_exist", targets.collect()),
        invariant("credentials_defined", undefined.collect()),
        invariant("no_active_security_deactivation", insecure.collect()),
    ]
}

fn invariant(name: &'static str, violations: Vec<Breach>) -> Invariant {
    Invariant { name, ok: violations.is_empty(), violations }
}

fn breach(version: &CheckedVersion, message: String) -> Breach {
    Breach { tool_id: version.tool_id.clone(), version: version.version.clone(), message }
}

/// Checks the invariants of the workspace as it is now.
pub async fn invariants(scope: &Scope) -> Result<Vec<Invariant>> {
    let workspace = scope.workspace();
    let [versions, credentials, upstreams, toolsets] = scope
        .read([
            store::versions::active(workspace),
            store::credentials::all(workspace),
            store::upstreams::prefixes(workspace),
            store::toolsets::declared(workspace),
        ])
        .await?;
    scope.caller().await?.must_be_unbound()?;
    let defined = DefinedNames {
        credentials: store::credentials::read_ids(&credentials)?.into_iter().collect(),
        upstreams: store::credentials::read_ids(&upstreams)?.into_iter().collect(),
        toolsets: store::toolsets::read_declared(&toolsets)?,
    };
    Ok(check(&store::versions::read_active(&versions)?, &defined))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: &str) -> CheckedVersion {
        CheckedVersion {
            tool_id: "x".into(),
            version: number.into(),
            active: true,
            deactivated_reason: None,
            builtin: Some("read_file".into()),
            upstream: Some("m.".into()),
            toolset: None,
            credentials_required: vec!["KEY".into()],
        }
    }

    #[track_caller]
    fn broken(versions: &[CheckedVersion], expected: &[&str]) {
        let mut toolsets = DeclaredTools::default();
        toolsets.add("kit", Some("plot"));
        let defined =
            DefinedNames { credentials: ["KEY".to_owned()].into(), upstreams: ["m.".to_owned()].into(), toolsets };
        let invariants = check(versions, &defined);
        assert_eq!(invariants.len(), 4);
        let broken = invariants.iter().filter(|it| !it.ok).map(|it| it.name).collect::<Vec<_>>();
        assert_eq!(broken, expected);
    }

    #[test]
    fn each_invariant_is_broken_by_its_own_fault() {
        let inactive = |number: &str| CheckedVersion { active: false, ..version(number) };
        broken(&[version("1.0.0"), inactive("1.1.0")], &[]);
        broken(&[version("1.0.0"), version("1.1.0")], &["one_active_version"]);
        let builtin = Some("gone".to_owned());
        broken(&[CheckedVersion { builtin: builtin.clone(), ..version("1.0.0") }], &["handler_targets_exist"]);
        broken(&[CheckedVersion { builtin, ..inactive("1.0.0") }], &[]);
        let upstream = Some("gone.".to_owned());
        broken(&[CheckedVersion { upstream: upstream.clone(), ..version("1.0.0") }], &["handler_targets_exist"]);
        broken(&[CheckedVersion { upstream, ..inactive("1.0.0") }], &[]);
        let of_toolset = |toolset: &str, id: &str, active| {
            let (toolset, tool_id) = (Some(toolset.to_owned()), id.to_owned());
            CheckedVersion { toolset, tool_id, upstream: None, active, ..version("1.0.0") }
        };
        broken(&[of_toolset("kit", "kit:plot", true)], &[]);
        broken(&[of_toolset("kit", "kit:other", true)], &["handler_targets_exist"]);
        broken(&[of_toolset("gone", "gone:plot", true)], &["handler_targets_exist"]);
        broken(&[of_toolset("gone", "gone:plot", false)], &[]);
        broken(
            &[CheckedVersion { credentials_required: vec!["B".into()], ..version("1.0.0") }],
            &["credentials_defined"],
        );
        let security = Some(DeactivationReason::Security);
        broken(
            &[CheckedVersion { deactivated_reason: security, ..version("1.0.0") }],
            &["no_active_security_deactivation"],
        );
        broken(&[CheckedVersion { deactivated_reason: security, ..inactive("1.0.0") }], &[]);
    }
}
