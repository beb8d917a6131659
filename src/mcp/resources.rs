//! The resources: the session's files, tools and their parameters, and recorded calls.

use super::context::{McpContext, to_json};
use super::reply::McpFailure;
use super::uri::{self, ResourceAddress};
use crate::callers::Level;
use crate::error::Error;
use crate::execution;
use crate::files::{self, BlobContent};
use crate::formats;
use crate::ids::SessionId;
use crate::json_object::JsonObject;
use crate::json_rpc::{RpcError, RpcErrorCode, RpcParams};
use crate::mcp_protocol::Era;

const PAGE: u32 = 200;

/// How long a client may cache the templates. They are part of the code, and change only with a deployment.
const TEMPLATES_TTL_MS: u32 = 3_600_000;

/// The lowest level of caller that may read the resource.
pub fn level(uri: Option<&str>) -> Level {
    match uri.and_then(uri::parse) {
        Some(ResourceAddress::Tool(_) | ResourceAddress::Parameter(..)) => Level::Guest,
        Some(ResourceAddress::File(..) | ResourceAddress::Call(_)) | None => Level::User,
    }
}

/// The files of the session, by path.
pub async fn list(context: &McpContext<'_>, params: &RpcParams) -> Result<JsonObject, McpFailure> {
    let request = context.page(params, PAGE)?;
    let session = context.session()?;
    let page = files::list_files(context.scope, &session, &request).await?;
    let mut resources = "[".to_owned();
    for it in &page.items {
        let mut resource = JsonObject::new();
        resource.text("uri", &uri::of_file(&session, &it.path));
        resource.text("name", it.path.rsplit('/').next().unwrap_or_default());
        resource.text("title", &it.path);
        resource.put("size", &it.size.to_string());
        if let Some(mime_type) = uri::mime_type(&it.path) {
            resource.text("mimeType", mime_type);
        }
        if resources.len() > 1 {
            resources.push(',');
        }
        resources.push_str(&resource.finish());
    }
    resources.push(']');
    let mut result = context.cacheable(0);
    result.put("resources", &resources);
    if let Some(cursor) = page.next_cursor {
        result.text("nextCursor", &cursor);
    }
    Ok(result)
}

/// The templates of addresses.
pub fn templates(context: &McpContext<'_>) -> JsonObject {
    let mut result = context.cacheable(TEMPLATES_TTL_MS);
    result.put("resourceTemplates", uri::TEMPLATES);
    result
}

pub async fn read(context: &McpContext<'_>, params: &RpcParams) -> Result<JsonObject, McpFailure> {
    let asked = params.text("uri")?;
    let contents = match uri::parse(asked) {
        None => None,
        Some(ResourceAddress::File(session, path)) => {
            let session = session.map_or_else(|| context.session(), Ok)?;
            let found = files::read_file(context.scope, &session, None, &path).await?.found;
            found.map(|file| of_file(asked, path.as_str(), &file.content))
        }
        Some(ResourceAddress::Tool(name)) => {
            let tool = context.tool(&name).await?;
            match tool {
                None => None,
                Some(tool) => Some(of_json(asked, &to_json(&formats::mcp::tool(&tool))?)),
            }
        }
        Some(ResourceAddress::Parameter(name, parameter)) => {
            let schema = context.tool(&name).await?.and_then(|it| super::completion::parameter(&it, &parameter));
            schema.map(|it| of_json(asked, &it.to_string()))
        }
        Some(ResourceAddress::Call(id)) => match execution::get_call(context.scope, &id).await {
            Ok(call) => Some(of_json(asked, &to_json(&call)?)),
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(error.into()),
        },
    };
    let contents = contents.ok_or_else(|| not_found(context.era, asked))?;
    let mut result = context.cacheable(0);
    result.put("contents", &format!("[{}]", contents.finish()));
    Ok(result)
}

fn of_file(uri: &str, path: &str, content: &BlobContent) -> JsonObject {
    let (default, field) = match content {
        BlobContent::Text(_) => ("text/plain", "text"),
        BlobContent::Base64(_) => ("application/octet-stream", "blob"),
    };
    contents(uri, uri::mime_type(path).unwrap_or(default), field, content.as_str())
}

fn of_json(uri: &str, text: &str) -> JsonObject {
    contents(uri, "application/json", "text", text)
}

fn contents(uri: &str, mime_type: &str, field: &str, text: &str) -> JsonObject {
    let mut contents = JsonObject::new();
    contents.text("uri", uri);
    contents.text("mimeType", mime_type);
    contents.text(field, text);
    contents
}

fn not_found(era: Era, uri: &str) -> RpcError {
    let code = match era {
        Era::Legacy => RpcErrorCode::RESOURCE_NOT_FOUND,
        Era::Modern => RpcErrorCode::INVALID_PARAMS,
    };
    let mut data = JsonObject::new();
    data.text("uri", uri);
    RpcError::new(code, "Resource not found").with_data(data)
}

impl McpContext<'_> {
    /// The session of the endpoint.
    fn session(&self) -> Result<SessionId, McpFailure> {
        let named = self.endpoint.session.clone().or_else(|| SessionId::parse(execution::DEFAULT_SESSION));
        Ok(named.ok_or_else(|| Error::Internal("the default session has no name".into()))?)
    }
}
