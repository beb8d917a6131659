//! The response to a message: its outcome, and the JSON-RPC form of a failure.

use crate::error::Error;
use crate::json_object::JsonObject;
use crate::json_rpc::{RpcError, RpcErrorCode, RpcId, RpcMessage, RpcResponse};
use crate::mcp_protocol::Era;

/// The response to one message of a client.
pub struct McpReply {
    pub outcome: McpOutcome,
    /// A JSON-RPC message. None, where the client's message asked for no response.
    pub message: Option<String>,
}

/// The outcome of a client's message. The transport maps each outcome to a status.
pub enum McpOutcome {
    /// The request was understood. Its response is a result, or an error about the request's parameters.
    Answered,
    /// The message was a notification or a response.
    Accepted,
    /// The message breaks a rule of JSON-RPC, or of its era.
    Invalid,
    /// The method, or the endpoint's agent, does not exist.
    NotFound,
    /// The API refuses the caller, or fails.
    Refused(Error),
}

impl McpReply {
    fn new(outcome: McpOutcome, id: Option<RpcId>, response: Result<String, RpcError>) -> Self {
        let message = RpcMessage::Response(RpcResponse { id, outcome: response }).write();
        Self { outcome, message: Some(message) }
    }

    /// The message of a refusal that came before the request was read.
    pub fn refused(id: Option<RpcId>, error: Error, request_id: &str) -> Self {
        let told = rpc_error(&error, request_id);
        Self::new(McpOutcome::Refused(error), id, Err(told))
    }

    pub(super) fn answered(id: RpcId, result: JsonObject) -> Self {
        Self::new(McpOutcome::Answered, Some(id), Ok(result.finish()))
    }

    pub(super) fn accepted() -> Self {
        Self { outcome: McpOutcome::Accepted, message: None }
    }

    pub(super) fn invalid(id: Option<RpcId>, error: RpcError) -> Self {
        Self::new(McpOutcome::Invalid, id, Err(error))
    }
}

/// Why a request has no result. Boxed, so that a `Result` of many functions stays small.
pub(super) enum McpFailure {
    /// The request is wrong, or asks for something that does not exist.
    Rpc(Box<RpcError>),
    /// The API refuses the request, or fails.
    Api(Box<Error>),
}

impl From<RpcError> for McpFailure {
    #[cold]
    #[inline(never)]
    fn from(error: RpcError) -> Self {
        Self::Rpc(Box::new(error))
    }
}

impl From<Error> for McpFailure {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> Self {
        Self::Api(Box::new(error))
    }
}

impl McpFailure {
    pub fn reply(self, era: Era, id: RpcId, request_id: &str) -> McpReply {
        let (outcome, error) = match self {
            Self::Rpc(error) => (outcome_of(error.code, era), *error),
            Self::Api(error) => {
                let rpc_error = rpc_error(&error, request_id);
                let is_about_params = rpc_error.code == RpcErrorCode::INVALID_PARAMS;
                let outcome = if is_about_params { McpOutcome::Answered } else { McpOutcome::Refused(*error) };
                (outcome, rpc_error)
            }
        };
        McpReply::new(outcome, Some(id), Err(error))
    }
}

/// The outcome of a request that was read, and has an error instead of a result.
fn outcome_of(code: RpcErrorCode, era: Era) -> McpOutcome {
    match code {
        RpcErrorCode::METHOD_NOT_FOUND if era == Era::Modern => McpOutcome::NotFound,
        RpcErrorCode::REFUSED => McpOutcome::NotFound,
        RpcErrorCode::HEADER_MISMATCH => McpOutcome::Invalid,
        _ => McpOutcome::Answered,
    }
}

/// An error of the API as an error of JSON-RPC.
fn rpc_error(error: &Error, request_id: &str) -> RpcError {
    let code = match error {
        Error::Invalid(_) | Error::Worded(_) | Error::Bundle(_) => RpcErrorCode::INVALID_PARAMS,
        Error::Internal(_) | Error::Unavailable(_) | Error::Unreachable(_) | Error::TryAgain(_) => {
            RpcErrorCode::INTERNAL_ERROR
        }
        Error::Unauthorized(_)
        | Error::Forbidden(_)
        | Error::NotFound { .. }
        | Error::NoRoute
        | Error::MethodNotAllowed { .. }
        | Error::Misdirected
        | Error::AlreadyExists(_)
        | Error::Conflict(_)
        | Error::TooLarge { .. }
        | Error::NoRoom { .. }
        | Error::OverQuota { .. }
        | Error::PassedOn(_) => RpcErrorCode::REFUSED,
    };
    let mut data = JsonObject::new();
    data.text("code", error.code());
    data.put("details", &error.details(request_id).to_string());
    RpcError::new(code, &error.to_string()).with_data(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(failure: impl Into<McpFailure>, era: Era) -> (McpOutcome, String) {
        let reply = failure.into().reply(era, RpcId::Number(7.into()), "req_1");
        (reply.outcome, reply.message.unwrap())
    }

    #[test]
    fn an_unknown_method_has_an_outcome_of_its_own_since_2026() {
        let failure = || RpcError::new(RpcErrorCode::METHOD_NOT_FOUND, "no");
        assert!(matches!(reply(failure(), Era::Legacy).0, McpOutcome::Answered));
        assert!(matches!(reply(failure(), Era::Modern).0, McpOutcome::NotFound));
    }

    #[test]
    fn errors_of_the_api_keep_their_code_and_details() {
        let (outcome, message) = reply(Error::Internal("secret".into()), Era::Modern);
        assert!(matches!(outcome, McpOutcome::Refused(Error::Internal(_))));
        assert_eq!(
            message,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"Something went wrong on our side","data":{"code":"INTERNAL","details":{"request_id":"req_1"}}}}"#
        );
        let (outcome, message) = reply(Error::query("limit", "must be less"), Era::Legacy);
        assert!(matches!(outcome, McpOutcome::Answered) && message.contains(r#""code":-32602"#), "{message}");
        let (outcome, message) = reply(Error::Forbidden("no".into()), Era::Legacy);
        assert!(matches!(outcome, McpOutcome::Refused(_)) && message.contains(r#""code":-32000"#), "{message}");
    }
}
