//! `GET /api/tools`, `GET /api/tools/{tool_id}` and below it `/description`, `/validate` and `/rate-limit`: reads the
//! registry.

use super::extract::{Body, Guest, Named, NamedVersion, Query};
use super::formats::ListedTools;
#[cfg(not(target_arch = "wasm32"))]
use super::formats::any_form;
use super::respond::{Json, JsonText, Text};
use crate::error::{Error, Result};
use crate::execution;
use crate::formats::{self, Format};
use crate::ids::{ToolId, Version};
use crate::page::PageRequest;
use crate::registry::schema::Violation;
use crate::registry::{self, ExecutionMode, ResourceClass, Risk, SchemaForm, Source, ToolFilter, ToolOut};
use crate::search_text;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

/// Which tools to list. Every condition must hold.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolQuery {
    /// The most items that a page may hold.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next_cursor` of the page before this one.
    #[param(pattern = "^[A-Za-z0-9_-]+$")]
    cursor: Option<String>,
    #[param(example = "email")]
    category: Option<String>,
    /// Only tools of at most this risk.
    #[param(inline)]
    max_risk: Option<Risk>,
    /// A comma-separated list: only tools that need no other capability than these.
    #[param(example = "net,mail")]
    capabilities: Option<String>,
    #[param(inline)]
    execution_mode: Option<ExecutionMode>,
    #[param(inline)]
    resource_class: Option<ResourceClass>,
    /// Only tools that need this credential.
    credential: Option<String>,
    /// Only tools with a side effect of this type.
    side_effect: Option<String>,
    #[param(inline)]
    source: Option<Source>,
    /// A comma-separated list: only these tools.
    #[param(example = "read_file,write_file")]
    ids: Option<String>,
    /// Full text over id, name and description, the best match first. All words are required; `"a phrase"` is a phrase,
    /// `-word` excludes a word, `word*` is a prefix, and `OR` stands between alternatives.
    #[param(max_length = 2000)]
    q: Option<String>,
    /// Also list tools without an active version.
    include_inactive: Option<bool>,
    /// The format of the response; `json` if not given. `text` is plain text, whose last line is `next_cursor: …` if
    /// there is a next page.
    #[param(inline)]
    format: Option<Format>,
    /// For `openai` and `openai_responses`: use strict mode for each tool whose schema strict mode can express.
    strict: Option<bool>,
    /// For `json`: the form of the tools' schemas. `text`, a JSON string, if not given; `object` for objects.
    #[param(inline)]
    schemas: Option<SchemaForm>,
}

impl ToolQuery {
    fn into_filter(self) -> Result<ToolFilter> {
        // A registry is small, so a prefix of any length is cheap enough.
        let text = self.q.as_deref().map(|it| search_text::FullTextQuery::parse(it, 1)).transpose();
        let text = text.map_err(|reason| Error::query("q", reason.to_string()))?;
        let ids = self.ids.as_deref().map(|list| {
            comma_list(list)
                .map(|id| ToolId::parse(id).ok_or_else(|| Error::query("ids", format!("{id:?} is not a tool's id"))))
                .collect::<Result<Vec<_>>>()
        });
        Ok(ToolFilter {
            category: self.category,
            max_risk: self.max_risk,
            capabilities: self.capabilities.as_deref().map(|list| comma_list(list).map(str::to_owned).collect()),
            execution_mode: self.execution_mode,
            resource_class: self.resource_class,
            credential: self.credential,
            side_effect: self.side_effect,
            source: self.source,
            ids: ids.transpose()?,
            text,
            include_inactive: self.include_inactive.unwrap_or(false),
        })
    }
}

fn comma_list(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|it| !it.is_empty())
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "this type only describes the JSON that the registry writes")]
pub struct ToolPage {
    #[cfg_attr(not(target_arch = "wasm32"), schema(schema_with = any_form::<ToolOut>))]
    tools: Vec<ToolOut>,
    next_cursor: Option<String>,
}

/// List the tools
///
/// Tools are in the order of their creation, the built-ins first. With `q`, the best match comes first.
#[utoipa::path(get, path = "/api/tools", tag = "tools", params(ToolQuery),
    responses((status = 200, description = "A page of tools", content(
        (ToolPage = "application/json"), (String = "text/plain; charset=utf-8")))))]
#[worker::send]
pub async fn list_tools(Guest(scope): Guest, Query(query): Query<ToolQuery>) -> Result<ListedTools<JsonText>> {
    let request = PageRequest::new(query.limit, query.cursor.as_deref())?;
    let (format, strict) = (query.format.unwrap_or(Format::Json), query.strict.unwrap_or(false));
    let schemas = query.schemas.unwrap_or(SchemaForm::Text);
    let filter = query.into_filter()?;
    if format == Format::Json {
        return Ok(ListedTools::Own(JsonText(registry::list_json(&scope, &filter, &request, schemas).await?)));
    }
    let page = registry::list(&scope, &filter, &request).await?;
    let listed = page.items.iter().collect::<Vec<_>>();
    let written = formats::write(format, &listed, strict);
    let written = written.ok_or_else(|| Error::Internal("a list of tools was not written".into()))?;
    Ok(ListedTools::Written(written.with_next(page.next_cursor.as_deref())))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct VersionQuery {
    /// Exactly this version, active or not.
    #[param(pattern = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$", example = "1.0.0")]
    version: Option<String>,
    /// The form of the tool's schemas: `text`, a JSON string, if not given; `object` for objects.
    #[param(inline)]
    schemas: Option<SchemaForm>,
}

/// Get a tool
///
/// The response shows the active version. If no version is active, it shows the highest one, with `active: false`.
/// `email_search@1.0.0` stands for one version, as in calls.
#[utoipa::path(get, path = "/api/tools/{tool_id}", tag = "tools",
    params(("tool_id" = String, Path, example = "email_search"), VersionQuery),
    responses((status = 200, description = "The tool", body = ToolOut)))]
#[worker::send]
pub async fn get_tool(Guest(scope): Guest, named: NamedVersion, Query(query): Query<VersionQuery>) -> Result<JsonText> {
    let version = query.version.as_deref().map(|text| version("version", text)).transpose()?;
    if version.is_some() && named.version.is_some() && version != named.version {
        return Err(Error::query("version", "names another version than the path"));
    }
    let schemas = query.schemas.unwrap_or(SchemaForm::Text);
    Ok(JsonText(registry::get_json(&scope, &named.id, version.or(named.version), schemas).await?))
}

/// The version in the query parameter `name`.
pub fn version(name: &str, text: &str) -> Result<Version> {
    Version::parse(text).ok_or_else(|| Error::query(name, "must be three numbers such as 1.0.0"))
}

/// Describe a tool for a model
///
/// The response is plain text, for a prompt.
#[utoipa::path(get, path = "/api/tools/{tool_id}/description", tag = "tools",
    params(("tool_id" = String, Path, example = "email_search")),
    responses((status = 200, description = "The description", body = String, content_type = "text/plain; charset=utf-8",
        example = "Tool: email_search\nDescription: …")))]
#[worker::send]
pub async fn describe_tool(Guest(scope): Guest, Named(tool_id): Named<ToolId>) -> Result<Text> {
    let tool = registry::get(&scope, &tool_id, None).await?;
    Ok(Text(registry::describe(&tool)))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgumentsIn {
    #[schema(value_type = Option<Object>, example = json!({"query": "gas price", "inbox_id": "matt.motley@enron.com"}))]
    arguments: Option<Map<String, Value>>,
}

#[derive(Serialize, ToSchema)]
pub struct ValidationOut {
    valid: bool,
    errors: Vec<Violation>,
    /// The arguments with the schema's defaults filled in.
    #[schema(value_type = Object)]
    arguments: Value,
}

/// Check arguments against a tool's schema
///
/// Runs nothing. The arguments may use the names that a model was shown.
#[utoipa::path(post, path = "/api/tools/{tool_id}/validate", tag = "tools",
    params(("tool_id" = String, Path, example = "email_search")), request_body = ArgumentsIn,
    responses((status = 200, description = "Whether the arguments fit, and where they do not", body = ValidationOut)))]
#[worker::send]
pub async fn validate_arguments(
    Guest(scope): Guest,
    Named(tool_id): Named<ToolId>,
    Body(body): Body<ArgumentsIn>,
) -> Result<Json<ValidationOut>> {
    let checked = execution::check_arguments(&scope, &tool_id, body.arguments.unwrap_or_default()).await?;
    Ok(Json(ValidationOut {
        valid: checked.violations.is_empty(),
        errors: checked.violations,
        arguments: checked.document,
    }))
}

#[derive(Serialize, ToSchema)]
pub struct RateLimitOut {
    /// Calls per minute; null if there is no limit.
    limit: Option<u32>,
    /// How many calls can be made now.
    remaining: Option<u32>,
    /// Seconds until the next call is allowed; 0 if a call is allowed now.
    retry_after: Option<u32>,
}

/// See how much of a tool's rate limit is left
#[utoipa::path(get, path = "/api/tools/{tool_id}/rate-limit", tag = "tools",
    params(("tool_id" = String, Path, example = "email_search")),
    responses((status = 200, description = "The state of the limit", body = RateLimitOut)))]
#[worker::send]
pub async fn get_rate_limit(Guest(scope): Guest, Named(tool_id): Named<ToolId>) -> Result<Json<RateLimitOut>> {
    let limit = registry::rate_limit(&scope, &tool_id).await?;
    Ok(Json(RateLimitOut {
        limit: limit.map(|(limit, _)| limit),
        remaining: limit.map(|(_, standing)| standing.remaining),
        retry_after: limit.map(|(_, standing)| standing.retry_after),
    }))
}
