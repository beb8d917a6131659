//! The request as all methods see it, and the common parts of their results.

use super::McpEndpoint;
use super::reply::McpFailure;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::execution;
use crate::formats;
use crate::ids::AgentId;
use crate::json_object::JsonObject;
use crate::json_rpc::{RpcError, RpcParams};
use crate::mcp_protocol::{CallToolResult, Era, McpHeaders, fields};
use crate::page::PageRequest;
use crate::registry::Tool;
use serde::Serialize;
use serde_json::{Map, Value};

/// The server's name and version, as MCP's `Implementation`.
pub const SERVER_INFO: &str =
    concat!(r#"{"name":"pegboard","title":"Pegboard","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// An understood request: its caller, its endpoint, its era and its headers.
pub struct McpContext<'a> {
    pub scope: &'a Scope,
    pub endpoint: &'a McpEndpoint,
    pub era: Era,
    pub headers: &'a McpHeaders<'a>,
}

impl McpContext<'_> {
    /// The agent that makes the calls: the agent of the endpoint, or else the agent that the token is bound to. This
    /// costs no round trip once the scope has read anything.
    pub async fn agent(&self) -> Result<Option<&AgentId>> {
        match &self.endpoint.agent {
            Some(agent_id) => Ok(Some(agent_id)),
            None => Ok(self.scope.caller().await?.agent.as_ref()),
        }
    }

    /// The beginning of a complete result.
    pub fn complete(&self) -> JsonObject {
        self.result(fields::RESULT_COMPLETE, &Map::new())
    }

    /// The beginning of a complete result that this caller may cache.
    pub fn cacheable(&self, ttl_ms: u32) -> JsonObject {
        let mut result = self.complete();
        if self.era == Era::Modern {
            result.put("ttlMs", &ttl_ms.to_string());
            result.text("cacheScope", "private");
        }
        result
    }

    /// The beginning of a result that asks the client to come back with input.
    pub fn input_required(&self) -> JsonObject {
        self.result(fields::RESULT_INPUT_REQUIRED, &Map::new())
    }

    /// The result of a tool's call.
    pub fn call_result(&self, content: &CallToolResult) -> JsonObject {
        let mut result = self.result(fields::RESULT_COMPLETE, &content.meta);
        content.write(&mut result);
        result
    }

    /// The beginning of a result, with `meta` in its `_meta`. Since 2026-07-28 a result also says its type and the
    /// server.
    fn result(&self, result_type: &str, meta: &Map<String, Value>) -> JsonObject {
        let mut result = JsonObject::new();
        let mut all_meta = JsonObject::of(meta);
        if self.era == Era::Modern {
            all_meta.put(fields::META_SERVER_INFO, SERVER_INFO);
            result.text(fields::RESULT_TYPE, result_type);
        } else if meta.is_empty() {
            return result;
        }
        result.put(fields::META, &all_meta.finish());
        result
    }

    /// The page of a list that the request's cursor asks for.
    pub fn page(&self, params: &RpcParams, limit: u32) -> std::result::Result<PageRequest, McpFailure> {
        let cursor = params.optional_text("cursor")?;
        PageRequest::new(Some(limit), cursor)
            .map_err(|_| RpcError::invalid_params("cursor is not one that this list gave out").into())
    }

    /// The tool with this name, if it can be called at this endpoint.
    pub async fn tool(&self, name: &str) -> std::result::Result<Option<Tool>, McpFailure> {
        Ok(execution::tool_of_name(self.scope, self.endpoint.agent.as_ref(), name).await?)
    }
}

/// Serialises a value as JSON text.
pub fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| Error::Internal(format!("a response is not JSON: {cause}")))
}

/// Tools as a JSON array of MCP's `Tool`s.
pub fn tools_json<'a>(tools: impl Iterator<Item = &'a Tool>) -> Result<String> {
    let mut json = "[".to_owned();
    for tool in tools {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&to_json(&formats::mcp::tool(tool))?);
    }
    json.push(']');
    Ok(json)
}
