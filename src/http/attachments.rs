//! `/api/agents/{agent_id}/tools` and `/api/agents/{agent_id}/tools/{tool_id}`: the tools that are attached to an
//! agent.

use super::extract::{Body, Guest, Named, PageQuery, Query, User};
use super::respond::{Created, Json, NoContent};
use crate::agents::{self, Attached, Config, NewAttachment};
use crate::callers::Level;
use crate::error::{Error, Result};
use crate::ids::{AgentId, ToolId};
use crate::registry::ToolOut;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A tool with its configuration for one agent.
#[derive(Serialize, ToSchema)]
pub struct AttachedOut {
    #[serde(flatten)]
    tool: ToolOut,
    #[schema(value_type = Option<Object>, example = json!({"default_limit": 20}))]
    config: Option<Map<String, Value>>,
}

impl AttachedOut {
    /// The tool with the fields that a caller of this level may see.
    pub fn seen_by(level: Level, attached: Attached) -> Self {
        Self { tool: ToolOut::seen_by(level, attached.tool), config: attached.config.map(|it| it.0) }
    }
}

/// A tool that was just attached.
#[derive(Serialize, ToSchema)]
pub struct NewAttachmentOut {
    #[serde(flatten)]
    attached: AttachedOut,
    /// Why the agent cannot use the tool now (level, capabilities, risk, module, activity), and whether the agent lost
    /// its default tools because this is its first attachment.
    #[schema(example = json!(["The agent cannot use wipe now: wipe has the risk critical, and the agent is allowed medium"]))]
    warnings: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub struct AttachedPage {
    tools: Vec<AttachedOut>,
    next_cursor: Option<String>,
}

/// List the tools that are attached to an agent
#[utoipa::path(get, path = "/api/agents/{agent_id}/tools", tag = "attachments",
    params(("agent_id" = String, Path), PageQuery),
    responses((status = 200, description = "A page of attached tools", body = AttachedPage)))]
#[worker::send]
pub async fn list_attached_tools(
    Guest(scope): Guest,
    Named(agent_id): Named<AgentId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<AttachedPage>> {
    let page = agents::list_attached(&scope, &agent_id, &query.check()?).await?;
    let level = scope.caller().await?.level;
    let (tools, next_cursor) = page.map(|it| AttachedOut::seen_by(level, it));
    Ok(Json(AttachedPage { tools, next_cursor }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachmentIn {
    #[schema(example = "email_search")]
    tool_id: String,
    /// `default_<parameter>` fills the parameter if a call omits it.
    #[schema(value_type = Option<Object>, example = json!({"default_limit": 20}))]
    config: Option<Map<String, Value>>,
}

/// Attach a tool to an agent
///
/// Whether the agent may use the tool is checked at each call. If the agent may not use the tool now, the tool is
/// attached all the same, and `warnings` say why. The first attachment ends the agent's default tools.
#[utoipa::path(post, path = "/api/agents/{agent_id}/tools", tag = "attachments", params(("agent_id" = String, Path)),
    request_body = AttachmentIn,
    responses(
        (status = 201, description = "The tool and its configuration", body = NewAttachmentOut),
        (status = 409, description = "The tool is attached already"),
    ))]
#[worker::send]
pub async fn attach_tool(
    User(scope): User,
    Named(agent_id): Named<AgentId>,
    Body(body): Body<AttachmentIn>,
) -> Result<Created<NewAttachmentOut>> {
    let tool_id = ToolId::parse(&body.tool_id)
        .ok_or_else(|| Error::body("/tool_id", "must be a tool's id, such as read_file"))?;
    let NewAttachment { attached, warnings } =
        agents::attach(&scope, &agent_id, &tool_id, body.config.map(Config)).await?;
    let attached = AttachedOut::seen_by(scope.caller().await?.level, attached);
    Ok(Created(NewAttachmentOut { attached, warnings }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigIn {
    /// The whole new configuration; `{}` for none.
    #[schema(value_type = Object, example = json!({"default_limit": 20}))]
    config: Map<String, Value>,
}

/// Give an attached tool another configuration
#[utoipa::path(patch, path = "/api/agents/{agent_id}/tools/{tool_id}", tag = "attachments",
    params(("agent_id" = String, Path), ("tool_id" = String, Path)), request_body = ConfigIn,
    responses(
        (status = 200, description = "The tool and its configuration", body = AttachedOut),
        (status = 409, description = "Another request changed the attachment in the meantime"),
    ))]
#[worker::send]
pub async fn configure_tool(
    User(scope): User,
    Named(agent_id): Named<AgentId>,
    Named(tool_id): Named<ToolId>,
    Body(body): Body<ConfigIn>,
) -> Result<Json<AttachedOut>> {
    let attached = agents::configure(&scope, &agent_id, &tool_id, Config(body.config)).await?;
    Ok(Json(AttachedOut::seen_by(scope.caller().await?.level, attached)))
}

/// Detach a tool from an agent
#[utoipa::path(delete, path = "/api/agents/{agent_id}/tools/{tool_id}", tag = "attachments",
    params(("agent_id" = String, Path), ("tool_id" = String, Path)),
    responses(
        (status = 204, description = "The tool was detached"),
        (status = 409, description = "Another request changed the attachment in the meantime"),
    ))]
#[worker::send]
pub async fn detach_tool(
    User(scope): User,
    Named(agent_id): Named<AgentId>,
    Named(tool_id): Named<ToolId>,
) -> Result<NoContent> {
    agents::detach(&scope, &agent_id, &tool_id).await?;
    Ok(NoContent)
}
