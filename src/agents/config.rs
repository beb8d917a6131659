//! The configuration of a tool for one agent, and the checks that it fits the tool.

use crate::error::{Error, Place, Problem, Result};
use crate::registry::{Tool, schema};
use serde_json::{Map, Value};

/// The configuration holds a parameter's default under the parameter's name with this prefix.
const DEFAULT_PREFIX: &str = "default_";

/// The largest configuration, as JSON.
const MAX_CONFIG_BYTES: usize = 64 * 1024;

/// An attachment's configuration: a JSON object. `default_<parameter>` is the value of the parameter if a call omits
/// it. `max_result_bytes` cuts long results. The other keys belong to the tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config(pub Map<String, Value>);

impl Config {
    /// Checks that the configuration fits `tool`. The error lists every fault.
    pub fn check(&self, tool: &Tool) -> Result<()> {
        let mut problems = self.problems(Some(tool))?;
        let defaults = self.defaults();
        if !defaults.is_empty() {
            for it in schema::compiled(&tool.parameters_schema)?.violations_of_properties(&defaults) {
                problems.push(match it.path.strip_prefix('/') {
                    Some(parameter) => problem(format!("/config/{DEFAULT_PREFIX}{parameter}"), it.message),
                    None => problem("/config".into(), it.message),
                });
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
    }

    /// The faults that no configuration may have. This does not check whether the defaults fit the tool's current
    /// version. `tool` may be missing for a built-in, because built-ins have no secrets.
    pub fn problems(&self, tool: Option<&Tool>) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        let bytes = self.to_json().len();
        if bytes > MAX_CONFIG_BYTES {
            problems.push(problem("/config".into(), format!("has {bytes} bytes; {MAX_CONFIG_BYTES} are allowed")));
        }
        if let Some(limit) = self.0.get("max_result_bytes")
            && limit.as_u64().is_none_or(|it| it == 0)
        {
            problems.push(problem("/config/max_result_bytes".into(), "must be a whole number above 0".into()));
        }
        let defaults = self.defaults();
        if let Some(tool) = tool.filter(|_| !defaults.is_empty()) {
            let mut shown = Value::Object(defaults.clone());
            schema::compiled(&tool.parameters_schema)?.redact(&mut shown);
            // A configuration must hold no secret: every caller who may see the agent sees the configuration, and the
            // change log keeps it.
            for (parameter, _) in defaults.iter().filter(|(name, value)| shown.get(*name) != Some(*value)) {
                let message = "is secret: give it with each call".into();
                problems.push(problem(format!("/config/{DEFAULT_PREFIX}{parameter}"), message));
            }
        }
        Ok(problems)
    }

    /// Fills in the parameters that a call omits, if the configuration has a default for them.
    pub fn fill(&self, arguments: &mut Map<String, Value>) {
        for (parameter, value) in self.defaults() {
            arguments.entry(parameter).or_insert(value);
        }
    }

    /// The size at which results are cut.
    pub fn max_result_bytes(&self) -> Option<u32> {
        self.0.get("max_result_bytes")?.as_u64().map(|it| u32::try_from(it).unwrap_or(u32::MAX))
    }

    /// The defaults for the tool's parameters, by the names of the parameters.
    fn defaults(&self) -> Map<String, Value> {
        self.0
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix(DEFAULT_PREFIX)?.to_owned(), value.clone())))
            .collect()
    }

    pub fn to_json(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }
}

fn problem(path: String, message: String) -> Problem {
    Problem { place: Place::Body, path, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;
    use serde_json::json;

    #[track_caller]
    fn check(config: Value, expected: &[&str]) {
        let mut tool = fixture("search");
        tool.parameters_schema = json!({
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "maximum": 50}},
            "required": ["query"],
            "additionalProperties": false,
        })
        .to_string();
        let Value::Object(config) = config else { unreachable!("a configuration is an object") };
        let problems = match Config(config).check(&tool) {
            Ok(()) => Vec::new(),
            Err(Error::Invalid(problems)) => problems.into_iter().map(|it| it.path).collect(),
            Err(other) => unreachable!("{other}"),
        };
        assert_eq!(problems, expected);
    }

    #[test]
    fn defaults_must_fit_the_parameters() {
        check(json!({}), &[]);
        check(json!({"default_limit": 20}), &[]);
        check(json!({"default_limit": 80}), &["/config/default_limit"]);
        check(json!({"default_limit": "x", "default_query": 1}), &["/config/default_limit", "/config/default_query"]);
        check(json!({"default_limti": 20}), &["/config"]);
    }

    #[test]
    fn defaults_fill_what_a_call_omits() {
        let config = Config(json!({"default_limit": 5, "region": "eu"}).as_object().unwrap().clone());
        let filled = |arguments: Value| {
            let mut arguments = arguments.as_object().unwrap().clone();
            config.fill(&mut arguments);
            Value::Object(arguments)
        };
        assert_eq!(filled(json!({"query": "a"})), json!({"query": "a", "limit": 5}));
        assert_eq!(filled(json!({"limit": 7})), json!({"limit": 7}));
    }

    #[test]
    fn a_secret_has_no_default() {
        let mut tool = fixture("login");
        tool.parameters_schema = json!({"properties": {"pin": {"writeOnly": true}, "user": {}}}).to_string();
        let config = |value: Value| Config(value.as_object().unwrap().clone());
        assert!(config(json!({"default_user": "ada"})).check(&tool).is_ok());
        let refused = config(json!({"default_pin": "hunter2"})).check(&tool).unwrap_err();
        assert!(!refused.to_string().contains("hunter2") && refused.to_string().contains("/config/default_pin"));
    }

    #[test]
    fn other_keys_are_the_tools_own() {
        check(json!({"region": "eu", "max_result_bytes": 1000}), &[]);
        check(json!({"max_result_bytes": 0}), &["/config/max_result_bytes"]);
        check(json!({"max_result_bytes": "1k"}), &["/config/max_result_bytes"]);
        check(json!({"blob": "x".repeat(70_000)}), &["/config"]);
    }
}
