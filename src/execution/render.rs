//! The eighth stage: makes the render plan of a call that ran, if its tool has a renderer.

use super::outcome::CallFailure;
use super::record::CallIdentity;
use super::resolve::ResolvedCall;
use crate::callers::Scope;
use crate::error::shortened;
use crate::registry::scrub;
use crate::rendering::{PlanFailure, PlanSources};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;

/// What the plan of a call is made of, besides the call itself.
pub struct RenderedOutcome<'a> {
    /// The arguments without their secrets.
    pub arguments: &'a Value,
    /// The JSON of the result without its secrets; None after a failure.
    pub result: Option<&'a str>,
    pub failure: Option<&'a CallFailure>,
    /// The secrets that were removed. A tool may repeat them anywhere.
    pub secrets: &'a [String],
}

/// The plan as JSON. A plan is never a reason for a call to fail: a source that cannot be read counts as null.
pub fn plan(
    scope: &Scope,
    identity: &CallIdentity<'_>,
    call: &ResolvedCall,
    outcome: &RenderedOutcome<'_>,
) -> Option<Box<RawValue>> {
    let renderer = call.target.tool.renderer()?;
    let secrets = outcome.secrets;
    let arguments = match secrets {
        [] => Cow::Borrowed(outcome.arguments),
        _ => Cow::Owned(scrubbed(secrets, &outcome.arguments.to_string())),
    };
    let result = outcome.result.filter(|_| renderer.reads_result()).map(|it| scrubbed(secrets, it)).unwrap_or_default();
    let message = outcome.failure.map(|it| shortened(&scrub(secrets, it.message.clone())));
    let failure = outcome.failure.zip(message.as_deref());
    let sources = PlanSources {
        arguments: &arguments,
        result: &result,
        failure: failure.map(|(it, message)| PlanFailure { code: it.code.as_str(), message }),
        session: identity.session,
        toolset: call.target.tool.toolset_id(),
        url_rules: scope.app().url_rules(),
    };
    to_raw_value(&renderer.plan(&sources)).ok()
}

/// The value of a JSON text in which no secret is left.
fn scrubbed(secrets: &[String], json: &str) -> Value {
    let parsed = match secrets {
        [] => serde_json::from_str(json),
        _ => serde_json::from_str(&scrub(secrets, json.to_owned())),
    };
    parsed.unwrap_or_default()
}
