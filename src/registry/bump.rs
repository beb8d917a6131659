//! How large a step a new version must take, by what is different in it.

use super::compat::{self, Obstacle};
use super::tool::{SideEffect, Tool};
use crate::error::{Error, Place, Problem, Result};
use crate::ids::Version;
use crate::text_enum::text_enum;
use serde_json::{Map, Value};

text_enum! {
    /// Which of a version's three numbers moves.
    VersionStep {
        Patch = "patch",
        Minor = "minor",
        Major = "major",
    }
}

/// Something that is different, and the step that it takes.
#[derive(Debug, PartialEq)]
struct Demand {
    step: VersionStep,
    /// Where, as a JSON pointer into the registration.
    path: String,
    message: String,
}

impl VersionStep {
    /// The step from one version to a higher one.
    fn between(from: Version, to: Version) -> Self {
        if to.major > from.major {
            Self::Major
        } else if to.minor > from.minor {
            Self::Minor
        } else {
            Self::Patch
        }
    }

    /// The lowest version that is such a step away.
    fn from(self, version: Version) -> Version {
        let Version { major, minor, patch } = version;
        match self {
            Self::Major => Version { major: major.saturating_add(1), minor: 0, patch: 0 },
            Self::Minor => Version { major, minor: minor.saturating_add(1), patch: 0 },
            Self::Patch => Version { major, minor, patch: patch.saturating_add(1) },
        }
    }
}

/// What is different between two versions of a tool.
struct Comparison {
    from: Version,
    /// Everything that takes more than a patch.
    demands: Vec<Demand>,
}

impl Comparison {
    fn of(old: &Tool, new: &Tool) -> Result<Self> {
        Ok(Self { from: old.version, demands: demands(old, new)? })
    }

    /// The step that it takes.
    fn step(&self) -> VersionStep {
        self.demands.iter().map(|it| it.step).max().unwrap_or(VersionStep::Patch)
    }

    /// The lowest version number that the new version can have.
    fn next_version(&self) -> Version {
        self.step().from(self.from)
    }
}

/// Refuses a version whose step from `old` is smaller than what is different takes, with every reason.
pub fn check(old: &Tool, new: &Tool) -> Result<()> {
    let comparison = Comparison::of(old, new)?;
    let (step, needed) = (VersionStep::between(old.version, new.version), comparison.step());
    if needed <= step {
        return Ok(());
    }
    let message = format!(
        "{} is a {step} step from {}, and this needs a {needed} one: {} or higher",
        new.version,
        old.version,
        comparison.next_version()
    );
    let reasons = comparison.demands.into_iter().filter(|it| it.step > step).map(|it| Problem {
        place: Place::Body,
        path: it.path,
        message: format!("{} (takes a {} version)", it.message, it.step),
    });
    let version = Problem { place: Place::Body, path: "/version".into(), message };
    Err(Error::Invalid(std::iter::once(version).chain(reasons).collect()))
}

/// All that is different and takes more than a patch.
fn demands(old: &Tool, new: &Tool) -> Result<Vec<Demand>> {
    let mut found = Vec::new();
    let mut add = |step, path: &str, message: String| {
        found.push(Demand { step, path: path.to_owned(), message });
    };
    if old.execution_mode != new.execution_mode {
        let message = format!("went from {} to {}", old.execution_mode, new.execution_mode);
        add(VersionStep::Major, "/execution_mode", message);
    }
    if old.resource_class != new.resource_class {
        add(
            VersionStep::Major,
            "/resource_class",
            format!("went from {} to {}", old.resource_class, new.resource_class),
        );
    }
    for effect in old.side_effects.iter().filter(|it| !has_effect(new, it)) {
        add(VersionStep::Major, "/side_effects", format!("{} on {} was removed", effect.effect_type, effect.scope));
    }
    for effect in new.side_effects.iter().filter(|it| !has_effect(old, it)) {
        add(VersionStep::Minor, "/side_effects", format!("{} on {} was added", effect.effect_type, effect.scope));
    }
    if new.timeout_seconds < old.timeout_seconds {
        let message = format!("went from {} down to {}", old.timeout_seconds, new.timeout_seconds);
        add(VersionStep::Minor, "/timeout_seconds", message);
    }
    // Callers send what they sent before, and get what they got before.
    let (mut sent_before, mut sent_now) =
        (schema(Some(&old.parameters_schema))?, schema(Some(&new.parameters_schema))?);
    forgive_omissions(&mut sent_before);
    forgive_omissions(&mut sent_now);
    compare(&mut found, "/parameters_schema", &sent_before, &sent_now);
    let (got_before, got_now) = (schema(old.returns_schema.as_deref())?, schema(new.returns_schema.as_deref())?);
    compare(&mut found, "/returns_schema", &got_now, &got_before);
    Ok(found)
}

/// A schema is compatible if all that satisfies `from` satisfies `to`.
fn compare(found: &mut Vec<Demand>, path: &str, from: &Value, to: &Value) {
    if from == to {
        return;
    }
    let obstacles = compat::obstacles(from, to);
    if !obstacles.is_empty() {
        found.extend(obstacles.into_iter().map(|it| Demand {
            step: VersionStep::Major,
            path: path.to_owned(),
            message: told(it),
        }));
    } else if !compat::obstacles(to, from).is_empty() {
        let message = "was added to, compatibly".to_owned();
        found.push(Demand { step: VersionStep::Minor, path: path.to_owned(), message });
    }
}

/// Defaults are filled in before arguments are checked: what has one may be left out, though it is required. Without this
/// it would be a patch to take such a default away.
fn forgive_omissions(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            let has_default = |name: &Value, keywords: &Map<String, Value>| {
                let property = name.as_str().and_then(|it| keywords.get("properties")?.get(it));
                property.is_some_and(|it| it.get("default").is_some())
            };
            if let Some(Value::Array(mut required)) = keywords.remove("required") {
                required.retain(|name| !has_default(name, keywords));
                keywords.insert("required".into(), Value::Array(required));
            }
            keywords.values_mut().for_each(forgive_omissions);
        }
        Value::Array(parts) => parts.iter_mut().for_each(forgive_omissions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn told(obstacle: Obstacle) -> String {
    match obstacle.path.as_str() {
        "" => obstacle.message,
        path => format!("at {path}: {}", obstacle.message),
    }
}

/// What is said of an effect may change; what it does, where, and whether it can be undone may not.
fn has_effect(tool: &Tool, effect: &SideEffect) -> bool {
    let same = |it: &SideEffect| {
        (it.effect_type.as_str(), it.scope.as_str(), it.reversible)
            == (effect.effect_type.as_str(), effect.scope.as_str(), effect.reversible)
    };
    tool.side_effects.iter().any(same)
}

/// A stored schema as versions are compared; none is one that lets everything pass.
fn schema(text: Option<&str>) -> Result<Value> {
    let Some(text) = text else { return Ok(Value::Bool(true)) };
    let schema =
        serde_json::from_str(text).map_err(|cause| Error::Internal(format!("a schema cannot be read: {cause}")))?;
    Ok(compat::closed(&schema))
}
