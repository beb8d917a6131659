//! The outcomes of calls, as the clients and the model read them.

use super::live::LiveTurn;
use super::part::CallData;
use crate::execution::{self, CallFailure, Code, Status, ToolResult};
use crate::registry::scrub;
use serde_json::Value;
use serde_json::value::RawValue;

/// The notice at the end of a cut result is not longer.
const MAX_NOTICE_BYTES: usize = 256;

/// What a person reads beside the request for an approval. The failure of the call is worded for models.
const WHY_APPROVAL: &str = "The call runs only if an admin approves it";

/// What is done to a result before it is shown.
pub struct Shown<'a> {
    /// The texts that are removed.
    pub secrets: &'a [String],
    /// The size at which the result is cut, or the text of the failure.
    pub limit: u32,
    /// Whether the result may be cut already.
    pub may_be_cut: bool,
}

impl Shown<'static> {
    /// For the outcome of a call that waited for its approval. The record has no secrets, and is cut at the limit, unless the
    /// call was to be cut after its secrets were removed.
    pub fn recorded(limit: u32) -> Self {
        Self { secrets: &[], limit, may_be_cut: true }
    }
}

/// Tells the clients of a call's outcome. `is_told` says that they know already that the call failed.
pub fn tell(live: &LiveTurn, id: &str, result: ToolResult, shown: &Shown<'_>, is_told: bool) {
    let approval_id = approval_of(&result);
    let data = CallData {
        call_id: result.call_id.clone(),
        version: result.version.clone(),
        status: result.status.to_string(),
        duration_ms: result.duration_ms,
        render_plan: result.render_plan.as_ref().and_then(|it| serde_json::from_str(it.get()).ok()),
        approval_id: approval_id.clone(),
    };
    match (result.status, &result.error) {
        (Status::PendingApproval, _) => {
            let approval = approval_id.unwrap_or_default();
            live.tell(|it| it.call_awaits(id, &approval, WHY_APPROVAL));
        }
        (Status::Denied, error) => {
            live.tell(|it| it.call_denied(id, error.as_ref().map(|it| it.message.as_str())));
        }
        (Status::Success | Status::Error | Status::Running, Some(failure)) => {
            if !is_told {
                let mut secrets = shown.secrets.to_vec();
                let text = text_of(&failure.redacted(result.returns.as_deref(), &mut secrets));
                let rest = format!("; more is at GET /api/tool-calls/{}", result.call_id);
                let text = execution::cut_text(scrub(&secrets, text), shown.limit, &rest);
                live.tell(|it| it.call_failed(id, &text));
            }
        }
        (Status::Success | Status::Error | Status::Running, None) => {
            let output = output_of(result, shown);
            live.tell(|it| it.call_succeeded(id, output));
        }
    }
    live.tell(|it| it.call_record(id, data));
}

fn approval_of(result: &ToolResult) -> Option<String> {
    let details = result.error.as_ref()?.details.as_ref()?;
    Some(details.get("approval_id")?.as_str()?.to_owned())
}

/// The result as the model and the clients get it: without secrets, and cut.
fn output_of(result: ToolResult, shown: &Shown<'_>) -> Value {
    let Some(mut raw) = result.result else { return Value::Null };
    let parse = |json: &str| serde_json::from_str::<Value>(json).unwrap_or(Value::Null);
    let returns = result.returns.filter(|it| it.has_secrets());
    if !shown.secrets.is_empty() || returns.is_some() {
        let mut value = parse(raw.get());
        if let Some(returns) = returns {
            returns.redact(&mut value);
        }
        match RawValue::from_string(scrub(shown.secrets, value.to_string())) {
            Ok(scrubbed) => raw = scrubbed,
            Err(_) => return Value::Null,
        }
    }
    let limit = Some(shown.limit).filter(|limit| !(shown.may_be_cut && is_cut(&raw, *limit)));
    parse(execution::cut(raw, limit, &result.call_id).get())
}

/// Whether a result may be one that was cut at this size.
fn is_cut(result: &RawValue, limit: u32) -> bool {
    // A cut result is a text, and is measured by its own bytes.
    let text = serde_json::from_str::<String>(result.get());
    text.is_ok_and(|it| it.len() <= limit as usize + MAX_NOTICE_BYTES)
}

/// A failure as the model reads it. The message says what the model can do.
pub fn text_of(failure: &CallFailure) -> String {
    // The message already lists the violations.
    let details = failure.details.as_ref().filter(|_| failure.code != Code::InvalidArguments);
    match details {
        Some(details) => format!("{}: {} {details}", failure.code, failure.message),
        None => format!("{}: {}", failure.code, failure.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(result: &Value, shown: &Shown<'_>) -> Value {
        let result = ToolResult {
            call_id: "call_1".into(),
            tool_name: "t".into(),
            version: None,
            success: true,
            status: Status::Success,
            result: serde_json::value::to_raw_value(result).ok(),
            error: None,
            duration_ms: 0,
            render_plan: None,
            pre_manifest_id: None,
            post_manifest_id: None,
            never_ran: false,
            returns: None,
            content: None,
        };
        output_of(result, shown)
    }

    #[test]
    fn a_recorded_result_is_cut_once() {
        let long = "x".repeat(3_000);
        for whole in [json!(long), json!({"text": long})] {
            let cut = shown(&whole, &Shown::recorded(150));
            assert!(cut.as_str().is_some_and(|it| it.contains("\n[cut: 150 of 30")), "{cut}");
            assert_eq!(shown(&cut, &Shown::recorded(150)), cut, "the record has it so if the call has no secrets");
        }
        assert_eq!(shown(&json!(long), &Shown::recorded(3_000)), json!(long));
        let fresh = Shown { secrets: &[], limit: 150, may_be_cut: false };
        assert!(shown(&json!("x".repeat(200)), &fresh).as_str().is_some_and(|it| it.contains("[cut: 150 of 200")));
    }
}
