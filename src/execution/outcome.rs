//! The outcome of a call.

use super::approvals::ApprovalRequest;
use crate::error::{Error, Result, shortened};
use crate::registry::schema::Schema;
use crate::registry::scrub;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt::Display;
use std::rc::Rc;
use utoipa::ToSchema;

text_enum! {
    /// The status of a call.
    Status {
        PendingApproval = "pending_approval",
        Running = "running",
        Success = "success",
        Error = "error",
        Denied = "denied",
    }
}

impl Status {
    /// Whether nothing happens to the call any more.
    pub const fn has_ended(self) -> bool {
        match self {
            Self::Success | Self::Error | Self::Denied => true,
            Self::PendingApproval | Self::Running => false,
        }
    }
}

text_enum! {
    /// The reason why a call was refused or failed.
    Code {
        UnknownTool = "UNKNOWN_TOOL",
        UnknownAgent = "UNKNOWN_AGENT",
        PermissionDenied = "PERMISSION_DENIED",
        NotAttached = "NOT_ATTACHED",
        CapabilityMissing = "CAPABILITY_MISSING",
        RiskTooHigh = "RISK_TOO_HIGH",
        ModuleNotAllowed = "MODULE_NOT_ALLOWED",
        ToolDisabled = "TOOL_DISABLED",
        InvalidArguments = "INVALID_ARGUMENTS",
        ApprovalRequired = "APPROVAL_REQUIRED",
        ApprovalDenied = "APPROVAL_DENIED",
        ApprovalExpired = "APPROVAL_EXPIRED",
        RateLimited = "RATE_LIMITED",
        ToolError = "TOOL_ERROR",
        Timeout = "TIMEOUT",
        InvalidResult = "INVALID_RESULT",
        Unreachable = "UNREACHABLE",
        /// The request has an error outside its tool name and arguments.
        ValidationError = "VALIDATION_ERROR",
        PayloadTooLarge = "PAYLOAD_TOO_LARGE",
        /// The idempotency key belongs to another call.
        Conflict = "CONFLICT",
        Internal = "INTERNAL",
        Unavailable = "UNAVAILABLE",
    }
}

impl Code {
    /// Whether the cause may be gone by itself soon, so that the same call may succeed then.
    pub const fn may_pass(self) -> bool {
        matches!(self, Self::RateLimited | Self::Timeout | Self::Unreachable | Self::Unavailable)
    }
}

/// The longest failure that a record keeps as it is, as JSON. A row of the database has at most 2 MB.
const MAX_RECORDED_BYTES: usize = 256 * 1024;

/// How many bytes of the message, and of the details, a record keeps of a longer failure.
const MAX_RECORDED_TEXT: u32 = 64 * 1024;

/// The reason why a call did not succeed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Failure)]
pub struct CallFailure {
    pub code: Code,
    pub message: String,
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
}

impl CallFailure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None }
    }

    pub fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The same failure without details, and with a short message.
    pub fn brief(&self) -> Self {
        Self::new(self.code, shortened(&self.message))
    }

    /// The failure of a call that nobody approved.
    pub fn expired() -> Self {
        Self::new(Code::ApprovalExpired, "Nobody approved the call in time")
    }

    /// The same failure without the values that the schema of the tool's results marks as secret: a tool that fails may
    /// explain itself in a result. These values are added to `secrets`.
    pub fn redacted(&self, returns: Option<&Schema>, secrets: &mut Vec<String>) -> Cow<'_, Self> {
        let is_tools_own = matches!(self.code, Code::ToolError | Code::Timeout) && self.details.is_some();
        let Some(returns) = returns.filter(|it| is_tools_own && it.has_secrets()) else { return Cow::Borrowed(self) };
        let mut redacted = self.clone();
        secrets.extend(redacted.details.iter_mut().flat_map(|it| returns.redact(it)));
        Cow::Owned(redacted)
    }

    /// The failure as JSON, for the record: without these secrets, and with long texts cut.
    pub fn to_record(&self, secrets: &[String]) -> Result<String> {
        let json = scrub(secrets, self.to_json()?);
        if json.len() <= MAX_RECORDED_BYTES {
            return Ok(json);
        }
        // The secrets are removed before the cut. A secret at the cut would stay in part.
        let whole = serde_json::from_str::<Self>(&json)
            .map_err(|cause| Error::Internal(format!("a failure is not readable: {cause}")))?;
        let details = whole.details.map(|it| match it.to_string() {
            long if long.len() > MAX_RECORDED_TEXT as usize => cut_text(long, MAX_RECORDED_TEXT, "").into(),
            _ => it,
        });
        Self { code: whole.code, message: cut_text(whole.message, MAX_RECORDED_TEXT, ""), details }.to_json()
    }

    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|cause| Error::Internal(format!("a failure is not JSON: {cause}")))
    }

    /// Turns an error of the Worker into a failure of the call.
    pub fn of(error: &Error, request_id: &str) -> Self {
        let code = match error {
            Error::Invalid(_) | Error::Worded(_) | Error::Bundle(_) => Code::ValidationError,
            Error::Forbidden(_) | Error::Unauthorized(_) => Code::PermissionDenied,
            Error::AlreadyExists(_) | Error::Conflict(_) => Code::Conflict,
            Error::TooLarge { .. } | Error::NoRoom { .. } | Error::OverQuota { .. } => Code::PayloadTooLarge,
            Error::Unavailable(_) | Error::Unreachable(_) | Error::TryAgain(_) => Code::Unavailable,
            Error::NotFound { .. }
            | Error::NoRoute
            | Error::MethodNotAllowed { .. }
            | Error::Misdirected
            | Error::PassedOn(_)
            | Error::Internal(_) => Code::Internal,
        };
        let details = Some(error.details(request_id)).filter(|it| !it.is_null());
        Self { code, message: error.to_string(), details }
    }
}

/// The reason why a call goes no further.
pub enum CallStop {
    /// The call was not run.
    Refused(CallFailure),
    /// The call ran, or may have run, and failed.
    Failed(CallFailure),
    /// The call waits for an approval.
    Pending(Box<ApprovalRequest>),
    /// The call has ended, and its Durable Object has recorded it.
    Recorded(Box<ToolResult>),
    /// An error of the Worker before the call ran.
    Broken(Error),
}

impl From<CallFailure> for CallStop {
    fn from(failure: CallFailure) -> Self {
        Self::Refused(failure)
    }
}

impl From<Error> for CallStop {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

/// The result of a call that ran well, or why the call stopped.
pub type Ended = std::result::Result<Box<RawValue>, CallStop>;

/// The response to a call, whether it succeeded or not.
#[derive(Deserialize, Serialize, ToSchema)]
pub struct ToolResult {
    #[schema(example = "call_6f1c0d2b9a8e4f7d8c5b3a2f1e0d9c8b")]
    pub call_id: String,
    #[schema(example = "read_file")]
    pub tool_name: String,
    #[schema(example = "1.0.0")]
    pub version: Option<String>,
    pub success: bool,
    pub status: Status,
    #[schema(value_type = Option<Value>)]
    pub result: Option<Box<RawValue>>,
    pub error: Option<CallFailure>,
    pub duration_ms: u32,
    /// How the result is to be shown: `{renderer, config, error?}`; null if the tool has no renderer, or has not run.
    #[schema(value_type = Option<Object>)]
    pub render_plan: Option<Box<RawValue>>,
    pub pre_manifest_id: Option<String>,
    pub post_manifest_id: Option<String>,
    /// Whether the call surely never ran: a stage before the run has stopped it. Not part of the response.
    #[serde(skip)]
    pub never_ran: bool,
    /// The schema of the tool's results, for a protocol that shows results by their schema. Not part of the response.
    #[serde(skip)]
    pub returns: Option<Rc<Schema>>,
    /// The content blocks of MCP that the outcome was made of, as a JSON array, for clients of MCP. Not part of the
    /// response.
    #[serde(skip)]
    pub content: Option<String>,
}

impl ToolResult {
    /// Seconds until a retry, if the call was refused by its rate limit or met a passing fault.
    pub fn retry_after(&self) -> Option<u64> {
        self.error.as_ref()?.details.as_ref()?.get("retry_after")?.as_u64()
    }
}

/// Cuts a result that is longer than `limit` bytes. The cut result is a text that ends with the place of the whole
/// result.
pub fn cut(result: Box<RawValue>, limit: Option<u32>, call_id: &impl Display) -> Box<RawValue> {
    let Some(limit) = limit.map(|it| it as usize) else { return result };
    if result.get().len() <= limit {
        return result;
    }
    // A text is measured and cut by its own bytes, not by the bytes of its JSON.
    let text = serde_json::from_str::<String>(result.get());
    let text = text.as_deref().unwrap_or(result.get());
    if text.len() <= limit {
        return result;
    }
    let notice = beginning(text, limit, &format!("; the whole is at GET /api/tool-calls/{call_id}/result"));
    serde_json::value::to_raw_value(&notice).unwrap_or(result)
}

/// Cuts a text that is longer than `limit` bytes. `rest` says where the whole is.
pub fn cut_text(text: String, limit: u32, rest: &str) -> String {
    let limit = limit as usize;
    if text.len() <= limit { text } else { beginning(&text, limit, rest) }
}

/// The first `limit` bytes of a text, with a notice.
fn beginning(text: &str, limit: usize, rest: &str) -> String {
    let shown = &text[..text.floor_char_boundary(limit)];
    format!("{shown}\n[cut: {} of {} bytes{rest}]", shown.len(), text.len())
}

/// The content blocks that a response may show: all of them, or none if they are longer than `limit` bytes. Then the cut
/// result stands for them.
pub fn shown_content(content: Option<String>, limit: Option<u32>) -> Option<String> {
    content.filter(|it| limit.is_none_or(|limit| it.len() <= limit as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::CallId;
    use serde_json::json;

    #[track_caller]
    fn check(result: Value, limit: Option<u32>, expected: impl Fn(&Value) -> bool) {
        let result = serde_json::value::to_raw_value(&result).unwrap();
        let cut = cut(result, limit, &CallId::parse("call_1").unwrap());
        let value = serde_json::from_str(cut.get()).unwrap();
        assert!(expected(&value), "{value}");
    }

    #[test]
    fn a_short_result_stays_as_it_is() {
        check(json!({"a": 1}), None, |it| *it == json!({"a": 1}));
        check(json!({"a": 1}), Some(7), |it| *it == json!({"a": 1}));
        check(json!("12345"), Some(5), |it| *it == json!("12345"));
    }

    #[test]
    fn a_long_one_is_a_text_that_says_where_the_whole_is() {
        let expected = "12345\n[cut: 5 of 10 bytes; the whole is at GET /api/tool-calls/call_1/result]";
        check(json!("1234567890"), Some(5), |it| it == expected);
        check(json!({"a": 1}), Some(6), |it| {
            it.as_str().is_some_and(|text| text.starts_with("{\"a\":1\n[cut: 6 of 7"))
        });
    }

    #[test]
    fn a_record_keeps_the_beginning_of_a_long_failure_and_no_part_of_a_secret() {
        let secret = "s3cret-".repeat(20);
        let message = format!("{}{secret}", "x".repeat(MAX_RECORDED_TEXT as usize - 50));
        let failure = CallFailure::new(Code::ToolError, message).with(json!({"text": "\u{1}".repeat(300_000)}));
        let json = failure.to_record(&[secret]).unwrap();
        assert!(json.len() < 1_000_000 && !json.contains("s3cret"), "{}", json.len());
        let kept = serde_json::from_str::<CallFailure>(&json).unwrap();
        assert!(kept.message.contains("xxx[redacted]"), "{}", &kept.message[kept.message.len() - 100..]);
        assert!(kept.details.unwrap().as_str().unwrap().contains("\n[cut: 65536 of 1800011 bytes]"));
        let short = CallFailure::new(Code::ToolError, "a").with(json!({"row": 3}));
        assert_eq!(short.to_record(&[]).unwrap(), short.to_json().unwrap());
    }

    #[test]
    fn a_failure_explains_itself_without_secrets() {
        let returns = json!({"type": "object", "properties": {
            "token": {"type": "string", "writeOnly": true}, "row": {"type": "integer"}}});
        let returns = Schema::compile(returns).unwrap();
        let failure = CallFailure::new(Code::ToolError, "it broke").with(json!({"token": "s3cret", "row": 3}));
        let mut secrets = Vec::new();
        let redacted = failure.redacted(Some(&returns), &mut secrets);
        assert_eq!(redacted.details, Some(json!({"token": "[redacted]", "row": 3})));
        assert_eq!(secrets, ["s3cret"]);
        assert_eq!(failure.redacted(None, &mut secrets).details, failure.details);
        // Other details are of Pegboard, and not of the tool.
        let other = CallFailure { code: Code::RateLimited, ..failure };
        assert_eq!(other.redacted(Some(&returns), &mut secrets).details, other.details);
    }

    #[test]
    fn no_character_is_cut_in_two() {
        check(json!("ääää"), Some(3), |it| it.as_str().is_some_and(|text| text.starts_with("ä\n[cut: 2 of 8")));
        check(json!("🤖"), Some(1), |it| it.as_str().is_some_and(|text| text.starts_with("\n[cut: 0 of 4")));
    }
}
