//! Overrides: what a toolset, or an admin, says about a tool of the toolset or of one of the toolset's MCP servers, besides
//! the tool's versions. The registry applies them wherever a tool is read ([`crate::registry::Tool::shown_name`]).

use super::store::overrides as store;
use crate::callers::Scope;
use crate::changes::{Action, Change};
use crate::db::{Rows, Statement};
use crate::error::{Error, Place, Problem, Result};
use crate::ids::{SERVER_SEPARATOR, ToolId, ToolsetId, WorkspaceId, check_name};
use crate::read_only::{ReadOnly, shown};
use crate::rendering::{Renderer, RendererKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// The longest description, in characters, as for all tools of toolsets and MCP servers.
const MAX_DESCRIPTION_CHARS: usize = 8_192;

/// An override in responses, in the change log and in backups. Null leaves a field as the tool's version has it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideOut {
    #[schema(example = "charts")]
    pub toolset_id: String,
    /// `toolset:tool` or `server:tool`.
    #[schema(example = "charts:plot")]
    pub tool_id: String,
    /// What shows the results of calls.
    #[schema(required)]
    pub renderer: Option<RendererKind>,
    #[schema(required, value_type = Option<Object>)]
    pub renderer_config: Option<Map<String, Value>>,
    #[schema(required)]
    pub name_override: Option<String>,
    #[schema(required)]
    pub description_override: Option<String>,
    #[schema(required)]
    pub requires_approval: Option<bool>,
    #[schema(required)]
    pub enabled: Option<bool>,
    /// Whether an admin has set the override. An upgrade of the toolset keeps it then.
    pub by_admin: bool,
}

impl OverrideOut {
    /// Whether the override leaves everything as the tool's version has it.
    pub fn is_empty(&self) -> bool {
        self.renderer.is_none()
            && self.name_override.is_none()
            && self.description_override.is_none()
            && self.requires_approval.is_none()
            && self.enabled.is_none()
    }

    /// The path of the page that the renderer `html` shows, without a leading `./`.
    pub fn artifact(&self) -> Option<&str> {
        let path = self.renderer_config.as_ref().filter(|_| self.renderer == Some(RendererKind::Html))?;
        let path = path.get("artifact")?.as_str()?;
        Some(path.strip_prefix("./").unwrap_or(path))
    }
}

/// An override as an admin gives it. At least one field is needed, and null counts as absent.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideIn {
    /// What shows the results of calls; goes with `renderer_config`.
    renderer: Option<RendererKind>,
    /// The configuration of the renderer, with expressions such as `$args.path`. docs/rendering.md describes the fields.
    #[schema(value_type = Option<Object>)]
    renderer_config: Option<Map<String, Value>>,
    /// The name that people see, on one line.
    #[schema(max_length = 200)]
    name_override: Option<String>,
    /// The description that models see.
    #[schema(max_length = 8192)]
    description_override: Option<String>,
    /// Whether calls wait for an approval. Calls of high and critical risk always do.
    requires_approval: Option<bool>,
    /// If false, calls are refused as TOOL_DISABLED, and the tool is in no toolbox.
    enabled: Option<bool>,
}

impl OverrideIn {
    /// The override of the tool. Fails with every fault.
    fn of(self, toolset: &ToolsetId, tool: &ToolId) -> Result<OverrideOut> {
        let mut problems = Vec::new();
        let mut problem = |path: &str, message: String| {
            problems.push(Problem { place: Place::Body, path: path.to_owned(), message });
        };
        let is_empty = self.renderer.is_none()
            && self.renderer_config.is_none()
            && self.name_override.is_none()
            && self.description_override.is_none()
            && self.requires_approval.is_none()
            && self.enabled.is_none();
        if is_empty {
            problem("", "must have at least one field".to_owned());
        }
        if let Some(Err(fault)) = self.name_override.as_deref().map(check_name) {
            problem("/name_override", fault);
        }
        let description = self.description_override.as_deref();
        if description.is_some_and(|it| it.trim().is_empty() || it.chars().count() > MAX_DESCRIPTION_CHARS) {
            problem("/description_override", format!("must have 1 to {MAX_DESCRIPTION_CHARS} characters"));
        }
        if self.renderer.is_none() && self.renderer_config.is_some() {
            problem("/renderer", "is required with renderer_config".to_owned());
        }
        let renderer = self.renderer.map(|kind| Renderer::new(kind, self.renderer_config.unwrap_or_default()));
        let renderer = renderer.transpose().unwrap_or_else(|faults| {
            problems.extend(faults);
            None
        });
        if !problems.is_empty() {
            return Err(Error::Invalid(problems));
        }
        Ok(OverrideOut {
            toolset_id: toolset.to_string(),
            tool_id: tool.to_string(),
            renderer: renderer.as_ref().map(Renderer::kind),
            renderer_config: renderer.map(Renderer::into_config),
            name_override: self.name_override,
            description_override: self.description_override,
            requires_approval: self.requires_approval,
            enabled: self.enabled,
            by_admin: true,
        })
    }
}

/// The whole id of a tool that may be named without the toolset's id. None, if no tool can have this id.
fn full_id(toolset: &ToolsetId, named: &ToolId) -> Option<ToolId> {
    let id = match named.as_str().split_once(SERVER_SEPARATOR) {
        Some(_) => named.clone(),
        None => ToolId::parse(&format!("{toolset}{SERVER_SEPARATOR}{named}"))?,
    };
    let (_, tool) = id.as_str().split_once(SERVER_SEPARATOR)?;
    ((1..=128).contains(&tool.len()) && !tool.contains(SERVER_SEPARATOR)).then_some(id)
}

/// The change of a tool's override, from the one state to the other.
pub fn change(before: Option<&OverrideOut>, after: Option<&OverrideOut>) -> Result<Change> {
    let action = if after.is_some() { Action::Configure } else { Action::Delete };
    let id = after.or(before).map(|it| it.tool_id.as_str()).unwrap_or_default();
    let tool = ToolId::parse(id).ok_or_else(|| Error::Internal(format!("an override has the broken tool id {id}")))?;
    let change = Change::new(action, format!("override:{tool}")).of_tool(&tool).before_if_any(before)?;
    match after {
        Some(after) => change.to(after),
        None => Ok(change),
    }
}

/// Selects the overrides of a toolset, in the order of its manifest, for [`read_overrides`].
pub fn find_overrides(workspace: &WorkspaceId, toolset: &ToolsetId) -> Statement {
    store::find_all(workspace, toolset)
}

pub fn read_overrides(rows: &Rows) -> Result<Vec<OverrideOut>> {
    store::read_all(rows)
}

/// Makes the overrides of a toolset these ones, in this order. Rows that stay the same cost no search index.
pub fn put_overrides(
    workspace: &WorkspaceId,
    toolset: &ToolsetId,
    overrides: &[OverrideOut],
) -> Result<Vec<Statement>> {
    store::put_all(workspace, toolset, overrides)
}

/// The override of one tool. The tool may be named without the toolset's id.
pub async fn get_override(scope: &Scope, toolset: &ToolsetId, named: &ToolId) -> Result<OverrideOut> {
    OverrideReading::of(scope, toolset, named, None).await?.existing()
}

/// Replaces the override of one tool, in the name of an admin.
pub async fn put_override(
    scope: &Scope,
    toolset: &ToolsetId,
    named: &ToolId,
    given: OverrideIn,
    read_only: &ReadOnly,
) -> Result<OverrideOut> {
    let unknown = || Error::not_found("Tool", named);
    let after = given.of(toolset, &full_id(toolset, named).ok_or_else(unknown)?)?;
    let reading = OverrideReading::of(scope, toolset, named, after.artifact()).await?;
    scope.caller().await?.must_be_unbound()?;
    if !reading.place.has_tool() {
        return Err(unknown());
    }
    if let (Some(artifact), false) = (after.artifact(), reading.place.has_artifact()) {
        let message = format!("{artifact} is no file of the toolset {toolset}");
        return Err(Error::body("/renderer_config/artifact", message));
    }
    let before = reading.before.iter().chain([&after]).map(shown).collect::<Result<Vec<_>>>()?;
    read_only.check(&before)?;
    if reading.before.as_ref() == Some(&after) {
        return Ok(after);
    }
    let write = match &reading.before {
        Some(_) => store::update(scope.workspace(), &after),
        None => store::insert(scope.workspace(), toolset, &after),
    };
    reading.write(scope, Some(&after), write).await?;
    Ok(after)
}

/// Deletes the override of one tool.
pub async fn delete_override(scope: &Scope, toolset: &ToolsetId, named: &ToolId) -> Result<()> {
    let reading = OverrideReading::of(scope, toolset, named, None).await?;
    scope.caller().await?.must_be_unbound()?;
    let write = store::delete(scope.workspace(), toolset, &reading.tool);
    if reading.before.is_none() {
        return reading.existing().map(drop);
    }
    reading.write(scope, None, write).await
}

/// A tool's override, as it was read for a decision.
struct OverrideReading<'a> {
    toolset: &'a ToolsetId,
    tool: ToolId,
    place: store::OverridePlace,
    before: Option<OverrideOut>,
}

impl<'a> OverrideReading<'a> {
    async fn of(scope: &Scope, toolset: &'a ToolsetId, named: &ToolId, artifact: Option<&str>) -> Result<Self> {
        // A name that no tool can have is looked for too, so that the caller and the toolset are checked first.
        let (tool, workspace) = (full_id(toolset, named).unwrap_or_else(|| named.clone()), scope.workspace());
        let [place, before] = scope
            .read([store::find_place(workspace, toolset, &tool, artifact), store::find(workspace, toolset, &tool)])
            .await?;
        let place = store::read_place(&place)?.ok_or_else(|| Error::not_found("Toolset", toolset))?;
        Ok(Self { toolset, tool, place, before: store::read_all(&before)?.pop() })
    }

    /// The override, if there is one.
    fn existing(self) -> Result<OverrideOut> {
        self.before.ok_or_else(|| Error::not_found("Override", &self.tool))
    }

    /// Writes the override and its change, if the toolset has not changed since the reading. The toolset's revision is
    /// raised, so that an import which has read the old override is refused.
    async fn write(self, scope: &Scope, after: Option<&OverrideOut>, write: Statement) -> Result<()> {
        let (workspace, revision) = (scope.workspace(), self.place.revision);
        let unchanged = || store::toolset_is_at(workspace, self.toolset, revision);
        let change = change(self.before.as_ref(), after)?.only_if(unchanged());
        let statements = [
            change.record(&scope.author().await?),
            write.and(unchanged()),
            store::raise_revision(workspace, self.toolset, revision),
        ];
        let [_, _, raised] = scope.write(statements).await??;
        match raised.changes() {
            0 => Err(Error::Conflict(format!(
                "The toolset {} was changed by another request meanwhile; read it and try again",
                self.toolset
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(body: Value) -> Result<OverrideOut> {
        let (toolset, tool) = (ToolsetId::parse("charts").unwrap(), ToolId::parse("charts:plot").unwrap());
        serde_json::from_value::<OverrideIn>(body).unwrap().of(&toolset, &tool)
    }

    #[test]
    fn a_tool_may_be_named_without_its_toolset() {
        let toolset = ToolsetId::parse("charts").unwrap();
        let full = |named: &str| full_id(&toolset, &ToolId::parse(named).unwrap()).map(|it| it.to_string());
        assert_eq!(full("plot").as_deref(), Some("charts:plot"));
        assert_eq!(full("plot.v2").as_deref(), Some("charts:plot.v2"));
        assert_eq!(full("charts:plot").as_deref(), Some("charts:plot"));
        assert_eq!(full("time:now").as_deref(), Some("time:now"));
        assert_eq!((full("a:b:c"), full("charts:"), full(&"x".repeat(129))), (None, None, None));
    }

    #[test]
    fn every_fault_of_an_override_has_its_place() {
        let check = |body: Value, expected: &[&str]| {
            let Err(Error::Invalid(problems)) = given(body) else { unreachable!("it breaks the rules") };
            assert_eq!(problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected);
        };
        check(json!({}), &[""]);
        check(json!({"enabled": null}), &[""]);
        check(
            json!({"name_override": "a\nb", "description_override": " "}),
            &["/name_override", "/description_override"],
        );
        check(json!({"description_override": "x".repeat(8_193)}), &["/description_override"]);
        check(json!({"renderer": "code"}), &["/renderer_config"]);
        check(json!({"renderer_config": {"file": "a"}}), &["/renderer"]);
        check(json!({"renderer": "html", "renderer_config": {"artifact": "../a"}}), &["/renderer_config/artifact"]);
    }

    #[test]
    fn an_override_holds_what_was_given() {
        let config = json!({"artifact": "./artifacts/plot.html", "data": "$return", "content": null});
        let all = given(json!({"renderer": "html", "renderer_config": config, "enabled": false})).unwrap();
        assert_eq!(all.artifact(), Some("artifacts/plot.html"));
        assert_eq!(
            json!(all),
            json!({
                "toolset_id": "charts", "tool_id": "charts:plot", "renderer": "html",
                "renderer_config": {"artifact": "./artifacts/plot.html", "data": "$return"}, "name_override": null,
                "description_override": null, "requires_approval": null, "enabled": false, "by_admin": true,
            })
        );
        assert_eq!(given(json!({"renderer": "code", "renderer_config": {"file": "a"}})).unwrap().artifact(), None);
    }

    #[test]
    fn a_change_tells_the_whole_state() {
        let (one, other) = (given(json!({"enabled": false})).unwrap(), given(json!({"enabled": true})).unwrap());
        let row = |before: Option<&OverrideOut>, after: Option<&OverrideOut>| change(before, after).unwrap().row();
        let made = row(None, Some(&one));
        assert_eq!((&made["action"], &made["subject"]), (&json!("configure"), &json!("override:charts:plot")));
        assert_eq!((&made["tool_id"], &made["previous_state"]), (&json!("charts:plot"), &Value::Null));
        let state = |it: &Value| serde_json::from_str::<Value>(it.as_str().unwrap()).unwrap();
        assert_eq!(state(&made["new_state"]), json!(one));
        assert_eq!(state(&row(Some(&one), Some(&other))["previous_state"]), json!(one));
        let deleted = row(Some(&one), None);
        assert_eq!((&deleted["action"], &deleted["new_state"]), (&json!("delete"), &Value::Null));
    }
}
