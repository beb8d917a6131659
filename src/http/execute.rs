//! `/api/execute`: run a tool.

use super::body::read_json;
use super::extract::{Bytes, Guest, read_object};
use super::respond::Json;
use crate::error::{Error, Place, Problem, Result};
use crate::execution::{self, Call, Code, ToolResult};
use crate::ids::SessionId;
use crate::json_size::MAX_VALUES;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// The longest text that a caller may tie to a call.
const MAX_TEXT_CHARS: usize = 256;

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CallIn {
    /// A tool's id; `id@version` pins a version that is active or has been replaced.
    #[schema(example = "read_file")]
    pub tool_name: String,
    #[schema(value_type = Option<Object>, example = json!({"path": "/notes.txt"}))]
    pub arguments: Option<Map<String, Value>>,
    /// The agent that makes the call. A bound token may omit it.
    pub agent_id: Option<String>,
    /// The session whose files the call uses; `default` if not given. A session need not be created first.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$", example = "notebook")]
    pub session_id: Option<String>,
    #[schema(max_length = 256)]
    pub user_id: Option<String>,
    #[schema(max_length = 256)]
    pub message_id: Option<String>,
    /// A retry with the same key and the same arguments within 24 hours returns the outcome of the first call, and runs
    /// nothing.
    #[schema(min_length = 1, max_length = 256)]
    pub idempotency_key: Option<String>,
    /// A longer result is cut to this many bytes and returned as a text, with a notice that says where the whole result
    /// is.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295_u32)]
    pub max_result_bytes: Option<u32>,
}

/// The only field that is read from a body in which another field is wrong.
#[derive(Deserialize)]
struct NameIn {
    tool_name: String,
}

impl From<CallIn> for Call {
    fn from(given: CallIn) -> Self {
        let mut problems = Vec::new();
        let mut problem = |path: &str, message: String| {
            problems.push(Problem { place: Place::Body, path: path.into(), message });
        };
        let session_id = given.session_id.as_deref().map(SessionId::parse);
        if session_id == Some(None) {
            problem("/session_id", "must be 1 to 64 letters, digits, _ or -".into());
        }
        let texts = [
            ("/user_id", &given.user_id),
            ("/message_id", &given.message_id),
            ("/idempotency_key", &given.idempotency_key),
            ("/agent_id", &given.agent_id),
        ];
        for (path, text) in texts {
            let chars = text.as_deref().map_or(0, |it| it.chars().count());
            if chars > MAX_TEXT_CHARS {
                problem(path, format!("has {chars} characters; {MAX_TEXT_CHARS} are allowed"));
            }
        }
        if given.idempotency_key.as_deref() == Some("") {
            problem("/idempotency_key", "must not be empty".into());
        }
        if given.max_result_bytes == Some(0) {
            problem("/max_result_bytes", "must be above 0".into());
        }
        let short = |text: Option<String>| text.filter(|it| it.chars().count() <= MAX_TEXT_CHARS);
        Self {
            tool_name: given.tool_name,
            arguments: given.arguments.unwrap_or_default(),
            agent_id: short(given.agent_id),
            session_id: session_id.flatten(),
            user_id: short(given.user_id),
            message_id: short(given.message_id),
            // Only a valid request may claim its key.
            idempotency_key: given.idempotency_key.filter(|_| problems.is_empty()),
            max_result_bytes: given.max_result_bytes.filter(|it| *it > 0),
            fault: (!problems.is_empty()).then_some(Error::Invalid(problems)),
            ..Self::default()
        }
    }
}

/// Reads a call from a body of the type `T`. If the tool's name can be read, any other error in the body becomes a
/// recorded failure of the call.
pub fn read_call<T: DeserializeOwned + Into<Call> + ToSchema>(body: &[u8]) -> Result<Call> {
    match read_json::<T>(body) {
        Ok(call) => Ok(call.into()),
        Err(fault) => match read_object::<NameIn>(MAX_VALUES, body) {
            Ok(NameIn { tool_name }) => Ok(Call::faulty(tool_name, fault)),
            Err(_) => Err(fault),
        },
    }
}

/// Run a tool
///
/// Every call is recorded, also a refused call. A refusal has its own HTTP status. A failure while the tool runs has
/// the status 200 and `success: false`.
#[utoipa::path(post, path = "/api/execute", tag = "calls", request_body = CallIn,
    responses(
        (status = 200, description = "The tool ran: `success` says how it went", body = ToolResult),
        (status = 202, description = "The call waits for an approval: `error.details.approval_id`", body = ToolResult),
        (status = 400, description = "The arguments do not fit", body = ToolResult),
        (status = 403, description = "The caller or the agent may not", body = ToolResult),
        (status = 404, description = "There is no such tool or agent", body = ToolResult),
        (status = 409, description = "The tool is disabled, or the idempotency key belongs to another call", body = ToolResult),
        (status = 413, description = "Too large", body = ToolResult),
        (status = 429, description = "Too many calls: see `Retry-After`", body = ToolResult),
        (status = 500, description = "Our fault", body = ToolResult),
        (status = 503, description = "Something is not configured", body = ToolResult),
    ))]
#[worker::send]
pub async fn execute_tool(Guest(scope): Guest, Bytes(body): Bytes) -> Result<ToolResult> {
    let call = read_call::<CallIn>(&body)?;
    // The run may take long, and the body may be large.
    drop(body);
    execution::execute(&scope, call).await
}

impl IntoResponse for ToolResult {
    fn into_response(self) -> Response {
        let status = self.error.as_ref().map_or(StatusCode::OK, |it| status(it.code));
        let passes = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&status);
        let retry_after = self.retry_after().filter(|_| passes);
        let mut response = Json(self).into_response();
        if response.status() == StatusCode::OK {
            *response.status_mut() = status;
        }
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The HTTP status of a failure. A refusal has its own status. A call that ran, and the decision of an admin, has the
/// status 200.
const fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidArguments | Code::ValidationError => StatusCode::BAD_REQUEST,
        Code::PermissionDenied
        | Code::NotAttached
        | Code::CapabilityMissing
        | Code::RiskTooHigh
        | Code::ModuleNotAllowed => StatusCode::FORBIDDEN,
        Code::UnknownTool | Code::UnknownAgent => StatusCode::NOT_FOUND,
        Code::ToolDisabled | Code::Conflict => StatusCode::CONFLICT,
        Code::ApprovalRequired => StatusCode::ACCEPTED,
        Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::ToolError
        | Code::Timeout
        | Code::InvalidResult
        | Code::Unreachable
        | Code::ApprovalDenied
        | Code::ApprovalExpired => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fault_besides_the_name_belongs_to_the_call() {
        for body in [
            json!({"tool_name": "t", "arguments": 5}),
            json!({"tool_name": "t", "bogus": 1}),
            json!({"tool_name": "t", "session_id": "a b"}),
            json!({"tool_name": "t", "idempotency_key": ""}),
            json!({"tool_name": "t", "user_id": "x".repeat(257)}),
            json!({"tool_name": "t", "max_result_bytes": 0}),
        ] {
            let call = read_call::<CallIn>(body.to_string().as_bytes()).unwrap();
            assert!(call.tool_name == "t" && call.fault.is_some(), "{body}");
        }
        let call = read_call::<CallIn>(br#"{"tool_name": "t", "arguments": null}"#).unwrap();
        assert!(call.fault.is_none() && call.arguments.is_empty());
    }

    #[test]
    fn without_a_name_there_is_no_call() {
        for body in [r#"{"arguments": {}}"#, r#"{"tool_name": 7}"#, "[]", "", "{", r#""read_file""#] {
            assert!(read_call::<CallIn>(body.as_bytes()).is_err(), "{body}");
        }
    }
}
