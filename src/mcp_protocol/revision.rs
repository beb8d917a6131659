//! The supported revisions of MCP, and the era of a request.
//!
//! The server stores nothing about a handshake. A request without `_meta` belongs to the older era, whatever
//! `initialize` agreed on before.

use super::fields::{META_CLIENT_CAPABILITIES, META_REVISION, meta};
use super::headers::{McpHeaders, RepeatingHeader, header_mismatch};
use super::method::McpMethod;
use crate::json_object::JsonObject;
use crate::json_rpc::{RpcError, RpcErrorCode, RpcRequest, RpcResult};
use crate::text_enum::TextEnum;
use serde_json::Value;

/// The revision without a handshake.
pub const MODERN_REVISION: &str = "2026-07-28";
/// The latest revision that has a handshake.
pub const LATEST_LEGACY_REVISION: &str = "2025-11-25";

/// The latest first. A server for 2025-11-25 serves clients of 2025-06-18 too.
const SUPPORTED_REVISIONS: [&str; 3] = [MODERN_REVISION, LATEST_LEGACY_REVISION, "2025-06-18"];

/// How client and server learn which revision the other one speaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Era {
    /// By a handshake: 2025-11-25 and before.
    Legacy,
    /// By each request: 2026-07-28.
    Modern,
}

/// The era of a request that keeps the rules of its era.
pub fn era_of(request: &RpcRequest, headers: &McpHeaders<'_>) -> RpcResult<Era> {
    let method = McpMethod::parse(&request.method);
    let is_modern = meta(&request.params, META_REVISION).is_some()
        || headers.revision == Some(MODERN_REVISION)
        || method == Some(McpMethod::Discover);
    if is_modern {
        check_modern(request, headers)?;
        return Ok(Era::Modern);
    }
    // A handshake may name any revision. The server responds with a revision that it supports.
    if method != Some(McpMethod::Initialize) {
        check_revision(headers)?;
    }
    Ok(Era::Legacy)
}

/// Refuses a header that names an unsupported revision.
pub fn check_revision(headers: &McpHeaders<'_>) -> RpcResult<()> {
    match headers.revision {
        Some(revision) if !SUPPORTED_REVISIONS.contains(&revision) => Err(unsupported(revision)),
        _ => Ok(()),
    }
}

/// The revision that a handshake agrees on: the client's revision, if it is supported, or else the latest revision that
/// has a handshake.
pub fn negotiated(asked: Option<&str>) -> &'static str {
    let has_handshake = |it: &&str| *it != MODERN_REVISION;
    let spoken = SUPPORTED_REVISIONS.into_iter().filter(has_handshake).find(|it| Some(*it) == asked);
    spoken.unwrap_or(LATEST_LEGACY_REVISION)
}

/// The supported revisions, as a JSON array.
pub fn supported_revisions() -> String {
    Value::from(SUPPORTED_REVISIONS.as_slice()).to_string()
}

fn check_modern(request: &RpcRequest, headers: &McpHeaders<'_>) -> RpcResult<()> {
    let header = RepeatingHeader::Revision;
    if headers.revision.is_none() {
        return Err(header_mismatch(&format!("the header {} is missing", header.name())));
    }
    let missing = |field: &str| RpcError::invalid_params(&format!("params._meta must have {field}"));
    let revision = header.value_in(request).ok_or_else(|| missing(META_REVISION))?;
    if !meta(&request.params, META_CLIENT_CAPABILITIES).is_some_and(Value::is_object) {
        return Err(missing(META_CLIENT_CAPABILITIES));
    }
    headers.check(header, request)?;
    if revision != MODERN_REVISION {
        return Err(unsupported(revision));
    }
    headers.check(RepeatingHeader::Method, request)?;
    headers.check(RepeatingHeader::Name, request)
}

fn unsupported(revision: &str) -> RpcError {
    let mut data = JsonObject::new();
    data.put("supported", &supported_revisions());
    data.text("requested", revision);
    RpcError::new(RpcErrorCode::UNSUPPORTED_REVISION, "Unsupported protocol version").with_data(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_rpc::{RpcId, RpcParams};
    use serde_json::json;

    fn request(method: &str, params: Value) -> RpcRequest {
        let params = RpcParams(params.as_object().unwrap().clone());
        RpcRequest { id: RpcId::Number(1.into()), method: method.to_owned(), params }
    }

    fn meta(revision: &str) -> Value {
        json!({META_REVISION: revision, META_CLIENT_CAPABILITIES: {}})
    }

    fn headers(all: [&'static str; 3]) -> McpHeaders<'static> {
        let [revision, method, name] = all.map(|it| Some(it).filter(|it| !it.is_empty()));
        McpHeaders { revision, method, name, ..McpHeaders::default() }
    }

    #[track_caller]
    fn refused(request: &RpcRequest, all: [&'static str; 3], code: RpcErrorCode) -> RpcError {
        let error = era_of(request, &headers(all)).unwrap_err();
        assert_eq!(error.code, code, "{error:?}");
        error
    }

    #[test]
    fn a_request_without_meta_is_of_the_older_era() {
        let list = request("tools/list", json!({}));
        for revision in ["", "2025-11-25", "2025-06-18"] {
            assert_eq!(era_of(&list, &headers([revision, "", ""])), Ok(Era::Legacy), "{revision}");
        }
        assert_eq!(era_of(&request("initialize", json!({})), &headers(["2024-11-05", "", ""])), Ok(Era::Legacy));
        let error = refused(&list, ["2024-11-05", "", ""], RpcErrorCode::UNSUPPORTED_REVISION);
        assert!(error.data.unwrap().contains(r#""requested":"2024-11-05""#));
    }

    #[test]
    fn a_request_with_meta_says_all_of_itself() {
        let modern = MODERN_REVISION;
        let mismatch = RpcErrorCode::HEADER_MISMATCH;
        let list = request("tools/list", json!({"_meta": meta(modern)}));
        assert_eq!(era_of(&list, &headers([modern, "tools/list", ""])), Ok(Era::Modern));
        assert_eq!(era_of(&list, &headers([modern, " tools/list ", "ignored"])), Ok(Era::Modern));
        refused(&list, ["", "tools/list", ""], mismatch);
        refused(&list, [modern, "", ""], mismatch);
        refused(&list, [modern, "TOOLS/LIST", ""], mismatch);
        refused(&list, [modern, "prompts/list", ""], mismatch);
        refused(&list, ["2025-11-25", "tools/list", ""], mismatch);
        let other = request("tools/list", json!({"_meta": meta("v999")}));
        refused(&other, ["v999", "tools/list", ""], RpcErrorCode::UNSUPPORTED_REVISION);
        refused(&other, [modern, "tools/list", ""], mismatch);
        for params in [
            json!({}),
            json!({"_meta": {}}),
            json!({"_meta": {META_REVISION: modern}}),
            json!({"_meta": {META_CLIENT_CAPABILITIES: {}}}),
            json!({"_meta": {META_REVISION: modern, META_CLIENT_CAPABILITIES: []}}),
            json!({"_meta": {META_REVISION: 7, META_CLIENT_CAPABILITIES: {}}}),
        ] {
            refused(&request("tools/list", params), [modern, "tools/list", ""], RpcErrorCode::INVALID_PARAMS);
        }
        refused(&request("server/discover", json!({})), ["", "", ""], mismatch);
    }

    #[test]
    fn the_name_is_compared_as_what_it_stands_for() {
        let modern = MODERN_REVISION;
        let call = |name: &str| request("tools/call", json!({"name": name, "_meta": meta(modern)}));
        let check =
            |name: &str, header: &'static str| era_of(&call(name), &headers([modern, "tools/call", header])).is_ok();
        assert!(check("read_file", "read_file") && check("read_file", "  read_file  "));
        assert!(!check("read_file", "Read_file") && !check("read_file", "") && !check("read_file", "write_file"));
        assert!(check("größe", "=?base64?Z3LDtsOfZQ==?="));
        assert!(!check("größe", "=?base64?Z3LDtsOfZQ?=") && !check("größe", "=?base64?Z3L!?="));
        assert!(check("=?base64?x", "=?base64?x"));
        // Spaces around a header mean nothing. Spaces in the text that it stands for are part of the name.
        assert!(check(" a", "=?base64?IGE=?=") && !check("a", "=?base64?IGE=?="));
        let read = request("resources/read", json!({"uri": "session://a/b", "_meta": meta(modern)}));
        assert!(era_of(&read, &headers([modern, "resources/read", "session://a/b"])).is_ok());
        refused(&read, [modern, "resources/read", "session://a/c"], RpcErrorCode::HEADER_MISMATCH);
        let prompt = request("prompts/get", json!({"name": "p", "_meta": meta(modern)}));
        refused(&prompt, [modern, "prompts/get", ""], RpcErrorCode::HEADER_MISMATCH);
        // Without a name there is nothing to compare. The method itself refuses such a request.
        let nameless = request("tools/call", json!({"_meta": meta(modern)}));
        assert!(era_of(&nameless, &headers([modern, "tools/call", ""])).is_ok());
    }

    #[test]
    fn the_handshake_settles_on_what_both_know() {
        assert_eq!(negotiated(Some("2025-06-18")), "2025-06-18");
        for asked in [Some("2025-11-25"), Some("2024-11-05"), Some(MODERN_REVISION), Some("x"), None] {
            assert_eq!(negotiated(asked), "2025-11-25", "{asked:?}");
        }
    }
}
