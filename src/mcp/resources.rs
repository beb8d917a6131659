//! What can be read: the files of the session, tools and their parameters, and calls that were recorded.

use super::revision::Revision;
use super::rpc::{Fault, Kind, Object, Params};
use super::uri::{self, Address};
use super::{Refusal, Served, to_json, tool_of};
use crate::callers::Level;
use crate::error::Error;
use crate::execution;
use crate::files::{self, BlobContent};
use crate::formats;
use crate::ids::SessionId;

const PAGE: u32 = 200;

/// What anybody may keep, for as long as anybody may want to: it is part of the code.
const TEMPLATES_TTL_MS: u32 = 3_600_000;

/// The least that a caller must be to read this.
pub fn level(uri: Option<&str>) -> Level {
    match uri.and_then(uri::parse) {
        Some(Address::Tool(_) | Address::Parameter(..)) => Level::Guest,
        Some(Address::File(..) | Address::Call(_)) | None => Level::User,
    }
}

/// The files of the session, by path.
pub async fn list(served: &Served<'_>, params: &Params) -> Result<Object, Refusal> {
    let request = served.page(params, PAGE)?;
    let session = served.session()?;
    let page = files::list_files(served.scope, &session, &request).await?;
    let mut resources = "[".to_owned();
    for it in &page.items {
        let mut resource = Object::new();
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
    let mut result = served.cacheable(0);
    result.put("resources", &resources);
    if let Some(cursor) = page.next_cursor {
        result.text("nextCursor", &cursor);
    }
    Ok(result)
}

/// The shapes of addresses.
pub fn templates(served: &Served<'_>) -> Object {
    let mut result = served.cacheable(TEMPLATES_TTL_MS);
    result.put("resourceTemplates", uri::TEMPLATES);
    result
}

pub async fn read(served: &Served<'_>, params: &Params) -> Result<Object, Refusal> {
    let asked = params.text("uri")?;
    let contents = match uri::parse(asked) {
        None => None,
        Some(Address::File(session, path)) => {
            let session = session.map_or_else(|| served.session(), Ok)?;
            let found = files::read_file(served.scope, &session, None, &path).await?.found;
            found.map(|file| of_file(asked, path.as_str(), &file.content))
        }
        Some(Address::Tool(name)) => {
            let tool = tool_of(served, &name).await?;
            match tool {
                None => None,
                Some(tool) => Some(of_json(asked, &to_json(&formats::mcp::tool(&tool))?)),
            }
        }
        Some(Address::Parameter(name, parameter)) => {
            let schema = tool_of(served, &name).await?.and_then(|it| super::completion::parameter(&it, &parameter));
            schema.map(|it| of_json(asked, &it.to_string()))
        }
        Some(Address::Call(id)) => match execution::get_call(served.scope, &id).await {
            Ok(call) => Some(of_json(asked, &to_json(&call)?)),
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(error.into()),
        },
    };
    let contents = contents.ok_or_else(|| not_found(served.revision, asked))?;
    let mut result = served.cacheable(0);
    result.put("contents", &format!("[{}]", contents.finish()));
    Ok(result)
}

fn of_file(uri: &str, path: &str, content: &BlobContent) -> Object {
    let (default, field) = match content {
        BlobContent::Text(_) => ("text/plain", "text"),
        BlobContent::Base64(_) => ("application/octet-stream", "blob"),
    };
    contents(uri, uri::mime_type(path).unwrap_or(default), field, content.as_str())
}

fn of_json(uri: &str, text: &str) -> Object {
    contents(uri, "application/json", "text", text)
}

fn contents(uri: &str, mime_type: &str, field: &str, text: &str) -> Object {
    let mut contents = Object::new();
    contents.text("uri", uri);
    contents.text("mimeType", mime_type);
    contents.text(field, text);
    contents
}

fn not_found(revision: Revision, uri: &str) -> Fault {
    let kind = match revision {
        Revision::Legacy => Kind::NoResource,
        Revision::Modern => Kind::InvalidParams,
    };
    let mut data = Object::new();
    data.text("uri", uri);
    Fault::new(kind, "Resource not found").with(data)
}

impl Served<'_> {
    /// The session that the endpoint is about.
    fn session(&self) -> Result<SessionId, Refusal> {
        let named = self.endpoint.session.clone().or_else(|| SessionId::parse(execution::DEFAULT_SESSION));
        Ok(named.ok_or_else(|| Error::Internal("the default session has no name".into()))?)
    }
}
