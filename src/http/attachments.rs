//! `/api/agents/{agent_id}/tools` and `/api/agents/{agent_id}/tools/{tool_id}`: the tools that are attached to an
//! agent.

use super::body::Given;
use super::extract::{Guest, Named, Query, User};
use super::queries::{SchemasQuery, ToolChangeQuery, ToolPageQuery};
use super::respond::{Json, NoContent, Tried};
use crate::agents::{self, Attached, Config, NewAttachment, WantedAttachment};
use crate::callers::Level;
use crate::error::{Error, Result};
use crate::ids::{AgentId, ToolId};
use crate::registry::{SchemaForm, ToolOut, Warning};
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
    pub fn seen_by(level: Level, attached: Attached, schemas: SchemaForm) -> Self {
        let tool = ToolOut::seen_by(level, attached.tool).with_schemas(schemas);
        Self { tool, config: attached.config.map(|it| it.0) }
    }
}

/// A tool that was just attached.
#[derive(Serialize, ToSchema)]
pub struct NewAttachmentOut {
    #[serde(flatten)]
    attached: AttachedOut,
    /// Why the agent cannot use the tool now (level, capabilities, risk, module, activity), and whether the agent lost
    /// its default tools because this is its first attachment.
    warnings: Vec<Warning>,
}

/// An attachment as a dry run would leave it.
#[derive(Serialize, ToSchema)]
pub struct AttachmentPreview {
    #[serde(flatten)]
    attached: NewAttachmentOut,
    /// Always true: nothing was written.
    dry_run: bool,
}

#[derive(Serialize, ToSchema)]
pub struct AttachedPage {
    tools: Vec<AttachedOut>,
    next_cursor: Option<String>,
}

/// List the tools that are attached to an agent
#[utoipa::path(get, path = "/api/agents/{agent_id}/tools", tag = "attachments",
    params(("agent_id" = String, Path), ToolPageQuery),
    responses((status = 200, description = "A page of attached tools", body = AttachedPage)))]
#[worker::send]
pub async fn list_attached_tools(
    Guest(scope): Guest,
    Named(agent_id): Named<AgentId>,
    Query(query): Query<ToolPageQuery>,
) -> Result<Json<AttachedPage>> {
    let (request, schemas) = query.check()?;
    let page = agents::list_attached(&scope, &agent_id, &request).await?;
    let level = scope.caller().await?.level;
    let (tools, next_cursor) = page.map(|it| AttachedOut::seen_by(level, it, schemas));
    Ok(Json(AttachedPage { tools, next_cursor }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachmentIn {
    /// The tool. Required, unless `id` names it.
    #[schema(example = "email_search")]
    tool_id: Option<String>,
    /// The tool, as the list of attached tools names it.
    id: Option<String>,
    /// `default_<parameter>` fills the parameter if a call omits it.
    #[schema(value_type = Option<Object>, example = json!({"default_limit": 20}))]
    config: Option<Map<String, Value>>,
}

impl AttachmentIn {
    fn tool(&self) -> Result<ToolId> {
        let (path, id) = match (&self.tool_id, &self.id) {
            (Some(one), Some(other)) if one != other => {
                return Err(Error::body("/id", "names another tool than tool_id"));
            }
            (Some(id), _) => ("/tool_id", id),
            (None, Some(id)) => ("/id", id),
            (None, None) => return Err(Error::body("/tool_id", "is required")),
        };
        ToolId::parse(id).ok_or_else(|| Error::body(path, "must be a tool's id, such as read_file"))
    }
}

/// Attach a tool to an agent
///
/// Whether the agent may use the tool is checked at each call. If the agent may not use the tool now, the tool is
/// attached all the same, and `warnings` say why. The first attachment ends the agent's default tools.
#[utoipa::path(post, path = "/api/agents/{agent_id}/tools", tag = "attachments",
    params(("agent_id" = String, Path), ToolChangeQuery), request_body = AttachmentIn,
    responses(
        (status = 201, description = "The tool and its configuration", body = NewAttachmentOut),
        (status = 200, description = "What the request would attach (`dry_run`)", body = AttachmentPreview),
        (status = 409, description = "The tool is attached already"),
    ))]
#[worker::send]
pub async fn attach_tool(
    User(scope): User,
    Named(agent_id): Named<AgentId>,
    Query(query): Query<ToolChangeQuery>,
    Given { body, read_only }: Given<AttachmentIn>,
) -> Result<Tried<NewAttachmentOut, AttachmentPreview>> {
    let wanted = WantedAttachment { tool_id: body.tool()?, config: body.config.map(Config), read_only };
    let NewAttachment { attached, warnings } = match query.is_dry_run() {
        true => agents::preview_attachment(&scope, &agent_id, wanted).await?,
        false => agents::attach(&scope, &agent_id, wanted).await?,
    };
    let attached = AttachedOut::seen_by(scope.caller().await?.level, attached, query.schemas());
    let attached = NewAttachmentOut { attached, warnings };
    Ok(match query.is_dry_run() {
        true => Tried::Preview(AttachmentPreview { attached, dry_run: true }),
        false => Tried::Created(attached),
    })
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
    params(("agent_id" = String, Path), ("tool_id" = String, Path), SchemasQuery), request_body = ConfigIn,
    responses(
        (status = 200, description = "The tool and its configuration", body = AttachedOut),
        (status = 409, description = "Another request changed the attachment in the meantime"),
    ))]
#[worker::send]
pub async fn configure_tool(
    User(scope): User,
    Named(agent_id): Named<AgentId>,
    Named(tool_id): Named<ToolId>,
    Query(query): Query<SchemasQuery>,
    Given { body, read_only }: Given<ConfigIn>,
) -> Result<Json<AttachedOut>> {
    let wanted = WantedAttachment { tool_id, config: Some(Config(body.config)), read_only };
    let attached = agents::configure(&scope, &agent_id, wanted).await?;
    Ok(Json(AttachedOut::seen_by(scope.caller().await?.level, attached, query.schemas())))
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
