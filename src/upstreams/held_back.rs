//! Definitions that wait for an admin: what an upstream offers and nobody has accepted yet.

use super::kind::UpstreamSettings;
use super::manage::found;
use super::offer::{OfferedTool, Registrant};
use super::store;
use super::upstream::Upstream;
use crate::callers::{Level, Scope};
use crate::error::{Error, Place, Problem, Result, shortened};
use crate::hex;
use crate::ids::{ToolId, UpstreamId};
use crate::page::{Page, PageRequest};
use crate::registry::{
    self, FieldDifference, Placement, PlacementOutcome, Preview, StepReason, ToolOut, ToolReading, VersionStep,
};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use utoipa::ToSchema;

text_enum! {
    /// Why a definition is held back.
    HeldBackChange {
        /// The tool appeared after the upstream was accepted.
        New = "new",
        /// The definition differs from the accepted one.
        Changed = "changed",
    }
}

/// How much of a SHA-256 names a definition.
const HASH_BYTES: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub struct HeldBack {
    pub upstream: UpstreamId,
    pub tool_id: ToolId,
    pub change: HeldBackChange,
    pub offered: OfferedTool,
}

impl HeldBack {
    fn is_named(&self, name: &str) -> bool {
        let id = self.tool_id.as_str();
        id == name || id.strip_prefix(self.upstream.prefix()) == Some(name)
    }

    /// Differs for definitions that differ.
    fn hash(&self) -> Result<String> {
        let definition = serde_json::to_vec(&self.offered)
            .map_err(|cause| Error::Internal(format!("{} cannot be written: {cause}", self.tool_id)))?;
        Ok(hex::encode(&Sha256::digest(definition)[..HASH_BYTES]))
    }
}

/// A definition that waits for an admin, beside the accepted one.
#[derive(Serialize, ToSchema)]
pub struct HeldBackOut {
    #[schema(example = "research.web_search")]
    tool_id: String,
    change: HeldBackChange,
    /// Names the offered definition. Send it back with the acceptance, so that no other definition is accepted instead.
    #[schema(example = "9b74c9897bac770ffc029102a200c5de")]
    hash: String,
    /// The step that the new version takes. Null for a new tool, which begins with 1.0.0.
    bump: Option<VersionStep>,
    /// The version that is listed and run now. Null for a new tool.
    accepted: Option<ToolOut>,
    /// The version that accepting the definition would make.
    offered: ToolOut,
    /// The differences that need more than a patch: what callers of the tool would notice.
    reasons: Vec<StepReason>,
    /// All fields that differ.
    differences: Vec<FieldDifference>,
}

/// What an admin accepts.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptIn {
    /// The tools to accept, with or without the name before the dot or colon; all, if not given.
    #[schema(max_items = 2000, example = json!(["research.web_search"]))]
    pub tools: Option<Vec<String>>,
    /// The `hash` of each definition that the admin has read, by the name of its tool. Nothing is accepted if one of the
    /// definitions is another one now.
    #[schema(example = json!({"research.web_search": "9b74c9897bac770ffc029102a200c5de"}))]
    pub hashes: Option<BTreeMap<String, String>>,
}

/// A definition that was accepted.
#[derive(Serialize, ToSchema)]
pub struct Accepted {
    #[schema(example = "research.web_search")]
    tool_id: String,
    #[schema(example = "1.1.0")]
    version: String,
    change: HeldBackChange,
}

/// What is held back of one upstream, with the present tools.
struct Waiting<S> {
    upstream: Upstream<S>,
    held: Vec<HeldBack>,
    present: Vec<ToolReading>,
}

impl<S: UpstreamSettings> Waiting<S> {
    /// Everything that is held back. Takes one round trip.
    async fn of(scope: &Scope, id: &UpstreamId) -> Result<Self> {
        let workspace = scope.workspace();
        let [upstream, held, present] = scope
            .read([
                store::find::<S>(workspace, id),
                store::find_held_back::<S>(workspace, &[id]),
                registry::find_tools_of_upstreams(workspace, S::SOURCE, &[id.prefix()]),
            ])
            .await?;
        scope.caller().await?.must_be_unbound()?;
        Ok(Self {
            upstream: found(id, store::read_upstream(&upstream)?)?,
            held: store::read_held_back::<S>(&held)?,
            present: registry::read_readings(&present)?,
        })
    }

    fn present(&self) -> HashMap<&str, &ToolReading> {
        self.present.iter().map(|it| (it.tool.id.as_str(), it)).collect()
    }
}

/// A page of what is held back of the upstream, sorted by tool.
pub async fn list<S: UpstreamSettings>(
    scope: &Scope,
    id: &UpstreamId,
    request: &PageRequest,
) -> Result<Page<HeldBackOut>> {
    let workspace = scope.workspace();
    let [upstream, held] =
        scope.read([store::find::<S>(workspace, id), store::list_held_back::<S>(workspace, id, request)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let upstream = found::<S>(id, store::read_upstream(&upstream)?)?;
    let page =
        request.cut_page(store::read_held_back::<S>(&held)?, registry::is_cut(&held)?, |it| it.tool_id.to_string());
    let ids = page.items.iter().map(|it| it.tool_id.as_str()).collect::<Vec<_>>();
    let [present] = scope.read([registry::find_readings(workspace, &ids)]).await?;
    let waiting = Waiting { upstream, present: registry::read_readings(&present)?, held: page.items };
    let present = waiting.present();
    let by = Registrant { operator: scope.operator(), now: scope.app().now() };
    let timeout = waiting.upstream.settings.timeout_seconds(scope.app().settings());
    let sealer = scope.app().settings().sealer.as_ref();
    let mut shown = Vec::new();
    for it in &waiting.held {
        let accepted = present.get(it.tool_id.as_str()).copied();
        let definition = it.offered.to_tool::<S>(&it.tool_id, timeout, &by)?;
        // Nothing is written: the placement only decides the number.
        let offered = Placement::default().put(accepted, definition)?;
        let preview = Preview::of(accepted.map(|it| &it.tool), &offered, sealer, Vec::new())?;
        shown.push(HeldBackOut {
            tool_id: it.tool_id.to_string(),
            change: it.change,
            hash: it.hash()?,
            bump: preview.needed_step,
            accepted: accepted.map(|it| ToolOut::seen_by(Level::Admin, it.tool.clone())),
            offered: ToolOut::seen_by(Level::Admin, offered),
            reasons: preview.reasons,
            differences: preview.differences,
        });
    }
    Ok(Page { items: shown, next_cursor: page.next_cursor })
}

/// Accepts what is held back of the upstream: everything, or the given tools. Everything is accepted at once, or nothing.
pub async fn accept<S: UpstreamSettings>(scope: &Scope, id: &UpstreamId, given: &AcceptIn) -> Result<Vec<Accepted>> {
    let waiting = Waiting::<S>::of(scope, id).await?;
    let accepted = wanted(&waiting.held, given.tools.as_deref())?;
    check_hashes(&waiting.held, given.hashes.iter().flatten())?;
    if accepted.is_empty() {
        return Ok(Vec::new());
    }
    let present = waiting.present();
    let by = Registrant { operator: scope.operator(), now: scope.app().now() };
    let timeout = waiting.upstream.settings.timeout_seconds(scope.app().settings());
    let mut placement = Placement::default();
    let mut told = Vec::new();
    for it in &accepted {
        let definition = it.offered.to_tool::<S>(&it.tool_id, timeout, &by)?;
        let tool = placement.put(present.get(it.tool_id.as_str()).copied(), definition)?;
        told.push(Accepted { tool_id: tool.id.to_string(), version: tool.version.to_string(), change: it.change });
    }
    let tools = accepted.iter().map(|it| (id, &it.tool_id)).collect::<Vec<_>>();
    for statement in store::forget_held_back::<S>(scope.workspace(), &tools)? {
        placement.also(statement);
    }
    // An upstream that was changed meanwhile may offer something else now.
    placement.only_if(store::is_at(scope.workspace(), &waiting.upstream));
    match placement.write(scope).await? {
        PlacementOutcome::Done => Ok(told),
        PlacementOutcome::Overtaken => Err(Error::Conflict(format!(
            "{} or one of its tools was changed by another request meanwhile; read it and try again",
            id.name()
        ))),
        PlacementOutcome::Banned => {
            Err(Error::Conflict("a version of this number was deactivated for security and cannot come back".into()))
        }
    }
}

/// Those of the held-back definitions that the tools name. A tool may be named with or without the upstream's prefix.
fn wanted<'a>(held: &'a [HeldBack], tools: Option<&[String]>) -> Result<Vec<&'a HeldBack>> {
    let Some(tools) = tools else { return Ok(held.iter().collect()) };
    let mut problems = Vec::new();
    for (index, name) in tools.iter().enumerate() {
        if !held.iter().any(|it| it.is_named(name)) {
            let message = format!("{} is not held back", shortened(name));
            problems.push(Problem { place: Place::Body, path: format!("/tools/{index}"), message });
        }
    }
    if !problems.is_empty() {
        return Err(Error::Invalid(problems));
    }
    Ok(held.iter().filter(|it| tools.iter().any(|name| it.is_named(name))).collect())
}

/// Refuses the acceptance of a definition that is not the one which the admin has read.
fn check_hashes<'a>(held: &[HeldBack], hashes: impl Iterator<Item = (&'a String, &'a String)>) -> Result<()> {
    for (name, hash) in hashes {
        let present = held.iter().find(|it| it.is_named(name)).map(HeldBack::hash).transpose()?;
        if present.as_ref() != Some(hash) {
            let name = shortened(name);
            return Err(Error::Conflict(format!("{name} is offered with another definition now: read it again")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callers::Level;
    use crate::registry::{Handler, Risk};

    fn held(id: &str) -> HeldBack {
        HeldBack {
            upstream: UpstreamId::parse("m.").unwrap(),
            tool_id: ToolId::parse(id).unwrap(),
            change: HeldBackChange::New,
            offered: OfferedTool {
                name: id.into(),
                description: String::new(),
                parameters_schema: "{}".into(),
                returns_schema: None,
                handler: Handler::Module { module: "m".into() },
                risk_level: Risk::Low,
                required_permission: Level::Guest,
                requires_approval: false,
                timeout_seconds: None,
                side_effects: Vec::new(),
                examples: Vec::new(),
            },
        }
    }

    #[test]
    fn tools_are_named_with_or_without_their_upstream() {
        let all = [held("m.a"), held("m.b"), held("m.c.d")];
        let ids = |tools: Option<&[String]>| {
            wanted(&all, tools).unwrap().iter().map(|it| it.tool_id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(ids(None), ["m.a", "m.b", "m.c.d"]);
        assert_eq!(ids(Some(&["c.d".into(), "m.a".into()])), ["m.a", "m.c.d"]);
        assert!(ids(Some(&[])).is_empty());
        let Err(Error::Invalid(problems)) = wanted(&all, Some(&["a".into(), "x".into()])) else {
            unreachable!("x is not held back")
        };
        assert_eq!((problems.len(), problems[0].path.as_str()), (1, "/tools/1"));
    }

    #[test]
    fn a_definition_that_nobody_has_read_is_not_accepted() {
        let all = [held("m.a"), held("m.b")];
        let is_accepted =
            |name: &str, hash: &str| check_hashes(&all, [(&name.into(), &hash.into())].into_iter()).is_ok();
        let read = all[0].hash().unwrap();
        assert!(is_accepted("m.a", &read) && is_accepted("a", &read));
        let mut changed = held("m.a");
        changed.offered.description = "something else".into();
        assert!(!is_accepted("a", &changed.hash().unwrap()) && !is_accepted("a", "") && !is_accepted("gone", &read));
    }
}
