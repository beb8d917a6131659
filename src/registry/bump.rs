//! The smallest step that a new version may take, depending on its differences from the current version.

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

/// A difference, and the step that the difference requires.
#[derive(Debug, PartialEq)]
pub struct Demand {
    pub step: VersionStep,
    /// The place of the difference, as a JSON pointer into the registration.
    pub path: String,
    pub message: String,
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

    /// The lowest version that is one such step higher.
    pub fn from(self, version: Version) -> Version {
        let Version { major, minor, patch } = version;
        match self {
            Self::Major => Version { major: major.saturating_add(1), minor: 0, patch: 0 },
            Self::Minor => Version { major, minor: minor.saturating_add(1), patch: 0 },
            Self::Patch => Version { major, minor, patch: patch.saturating_add(1) },
        }
    }
}

/// The differences between two versions of a tool.
pub struct Comparison {
    from: Version,
    /// All differences that require more than a patch.
    pub demands: Vec<Demand>,
}

impl Comparison {
    pub fn of(old: &Tool, new: &Tool) -> Result<Self> {
        Ok(Self { from: old.version, demands: demands(old, new)? })
    }

    /// The step that the differences require.
    pub fn step(&self) -> VersionStep {
        self.demands.iter().map(|it| it.step).max().unwrap_or(VersionStep::Patch)
    }

    /// The lowest version number that the new version can have.
    fn next_version(&self) -> Version {
        self.step().from(self.from)
    }
}

/// Refuses a version whose step from `old` is smaller than the differences require. The error lists every reason.
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

/// Returns all differences that require more than a patch.
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
    // Callers send the same arguments as before, and expect the same results as before.
    let (mut sent_before, mut sent_now) =
        (schema(Some(&old.parameters_schema))?, schema(Some(&new.parameters_schema))?);
    forgive_omissions(&mut sent_before);
    forgive_omissions(&mut sent_now);
    compare(&mut found, "/parameters_schema", &sent_before, &sent_now);
    let (got_before, got_now) = (schema(old.returns_schema.as_deref())?, schema(new.returns_schema.as_deref())?);
    compare(&mut found, "/returns_schema", &got_now, &got_before);
    Ok(found)
}

/// Adds a demand if the schemas differ. A change is compatible if every value that satisfies `from` also satisfies
/// `to`.
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

/// Removes properties that have a default from `required`. Defaults are filled in before arguments are checked, so a
/// caller may omit such a property although it is required. Without this step, the removal of such a default would
/// count as a patch.
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

/// Whether the tool has the same side effect. Only the description may differ: the type, the scope and whether the
/// effect can be undone must be the same.
fn has_effect(tool: &Tool, effect: &SideEffect) -> bool {
    let same = |it: &SideEffect| {
        (it.effect_type.as_str(), it.scope.as_str(), it.reversible)
            == (effect.effect_type.as_str(), effect.scope.as_str(), effect.reversible)
    };
    tool.side_effects.iter().any(same)
}

/// Parses a stored schema for the comparison. A missing schema allows every value.
fn schema(text: Option<&str>) -> Result<Value> {
    let Some(text) = text else { return Ok(Value::Bool(true)) };
    let schema =
        serde_json::from_str(text).map_err(|cause| Error::Internal(format!("a schema cannot be read: {cause}")))?;
    Ok(compat::closed(&schema))
}
