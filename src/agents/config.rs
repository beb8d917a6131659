//! The configuration of a tool for one agent, and the checks that it fits the tool.

use crate::error::{Error, Place, Problem, Result, shortened};
use crate::nearest::{did_you_mean, nearest};
use crate::registry::{Tool, Warning, schema};
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
            let schema = schema::compiled(&tool.parameters_schema)?;
            let names = schema.property_names();
            let is_closed = schema.definition()["additionalProperties"] == false;
            let unknown = defaults.keys().filter(|it| is_closed && !names.contains(&it.as_str())).collect::<Vec<_>>();
            for it in schema.violations_of_properties(&defaults) {
                match it.path.strip_prefix('/') {
                    Some(parameter) => problems.push(problem(default_path(parameter), it.message)),
                    None if unknown.is_empty() => problems.push(problem("/config".into(), it.message)),
                    // The unknown parameters are told in other words.
                    None => {}
                }
            }
            problems.extend(unknown.iter().map(|it| problem(default_path(it), no_parameter(it, &names))));
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
    }

    /// What the author of the configuration should know: keys that set no default although they are named like a
    /// parameter, and defaults of parameters that the schema does not name.
    pub fn warnings(&self, tool: &Tool) -> Result<Vec<Warning>> {
        let schema = schema::compiled(&tool.parameters_schema)?;
        let names = schema.property_names();
        let told = |key: &String| match key.strip_prefix(DEFAULT_PREFIX) {
            Some(parameter) if names.contains(&parameter) => None,
            Some(parameter) => Some(Warning::new(&default_path(parameter), &no_parameter(parameter, &names))),
            None if names.contains(&key.as_str()) => {
                let message = format!("sets no default: the key for a parameter's default is {DEFAULT_PREFIX}{key}");
                Some(Warning::new(&format!("/config/{key}"), &message))
            }
            None => None,
        };
        Ok(self.0.keys().filter_map(told).collect())
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

fn default_path(parameter: &str) -> String {
    format!("/config/{DEFAULT_PREFIX}{parameter}")
}

fn no_parameter(parameter: &str, names: &[&str]) -> String {
    let near = nearest(parameter, names.iter().copied()).map(|it| format!("{DEFAULT_PREFIX}{it}"));
    format!("the schema names no parameter {}{}", shortened(parameter), did_you_mean(near.as_deref()))
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
        check(json!({"default_limti": 20}), &["/config/default_limti"]);
        assert_eq!(
            no_parameter("limti", &["limit"]),
            "the schema names no parameter limti. Did you mean default_limit?"
        );
    }

    #[test]
    fn keys_that_do_nothing_are_told() {
        let mut tool = fixture("search");
        tool.parameters_schema = json!({"properties": {"limit": {}}}).to_string();
        let told = |config: Value| {
            let warnings = Config(config.as_object().unwrap().clone()).warnings(&tool).unwrap();
            serde_json::to_value(warnings).unwrap()
        };
        assert_eq!(told(json!({"default_limit": 3, "max_result_bytes": 9, "region": "eu"})), json!([]));
        assert_eq!(
            told(json!({"limit": 3, "default_lmit": 3})),
            json!([
                {"path": "/config/limit", "message": "sets no default: the key for a parameter's default is default_limit"},
                {"path": "/config/default_lmit", "message": "the schema names no parameter lmit. Did you mean default_limit?"}
            ])
        );
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
