//! The second stage: may this caller, for this agent, call this tool?

use super::outcome::{CallFailure, Code};
use super::resolve::ResolvedCall;
use crate::agents::{Refusal, judge, judge_caller};
use crate::callers::Caller;
use serde_json::json;

/// A call that its caller may make.
pub struct GrantedCall<'a> {
    call: &'a mut ResolvedCall,
}

impl<'a> GrantedCall<'a> {
    pub fn into_call(self) -> &'a mut ResolvedCall {
        self.call
    }
}

pub fn grant<'a>(caller: &Caller, call: &'a mut ResolvedCall) -> Result<GrantedCall<'a>, CallFailure> {
    let target = &call.target;
    let (tool, enabled) = (&target.tool, target.is_enabled());
    let judged = match &target.standing {
        Some(standing) => judge(&standing.agent, caller.level, tool, standing.has(&tool.id), enabled),
        None => judge_caller(caller.level, tool, enabled),
    };
    let Err(refusal) = judged else { return Ok(GrantedCall { call }) };
    let failure = CallFailure::new(code(&refusal), format!("{}@{} {refusal}", tool.id, tool.version));
    Err(match refusal {
        Refusal::Level { needed, effective } => failure.with(json!({"needed": needed, "effective": effective})),
        Refusal::Capabilities { missing } => failure.with(json!({"missing": missing})),
        Refusal::Risk { tool, allowed } => failure.with(json!({"risk_level": tool, "max_risk": allowed})),
        Refusal::Module { module } => failure.with(json!({"module": module})),
        Refusal::NotAttached | Refusal::Disabled => failure,
    })
}

const fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::Level { .. } => Code::PermissionDenied,
        Refusal::NotAttached => Code::NotAttached,
        Refusal::Capabilities { .. } => Code::CapabilityMissing,
        Refusal::Risk { .. } => Code::RiskTooHigh,
        Refusal::Module { .. } => Code::ModuleNotAllowed,
        Refusal::Disabled => Code::ToolDisabled,
    }
}
