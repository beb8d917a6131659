//! The answer to a dry run: what a change of a tool's versions would do. The request is decided like any other, and
//! nothing is written.

use super::bump::{Comparison, VersionStep};
use super::handler::Handler;
use super::out::ToolOut;
use super::tool::Tool;
use super::warnings::Warning;
use crate::error::Result;
use crate::read_only::shown;
use crate::seal::Sealer;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The fields of a version that are no part of its definition: they say which version it is, and when it was active.
const NO_DEFINITION: [&str; 14] = [
    "id",
    "version",
    "source",
    "handler_key",
    "created_at",
    "registered_at",
    "registered_by",
    "active",
    "deactivated_at",
    "deactivated_reason",
    "toolset_id",
    "server_id",
    "module",
    "enabled",
];

#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub struct Preview {
    /// Always true: nothing was written.
    dry_run: bool,
    /// The version that would be replaced: the one that is active now.
    #[schema(example = "1.0.0")]
    replaces: Option<String>,
    /// The smallest step from the version that this one is compared with: the active version, or the highest if none is
    /// active. Null if there is no such version.
    pub needed_step: Option<VersionStep>,
    /// The differences that need more than a patch: what callers of the tool would notice.
    pub reasons: Vec<StepReason>,
    /// All fields of the definition that differ.
    pub differences: Vec<FieldDifference>,
    /// What is allowed, but troubles models or is likely to be a mistake.
    warnings: Vec<Warning>,
}

/// The differences between two versions of a tool.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub struct VersionComparison {
    #[schema(example = "word_count")]
    id: String,
    #[schema(example = "1.0.0")]
    from: String,
    #[schema(example = "1.1.0")]
    to: String,
    /// The smallest step that the differences need.
    needed_step: Option<VersionStep>,
    /// The differences that need more than a patch: what callers of the tool notice.
    reasons: Vec<StepReason>,
    /// All fields of the definition that differ.
    differences: Vec<FieldDifference>,
}

impl VersionComparison {
    pub fn of(from: &Tool, to: &Tool, sealer: Option<&Sealer>) -> Result<Self> {
        let Preview { needed_step, reasons, differences, .. } = Preview::of(Some(from), to, sealer, Vec::new())?;
        let (id, from, to) = (from.id.to_string(), from.version.to_string(), to.version.to_string());
        Ok(Self { id, from, to, needed_step, reasons, differences })
    }
}

/// A difference, and the step that it needs.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub struct StepReason {
    step: VersionStep,
    #[schema(example = "/parameters_schema/properties/limit")]
    path: String,
    message: String,
}

/// A field whose value would be another one. Values of headers are masked.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub struct FieldDifference {
    #[schema(example = "/description")]
    path: String,
    #[schema(value_type = Value)]
    from: Value,
    #[schema(value_type = Value)]
    to: Value,
}

impl Preview {
    /// The change from `current`, the version that the tool has now, to `after`.
    pub fn of(current: Option<&Tool>, after: &Tool, sealer: Option<&Sealer>, warnings: Vec<Warning>) -> Result<Self> {
        let comparison = current.map(|it| Comparison::of(it, after)).transpose()?;
        let reasons = comparison.iter().flat_map(|it| &it.demands).map(|it| StepReason {
            step: it.step,
            path: it.path.clone(),
            message: it.message.clone(),
        });
        let reasons = reasons.collect();
        Ok(Self {
            dry_run: true,
            replaces: current.filter(|it| it.active && after.active).map(|it| it.version.to_string()),
            needed_step: comparison.map(|it| it.step()),
            reasons,
            differences: current.map(|it| differences(it, after, sealer)).transpose()?.unwrap_or_default(),
            warnings,
        })
    }
}

fn differences(from: &Tool, to: &Tool, sealer: Option<&Sealer>) -> Result<Vec<FieldDifference>> {
    let [before, after] = [from, to].map(|it| shown(&ToolOut::of_version(it)));
    let (before, after) = (before?, after?);
    let same_handler = Handler::of(from)?.opened(sealer) == Handler::of(to)?.opened(sealer);
    let names = after.as_object().into_iter().flat_map(|it| it.keys());
    let differs = |name: &&String| match name.as_str() {
        // Two masked handlers look alike if only a value differs.
        "handler" => !same_handler,
        name => !NO_DEFINITION.contains(&name) && before[name] != after[name],
    };
    let difference = |name: &String| FieldDifference {
        path: format!("/{name}"),
        from: before[name].clone(),
        to: after[name].clone(),
    };
    Ok(names.filter(differs).map(difference).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Version;
    use crate::registry::fixture;
    use serde_json::json;

    #[test]
    fn differences_name_what_the_definition_has() {
        let before = fixture("x");
        let mut after = Tool { version: Version { major: 1, minor: 1, patch: 0 }, ..before.clone() };
        after.registered_by = "another".into();
        let preview = |after: &Tool| shown(&Preview::of(Some(&before), after, None, Vec::new()).unwrap()).unwrap();
        let none = json!({"dry_run": true, "replaces": "1.0.0", "needed_step": "patch", "reasons": [], "differences": [], "warnings": []});
        assert_eq!(preview(&after), none);
        after.timeout_seconds = 5;
        after.parameters_schema = r#"{"type":"array"}"#.into();
        let told = preview(&after);
        assert_eq!(told["needed_step"], "major");
        assert_eq!(told["differences"][1], json!({"path": "/timeout_seconds", "from": 30, "to": 5}));
        assert_eq!(
            told["reasons"][0],
            json!({"step": "minor", "path": "/timeout_seconds", "message": "went from 30 down to 5"})
        );
        assert_eq!((told["differences"].as_array().unwrap().len(), told["reasons"].as_array().unwrap().len()), (2, 2));
    }

    #[test]
    fn a_first_version_replaces_nothing() {
        let told = shown(&Preview::of(None, &fixture("x"), None, Vec::new()).unwrap()).unwrap();
        assert_eq!(
            (&told["replaces"], &told["needed_step"], &told["differences"]),
            (&Value::Null, &Value::Null, &json!([]))
        );
    }
}
