//! The second stage: may this caller, for this agent, call this tool?

use super::outcome::{CallFailure, Code};
use super::resolve::ResolvedCall;
use crate::agents::PermissionRefusal;
use crate::callers::Caller;
use serde_json::json;

/// A call that the caller may make.
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
    let tool = &target.tool;
    let Err(refusal) = target.judge(caller.level) else { return Ok(GrantedCall { call }) };
    let failure = CallFailure::new(code(&refusal), format!("{}@{} {refusal}", tool.id, tool.version));
    Err(match refusal {
        PermissionRefusal::Level { needed, effective } => {
            failure.with(json!({"needed": needed, "effective": effective}))
        }
        PermissionRefusal::Capabilities { missing } => failure.with(json!({"missing": missing})),
        PermissionRefusal::Risk { tool, allowed } => failure.with(json!({"risk_level": tool, "max_risk": allowed})),
        PermissionRefusal::Module { module } | PermissionRefusal::GuestModule { module } => {
            failure.with(json!({"module": module}))
        }
        PermissionRefusal::NotAttached | PermissionRefusal::Disabled => failure,
    })
}

const fn code(refusal: &PermissionRefusal) -> Code {
    match refusal {
        PermissionRefusal::Level { .. } => Code::PermissionDenied,
        PermissionRefusal::NotAttached => Code::NotAttached,
        PermissionRefusal::Capabilities { .. } => Code::CapabilityMissing,
        PermissionRefusal::Risk { .. } => Code::RiskTooHigh,
        PermissionRefusal::Module { .. } | PermissionRefusal::GuestModule { .. } => Code::ModuleNotAllowed,
        PermissionRefusal::Disabled => Code::ToolDisabled,
    }
}
