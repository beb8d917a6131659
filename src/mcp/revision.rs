//! Which revision of MCP a request is in, and what that revision asks of it before it is looked at.
//!
//! Until 2025-11-25 a client says once, by `initialize`, what it speaks; since 2026-07-28 every request says it in its
//! `_meta`, and its headers repeat what the body says. Nothing is kept of the former: it is served by what the request
//! itself shows. The body decides; a header that says something else is refused.

use super::rpc::{JsonObject, Result, RpcError, RpcErrorCode, RpcParams, RpcRequest};
use data_encoding::BASE64;
use serde_json::Value;

pub const MODERN: &str = "2026-07-28";
const LATEST_LEGACY: &str = "2025-11-25";

/// What is spoken, the latest first. 2025-06-18 asks for nothing that 2025-11-25 does not.
const SUPPORTED: [&str; 3] = [MODERN, LATEST_LEGACY, "2025-06-18"];

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Era {
    /// With a handshake: 2025-11-25 and before.
    Legacy,
    /// Without: 2026-07-28.
    Modern,
}

/// The headers that MCP has.
#[derive(Default)]
pub struct McpHeaders<'a> {
    pub version: Option<&'a str>,
    pub method: Option<&'a str>,
    pub name: Option<&'a str>,
    /// `Mcp-Param-…`, by what follows: arguments that a tool's schema wants repeated. None, where one cannot be read.
    pub params: Vec<(&'a str, Option<&'a str>)>,
}

impl McpHeaders<'_> {
    /// What they say of the arguments.
    pub fn mirrored(&self) -> Vec<(String, Option<String>)> {
        self.params.iter().map(|(name, value)| ((*name).to_owned(), value.and_then(decoded))).collect()
    }
}

/// The revision of a request that keeps its rules.
pub fn of(request: &RpcRequest, headers: &McpHeaders<'_>) -> Result<Era> {
    let told = request.params.meta(VERSION);
    let modern = told.is_some() || headers.version == Some(MODERN) || request.method == "server/discover";
    if modern {
        check_modern(request, headers)?;
        return Ok(Era::Modern);
    }
    // It is there to settle on one: whatever a client had in mind before.
    if request.method != "initialize" {
        check_version(headers)?;
    }
    Ok(Era::Legacy)
}

/// A header that names a revision names one that is spoken.
pub fn check_version(headers: &McpHeaders<'_>) -> Result<()> {
    match headers.version {
        Some(version) if !SUPPORTED.contains(&version) => Err(unsupported(version)),
        _ => Ok(()),
    }
}

/// What `initialize` is answered with: what the client asks for, if it is spoken, else what it may know.
pub fn negotiated(asked: Option<&str>) -> &'static str {
    SUPPORTED.into_iter().find(|it| *it != MODERN && Some(*it) == asked).unwrap_or(LATEST_LEGACY)
}

fn check_modern(request: &RpcRequest, headers: &McpHeaders<'_>) -> Result<()> {
    let Some(version) = headers.version else {
        return Err(mismatch("the header MCP-Protocol-Version is missing"));
    };
    let told = request.params.meta(VERSION).and_then(Value::as_str);
    let told = told.ok_or_else(|| RpcError::params(&format!("params._meta must have {VERSION}")))?;
    if !request.params.meta(CAPABILITIES).is_some_and(Value::is_object) {
        return Err(RpcError::params(&format!("params._meta must have {CAPABILITIES}")));
    }
    if told != version {
        return Err(mismatch(&format!("MCP-Protocol-Version is {version:?}, and the body says {told:?}")));
    }
    if told != MODERN {
        return Err(unsupported(told));
    }
    check_header("Mcp-Method", headers.method.map(str::trim), &request.method)?;
    match named(request) {
        Some(name) => check_header("Mcp-Name", headers.name.and_then(decoded).as_deref(), name),
        None => Ok(()),
    }
}

/// What a request is about by name, where the header `Mcp-Name` must repeat it.
fn named(request: &RpcRequest) -> Option<&str> {
    let field = match request.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    request.params.0.get(field)?.as_str()
}

fn check_header(name: &str, value: Option<&str>, expected: &str) -> Result<()> {
    match value {
        None => Err(mismatch(&format!("the header {name} is missing or cannot be read"))),
        Some(value) if value == expected => Ok(()),
        Some(value) => Err(mismatch(&format!("{name} is {value:?}, and the body says {expected:?}"))),
    }
}

/// What a header stands for: `=?base64?…?=` is a text that could not stand there by itself.
fn decoded(value: &str) -> Option<String> {
    let value = value.trim();
    match value.strip_prefix("=?base64?").and_then(|it| it.strip_suffix("?=")) {
        None => Some(value.to_owned()),
        Some(coded) => String::from_utf8(BASE64.decode(coded.as_bytes()).ok()?).ok(),
    }
}

fn mismatch(what: &str) -> RpcError {
    RpcError::new(RpcErrorCode::Headers, &format!("Header mismatch: {what}"))
}

fn unsupported(version: &str) -> RpcError {
    let mut data = JsonObject::new();
    data.put("supported", &supported());
    data.text("requested", version);
    RpcError::new(RpcErrorCode::Version, "Unsupported protocol version").with(data)
}

/// What is spoken, as JSON.
pub fn supported() -> String {
    Value::from(SUPPORTED.as_slice()).to_string()
}

/// Whether the client shows its user a form, if a request is answered with one.
pub fn shows_forms(params: &RpcParams) -> bool {
    let elicitation = params.meta(CAPABILITIES).and_then(|it| it.get("elicitation")).and_then(Value::as_object);
    // None named means forms: the other way came later.
    elicitation.is_some_and(|it| it.contains_key("form") || !it.contains_key("url"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(method: &str, params: Value) -> RpcRequest {
        RpcRequest { id: json!(1), method: method.to_owned(), params: RpcParams(params.as_object().unwrap().clone()) }
    }

    fn meta(version: &str) -> Value {
        json!({VERSION: version, CAPABILITIES: {}})
    }

    fn headers(all: [&'static str; 3]) -> McpHeaders<'static> {
        let [version, method, name] = all.map(|it| Some(it).filter(|it| !it.is_empty()));
        McpHeaders { version, method, name, ..McpHeaders::default() }
    }

    #[track_caller]
    fn refused(request: &RpcRequest, all: [&'static str; 3], kind: RpcErrorCode) -> RpcError {
        let fault = of(request, &headers(all)).unwrap_err();
        assert_eq!(fault.kind, kind, "{fault:?}");
        fault
    }

    #[test]
    fn a_request_without_meta_is_of_the_older_kind() {
        let list = request("tools/list", json!({}));
        for version in ["", "2025-11-25", "2025-06-18"] {
            assert_eq!(of(&list, &headers([version, "", ""])), Ok(Era::Legacy), "{version}");
        }
        assert_eq!(of(&request("initialize", json!({})), &headers(["2024-11-05", "", ""])), Ok(Era::Legacy));
        let fault = refused(&list, ["2024-11-05", "", ""], RpcErrorCode::Version);
        assert!(fault.data.unwrap().contains(r#""requested":"2024-11-05""#));
    }

    #[test]
    fn a_request_with_meta_says_all_of_itself() {
        let list = request("tools/list", json!({"_meta": meta(MODERN)}));
        assert_eq!(of(&list, &headers([MODERN, "tools/list", ""])), Ok(Era::Modern));
        assert_eq!(of(&list, &headers([MODERN, " tools/list ", "ignored"])), Ok(Era::Modern));
        refused(&list, ["", "tools/list", ""], RpcErrorCode::Headers);
        refused(&list, [MODERN, "", ""], RpcErrorCode::Headers);
        refused(&list, [MODERN, "TOOLS/LIST", ""], RpcErrorCode::Headers);
        refused(&list, [MODERN, "prompts/list", ""], RpcErrorCode::Headers);
        refused(&list, ["2025-11-25", "tools/list", ""], RpcErrorCode::Headers);
        let other = request("tools/list", json!({"_meta": meta("v999")}));
        refused(&other, ["v999", "tools/list", ""], RpcErrorCode::Version);
        refused(&other, [MODERN, "tools/list", ""], RpcErrorCode::Headers);
        for params in [
            json!({}),
            json!({"_meta": {}}),
            json!({"_meta": {VERSION: MODERN}}),
            json!({"_meta": {CAPABILITIES: {}}}),
            json!({"_meta": {VERSION: MODERN, CAPABILITIES: []}}),
            json!({"_meta": {VERSION: 7, CAPABILITIES: {}}}),
        ] {
            refused(&request("tools/list", params), [MODERN, "tools/list", ""], RpcErrorCode::InvalidParams);
        }
        refused(&request("server/discover", json!({})), ["", "", ""], RpcErrorCode::Headers);
    }

    #[test]
    fn the_name_is_compared_as_what_it_stands_for() {
        let call = |name: &str| request("tools/call", json!({"name": name, "_meta": meta(MODERN)}));
        let check =
            |name: &str, header: &'static str| of(&call(name), &headers([MODERN, "tools/call", header])).is_ok();
        assert!(check("read_file", "read_file") && check("read_file", "  read_file  "));
        assert!(!check("read_file", "Read_file") && !check("read_file", "") && !check("read_file", "write_file"));
        assert!(check("größe", "=?base64?Z3LDtsOfZQ==?="));
        assert!(!check("größe", "=?base64?Z3LDtsOfZQ?=") && !check("größe", "=?base64?Z3L!?="));
        assert!(check("=?base64?x", "=?base64?x"));
        // Spaces around the header are nobody's; those within what it stands for are the name's.
        assert!(check(" a", "=?base64?IGE=?=") && !check("a", "=?base64?IGE=?="));
        let read = request("resources/read", json!({"uri": "session://a/b", "_meta": meta(MODERN)}));
        assert!(of(&read, &headers([MODERN, "resources/read", "session://a/b"])).is_ok());
        refused(&read, [MODERN, "resources/read", "session://a/c"], RpcErrorCode::Headers);
        // Without a name there is nothing to compare; the method itself refuses that.
        let nameless = request("tools/call", json!({"_meta": meta(MODERN)}));
        assert!(of(&nameless, &headers([MODERN, "tools/call", ""])).is_ok());
    }

    #[test]
    fn the_handshake_settles_on_what_both_know() {
        assert_eq!(negotiated(Some("2025-06-18")), "2025-06-18");
        for asked in [Some("2025-11-25"), Some("2024-11-05"), Some(MODERN), Some("x"), None] {
            assert_eq!(negotiated(asked), "2025-11-25", "{asked:?}");
        }
    }

    #[test]
    fn forms_are_shown_by_those_who_say_so() {
        let shows = |capabilities: Value| {
            shows_forms(&RpcParams(json!({"_meta": {CAPABILITIES: capabilities}}).as_object().unwrap().clone()))
        };
        assert!(shows(json!({"elicitation": {}})) && shows(json!({"elicitation": {"form": {}, "url": {}}})));
        assert!(
            !shows(json!({})) && !shows(json!({"elicitation": {"url": {}}})) && !shows(json!({"elicitation": true}))
        );
    }
}
