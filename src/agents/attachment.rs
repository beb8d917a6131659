//! A tool attached to an agent, with the configuration that it has there.

use super::{Agent, changed, found, store};
use crate::callers::Scope;
use crate::changes::{Action, Change};
use crate::db::Failure;
use crate::error::{Error, Place, Problem, Result};
use crate::ids::{AgentId, ToolId};
use crate::page::{Page, PageRequest, bad_cursor};
use crate::registry::{self, Tool, schema};
use serde_json::{Map, Value, json};

/// A parameter's default stands in the configuration under its name with this before it.
const DEFAULT_PREFIX: &str = "default_";

/// The largest configuration, as JSON.
const MAX_CONFIG_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub struct Attached {
    pub tool: Tool,
    pub config: Option<Config>,
    pub(super) revision: u32,
}

impl Attached {
    /// As a tool of the default set is: with no configuration.
    pub(super) fn by_default(tool: Tool) -> Self {
        Self { tool, config: None, revision: 0 }
    }
}

/// An attachment's configuration: a JSON object. `default_<parameter>` fills that parameter where a call
/// omits it; `max_result_bytes` cuts long results; the rest is the tool's own business.
#[derive(Clone, Debug, PartialEq)]
pub struct Config(pub Map<String, Value>);

impl Config {
    /// Whether the configuration fits `tool`, with every fault named.
    fn check(&self, tool: &Tool) -> Result<()> {
        let mut problems = Vec::new();
        let mut problem = |path: String, message: String| {
            problems.push(Problem { place: Place::Body, path, message });
        };
        let bytes = self.to_json().len();
        if bytes > MAX_CONFIG_BYTES {
            problem("/config".into(), format!("has {bytes} bytes; {MAX_CONFIG_BYTES} are allowed"));
        }
        if let Some(limit) = self.0.get("max_result_bytes")
            && limit.as_u64().is_none_or(|it| it == 0)
        {
            problem("/config/max_result_bytes".into(), "must be a whole number above 0".into());
        }
        let defaults = self.defaults();
        if !defaults.is_empty() {
            let violations = schema::compiled(&tool.parameters_schema)?
                .violations_of_properties(&defaults)
                .map_err(Error::Internal)?;
            for it in violations {
                match it.path.strip_prefix('/') {
                    Some(parameter) => problem(format!("/config/{DEFAULT_PREFIX}{parameter}"), it.message),
                    None => problem("/config".into(), it.message),
                }
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
    }

    /// The defaults that it gives to the tool's parameters.
    fn defaults(&self) -> Map<String, Value> {
        self.0
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix(DEFAULT_PREFIX)?.to_owned(), value.clone())))
            .collect()
    }

    pub fn to_json(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }
}

/// A page of what is attached to the agent, in order of the tools' creation.
pub async fn list_attached(scope: &Scope, agent_id: &AgentId, request: &PageRequest) -> Result<Page<Attached>> {
    let [agent, page, position] = scope
        .read([
            store::find_agent(scope.workspace(), agent_id),
            store::list_attached(scope.workspace(), agent_id, request),
            store::find_attached_by_name(scope.workspace(), agent_id, request.after()),
        ])
        .await?;
    scope.caller().await?.may_act_as(agent_id)?;
    found(agent_id, store::read_agent(&agent)?)?;
    if request.after().is_some() && store::read_attached(&position)?.is_none() {
        return Err(bad_cursor());
    }
    request.page(store::read_all_attached(&page)?, |it| it.tool.id.to_string())
}

pub async fn attach(scope: &Scope, agent_id: &AgentId, tool_id: &ToolId, config: Option<Config>) -> Result<Attached> {
    let [agent, tool] = scope
        .read([store::find_agent(scope.workspace(), agent_id), registry::find_tool(scope.workspace(), tool_id)])
        .await?;
    scope.caller().await?.may_act_as(agent_id)?;
    let agent = found(agent_id, store::read_agent(&agent)?)?;
    let tool = registry::read_tool(&tool)?.ok_or_else(|| Error::not_found("Tool", tool_id))?;
    if let Some(config) = &config {
        config.check(&tool)?;
    }
    let change = Change::new(Action::Attach, subject(&agent, tool_id)).of_tool(tool_id).to(&state(
        &agent,
        tool_id,
        config.as_ref(),
    ))?;
    let written = scope
        .write([
            store::insert_attachment(scope.workspace(), agent_id, &tool, config.as_ref(), scope.app().now()),
            change.record(&scope.author().await?),
        ])
        .await?;
    match written {
        Ok(_) => Ok(Attached { tool, config, revision: 1 }),
        Err(Failure::Duplicate) => Err(Error::AlreadyExists(format!("{tool_id} is already attached to {agent_id}"))),
        Err(Failure::MissingReference) => Err(Error::not_found("Agent", agent_id)),
        Err(failure) => Err(failure.into()),
    }
}

/// Gives an attachment another configuration.
pub async fn configure(scope: &Scope, agent_id: &AgentId, tool_id: &ToolId, config: Config) -> Result<Attached> {
    let (agent, before) = to_change(scope, agent_id, tool_id).await?;
    config.check(&before.tool)?;
    if before.config.as_ref() == Some(&config) {
        return Ok(before);
    }
    let change = Change::new(Action::Configure, subject(&agent, tool_id))
        .of_tool(tool_id)
        .from(&state(&agent, tool_id, before.config.as_ref()))?
        .to(&state(&agent, tool_id, Some(&config)))?
        .only_if(store::ATTACHMENT_IS_AT, store::attachment_at(&agent, &before));
    let [_, updated] = scope
        .write([
            change.record(&scope.author().await?),
            store::update_attachment(scope.workspace(), agent_id, &before, &config),
        ])
        .await??;
    changed(&updated, format_args!("The attachment of {tool_id}"))?;
    Ok(Attached { config: Some(config), revision: before.revision + 1, tool: before.tool })
}

pub async fn detach(scope: &Scope, agent_id: &AgentId, tool_id: &ToolId) -> Result<()> {
    let (agent, before) = to_change(scope, agent_id, tool_id).await?;
    let change = Change::new(Action::Detach, subject(&agent, tool_id))
        .of_tool(tool_id)
        .from(&state(&agent, tool_id, before.config.as_ref()))?
        .only_if(store::ATTACHMENT_IS_AT, store::attachment_at(&agent, &before));
    let [_, deleted] = scope
        .write([change.record(&scope.author().await?), store::delete_attachment(scope.workspace(), agent_id, &before)])
        .await??;
    changed(&deleted, format_args!("The attachment of {tool_id}"))
}

/// The attachment with its agent, for a caller who may act on them.
async fn to_change(scope: &Scope, agent_id: &AgentId, tool_id: &ToolId) -> Result<(Agent, Attached)> {
    let [agent, attached] = scope
        .read([
            store::find_agent(scope.workspace(), agent_id),
            store::find_attached_by_name(scope.workspace(), agent_id, Some(tool_id.as_str())),
        ])
        .await?;
    scope.caller().await?.may_act_as(agent_id)?;
    let agent = found(agent_id, store::read_agent(&agent)?)?;
    let attached = store::read_attached(&attached)?
        .ok_or_else(|| Error::not_found("Attachment", format!("{agent_id}/{tool_id}")))?;
    Ok((agent, attached))
}

fn subject(agent: &Agent, tool_id: &ToolId) -> String {
    format!("attachment:{}/{tool_id}", agent.id)
}

fn state(agent: &Agent, tool_id: &ToolId, config: Option<&Config>) -> Value {
    json!({"agent_id": agent.id.as_str(), "tool_id": tool_id.as_str(), "config": config.map(|it| &it.0)})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;

    #[track_caller]
    fn check(config: Value, expected: &[&str]) {
        let mut tool = fixture("search");
        tool.parameters_schema = json!({
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "maximum": 50}},
            "required": ["query"],
            "additionalProperties": false,
        })
        .to_string();
        let Value::Object(config) = config else { unreachable!("a configuration is an object") };
        let problems = match Config(config).check(&tool) {
            Ok(()) => Vec::new(),
            Err(Error::Invalid(problems)) => problems.into_iter().map(|it| it.path).collect(),
            Err(other) => unreachable!("{other}"),
        };
        assert_eq!(problems, expected);
    }

    #[test]
    fn defaults_must_fit_the_parameters() {
        check(json!({}), &[]);
        check(json!({"default_limit": 20}), &[]);
        check(json!({"default_limit": 80}), &["/config/default_limit"]);
        check(json!({"default_limit": "x", "default_query": 1}), &["/config/default_limit", "/config/default_query"]);
        check(json!({"default_limti": 20}), &["/config"]);
    }

    #[test]
    fn other_keys_are_the_tools_own() {
        check(json!({"region": "eu", "max_result_bytes": 1000}), &[]);
        check(json!({"max_result_bytes": 0}), &["/config/max_result_bytes"]);
        check(json!({"max_result_bytes": "1k"}), &["/config/max_result_bytes"]);
        check(json!({"blob": "x".repeat(70_000)}), &["/config"]);
    }
}
