//! Stage 2: may this caller, for this agent, call this tool?

use super::outcome::{Code, Failure};
use super::resolve::Target;
use crate::agents::{PermissionRefusal, judge, judge_caller};
use crate::callers::Caller;
use serde_json::json;

/// A call that may be made.
pub struct Granted<'a> {
    pub target: &'a Target,
}

pub fn grant<'a>(caller: &Caller, target: &'a Target) -> Result<Granted<'a>, Failure> {
    let (tool, enabled) = (&target.tool, target.is_enabled());
    let judged = match &target.standing {
        Some(standing) => judge(&standing.agent, caller.level, tool, standing.has(&tool.id), enabled),
        None => judge_caller(caller.level, tool, enabled),
    };
    judged.map(|()| Granted { target }).map_err(|refusal| {
        let failure = Failure::new(code(&refusal), format!("{}@{} {refusal}", tool.id, tool.version));
        match refusal {
            PermissionRefusal::Level { needed, effective } => {
                failure.with(json!({"needed": needed, "effective": effective}))
            }
            PermissionRefusal::Capabilities { missing } => failure.with(json!({"missing": missing})),
            PermissionRefusal::Risk { tool, allowed } => failure.with(json!({"risk_level": tool, "max_risk": allowed})),
            PermissionRefusal::Module { module } => failure.with(json!({"module": module})),
            PermissionRefusal::NotAttached | PermissionRefusal::Disabled => failure,
        }
    })
}

const fn code(refusal: &PermissionRefusal) -> Code {
    match refusal {
        PermissionRefusal::Level { .. } => Code::PermissionDenied,
        PermissionRefusal::NotAttached => Code::NotAttached,
        PermissionRefusal::Capabilities { .. } => Code::CapabilityMissing,
        PermissionRefusal::Risk { .. } => Code::RiskTooHigh,
        PermissionRefusal::Module { .. } => Code::ModuleNotAllowed,
        PermissionRefusal::Disabled => Code::ToolDisabled,
    }
}
