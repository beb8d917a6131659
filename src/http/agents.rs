//! `/api/agents`, `/api/agents/{agent_id}` and `/api/agents/{agent_id}/toolbox`: agents, and the tools that they may
//! use.

use super::attachments::AttachedOut;
use super::body::Given;
use super::extract::{Guest, Named, PageQuery, Query, User};
use super::formats::ListedTools;
#[cfg(not(target_arch = "wasm32"))]
use super::formats::any_form;
use super::respond::{Created, Json, NoContent};
use crate::agents::{self, AgentShown, Profile, ProfileChange};
use crate::callers::Level;
use crate::error::{Error, Result};
use crate::formats::{self, Format};
use crate::ids::AgentId;
use crate::page::PageRequest;
use crate::registry::{Risk, SchemaForm};
use crate::search_text::FullTextQuery;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentIn {
    #[schema(min_length = 1, max_length = 200, example = "Mail clerk")]
    name: String,
    /// Words of 1 to 128 letters, digits or any of `_ . : -`.
    #[schema(max_items = 200, example = json!(["mail"]))]
    capabilities: Option<Vec<String>>,
    /// The highest risk of a tool that the agent may use; medium if not given.
    max_risk: Option<Risk>,
    /// The modules whose tools the agent may use, without an attachment. If the list is empty: the workspace's
    /// `default_guest_modules`.
    #[schema(max_items = 200)]
    allowed_modules: Option<Vec<String>>,
    /// The highest level of a call that this agent makes, whatever the level of the caller; user if not given.
    permission_level: Option<Level>,
    /// Whether the agent has execute_python, read_file, write_file and list_files while no tool is attached; true if
    /// not given.
    default_tools: Option<bool>,
    /// Whether MCP shows the agent `find_tools` and `call_tool` instead of all its tools; false if not given.
    find_tools: Option<bool>,
    /// What the playground tells the agent's model before the conversation, up to 32,768 bytes.
    #[schema(max_length = 32768, example = "You answer questions about mail.")]
    system_prompt: Option<String>,
    /// The name of the agent's model in the playground; the workspace's model if not given.
    #[schema(max_length = 200)]
    model: Option<String>,
    /// How often a turn of the playground asks the model at most, 1 to 64; 16 if not given, or if it is 0.
    #[schema(minimum = 0, maximum = 64)]
    max_steps: Option<u32>,
    /// The temperature of the model in the playground, 0 to 2; the model's own if not given, or if it is -1.
    #[schema(minimum = -1, maximum = 2)]
    temperature: Option<f64>,
}

impl AgentIn {
    fn check(self) -> Result<Profile> {
        let given = ProfileChange {
            name: None,
            capabilities: self.capabilities,
            max_risk: self.max_risk,
            allowed_modules: self.allowed_modules,
            permission_level: self.permission_level,
            default_tools: self.default_tools,
            find_tools: self.find_tools,
            system_prompt: self.system_prompt,
            model: self.model,
            max_steps: self.max_steps,
            temperature: self.temperature,
        };
        Profile::new(self.name, given)
    }
}

#[derive(Serialize, ToSchema)]
pub struct AgentPage {
    agents: Vec<AgentShown>,
    next_cursor: Option<String>,
}

/// List the agents
///
/// The oldest come first. A token that is bound to an agent sees only that agent.
#[utoipa::path(get, path = "/api/agents", tag = "agents", params(PageQuery),
    responses((status = 200, description = "A page of agents", body = AgentPage)))]
#[worker::send]
pub async fn list_agents(Guest(scope): Guest, Query(query): Query<PageQuery>) -> Result<Json<AgentPage>> {
    let page = agents::list(&scope, &query.check()?).await?;
    Ok(Json(AgentPage { agents: page.items, next_cursor: page.next_cursor }))
}

/// Create an agent
#[utoipa::path(post, path = "/api/agents", tag = "agents", request_body = AgentIn,
    responses((status = 201, description = "The agent", body = AgentShown)))]
#[worker::send]
pub async fn create_agent(User(scope): User, given: Given<AgentIn>) -> Result<Created<AgentShown>> {
    Ok(Created(agents::create(&scope, given.body.check()?, &given.read_only).await?))
}

/// Get an agent
#[utoipa::path(get, path = "/api/agents/{agent_id}", tag = "agents", params(("agent_id" = String, Path)),
    responses((status = 200, description = "The agent", body = AgentShown)))]
#[worker::send]
pub async fn get_agent(Guest(scope): Guest, Named(agent_id): Named<AgentId>) -> Result<Json<AgentShown>> {
    Ok(Json(agents::show(&scope, &agent_id).await?))
}

/// Change an agent
///
/// Fields that are not given stay as they are. Of two racing changes, the second is refused with 409.
#[utoipa::path(patch, path = "/api/agents/{agent_id}", tag = "agents", params(("agent_id" = String, Path)),
    request_body = ProfileChange,
    responses(
        (status = 200, description = "The agent", body = AgentShown),
        (status = 409, description = "Another request changed the agent in the meantime"),
    ))]
#[worker::send]
pub async fn update_agent(
    User(scope): User,
    Named(agent_id): Named<AgentId>,
    given: Given<ProfileChange>,
) -> Result<Json<AgentShown>> {
    Ok(Json(agents::update(&scope, &agent_id, given.body, &given.read_only).await?))
}

/// Delete an agent
///
/// Deletes the agent with its attachments and the tokens that are bound to it.
#[utoipa::path(delete, path = "/api/agents/{agent_id}", tag = "agents", params(("agent_id" = String, Path)),
    responses(
        (status = 204, description = "The agent was deleted"),
        (status = 409, description = "Another request changed the agent in the meantime"),
    ))]
#[worker::send]
pub async fn delete_agent(User(scope): User, Named(agent_id): Named<AgentId>) -> Result<NoContent> {
    agents::delete(&scope, &agent_id).await?;
    Ok(NoContent)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolboxQuery {
    /// The format of the response; `json` if not given. `text` is plain text.
    #[param(inline)]
    format: Option<Format>,
    /// For `openai` and `openai_responses`: use strict mode for each tool whose schema strict mode can express.
    strict: Option<bool>,
    /// For `json`: the form of the tools' schemas. `text`, a JSON string, if not given; `object` for objects.
    #[param(inline)]
    schemas: Option<SchemaForm>,
    /// Only tools with at least one of these words in their id, name or description, the best match first. `"a phrase"`
    /// is a phrase, and `-word` excludes a word.
    #[param(max_length = 2000)]
    q: Option<String>,
    /// The most tools in the response. If not given: 1,000, as far as they fit into 4 MB.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct ToolboxOut {
    #[cfg_attr(not(target_arch = "wasm32"), schema(schema_with = any_form::<AttachedOut>))]
    tools: Vec<AttachedOut>,
    /// The cursor of the next page, if `limit` or the size of the response has left tools out.
    next_cursor: Option<String>,
}

/// List the tools that an agent may use now
///
/// These are the attached tools, or execute_python, read_file, write_file and list_files if no tool is attached, and the
/// tools of the modules that the agent may use: its `allowed_modules`, or the workspace's `default_guest_modules` if that
/// list is empty. Tools that the agent's level, capabilities, risk or modules exclude are left out, and so are tools above
/// the caller's level.
#[utoipa::path(get, path = "/api/agents/{agent_id}/toolbox", tag = "agents",
    params(("agent_id" = String, Path), ToolboxQuery),
    responses((status = 200, description = "The tools", content(
        (ToolboxOut = "application/json"), (String = "text/plain; charset=utf-8")))))]
#[worker::send]
pub async fn get_toolbox(
    Guest(scope): Guest,
    Named(agent_id): Named<AgentId>,
    Query(query): Query<ToolboxQuery>,
) -> Result<ListedTools<Json<ToolboxOut>>> {
    let cursor = query.cursor.as_deref();
    let request = match query.limit {
        Some(limit) => PageRequest::new(Some(limit), cursor)?,
        None => PageRequest::of_up_to(agents::MAX_PAGE, cursor)?,
    };
    let text = query.q.as_deref().map(FullTextQuery::parse_any).transpose();
    let text = text.map_err(|reason| Error::query("q", reason.to_string()))?;
    let page = match text {
        Some(text) => agents::search_toolbox(&scope, &agent_id, text, &request).await?,
        None => agents::toolbox(&scope, &agent_id, &request).await?,
    };
    let (format, strict) = (query.format.unwrap_or(Format::Json), query.strict.unwrap_or(false));
    let listed = page.items.iter().map(|it| &it.tool).collect::<Vec<_>>();
    if let Some(written) = formats::write(format, &listed, strict) {
        return Ok(ListedTools::Written(written.with_next(page.next_cursor.as_deref())));
    }
    let level = scope.caller().await?.level;
    let schemas = query.schemas.unwrap_or(SchemaForm::Text);
    let (tools, next_cursor) = page.map(|it| AttachedOut::seen_by(level, it, schemas));
    Ok(ListedTools::Own(Json(ToolboxOut { tools, next_cursor })))
}
