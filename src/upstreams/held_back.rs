//! Definitions that wait for an admin: what an upstream offers and nobody has accepted yet.

use super::kind::UpstreamSettings;
use super::manage::found;
use super::offer::{OfferedTool, Registrant};
use super::store;
use super::upstream::Upstream;
use crate::callers::{Level, Scope};
use crate::error::{Error, Place, Problem, Result, shortened};
use crate::ids::{ToolId, UpstreamId};
use crate::page::{Page, PageRequest};
use crate::registry::{
    self, FieldDifference, Placement, PlacementOutcome, Preview, StepReason, ToolOut, ToolReading, VersionStep,
};
use crate::text_enum::text_enum;
use serde::Serialize;
use std::collections::HashMap;
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

#[derive(Clone, Debug, PartialEq)]
pub struct HeldBack {
    pub upstream: UpstreamId,
    pub tool_id: ToolId,
    pub change: HeldBackChange,
    pub offered: OfferedTool,
}

/// A definition that waits for an admin, beside the accepted one.
#[derive(Serialize, ToSchema)]
pub struct HeldBackOut {
    #[schema(example = "research.web_search")]
    tool_id: String,
    change: HeldBackChange,
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
            bump: preview.needed_step,
            accepted: accepted.map(|it| ToolOut::seen_by(Level::Admin, it.tool.clone())),
            offered: ToolOut::seen_by(Level::Admin, offered),
            reasons: preview.reasons,
            differences: preview.differences,
        });
    }
    Ok(Page { items: shown, next_cursor: page.next_cursor })
}

/// Accepts what is held back of the upstream: everything, or these tools. Everything is accepted at once, or nothing.
pub async fn accept<S: UpstreamSettings>(
    scope: &Scope,
    id: &UpstreamId,
    tools: Option<&[String]>,
) -> Result<Vec<Accepted>> {
    let waiting = Waiting::<S>::of(scope, id).await?;
    let accepted = wanted(&waiting.held, tools)?;
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
    let is_named = |it: &HeldBack, name: &str| {
        let id = it.tool_id.as_str();
        id == name || id.strip_prefix(it.upstream.prefix()) == Some(name)
    };
    let mut problems = Vec::new();
    for (index, name) in tools.iter().enumerate() {
        if !held.iter().any(|it| is_named(it, name)) {
            let message = format!("{} is not held back", shortened(name));
            problems.push(Problem { place: Place::Body, path: format!("/tools/{index}"), message });
        }
    }
    if !problems.is_empty() {
        return Err(Error::Invalid(problems));
    }
    Ok(held.iter().filter(|it| tools.iter().any(|name| is_named(it, name))).collect())
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
}
