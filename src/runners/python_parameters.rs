//! How the sandbox will call the function of a `python` tool, as far as its parameters tell, and which calls will fail.
//! The rule is that of `sandbox/python/guest.py`.

use crate::error::shortened;
use crate::nearest::{did_you_mean, nearest};
use crate::registry::schema::Schema;
use serde::Deserialize;

/// The parameters of a function, as the sandbox reports them.
#[derive(Deserialize)]
pub struct FunctionParameters {
    names: Vec<String>,
    /// The parameters without a default.
    required: Vec<String>,
    /// Whether the function can be called with one value.
    takes_one: bool,
    /// Whether every parameter can be given by its name.
    by_keyword: bool,
    /// Whether the function takes arguments of any name.
    takes_all: bool,
}

impl FunctionParameters {
    /// What the author should know about the calls of the function: those that fail, and those that get one dict although
    /// the parameters look like properties.
    pub fn warnings(&self, function: &str, schema: &Schema) -> Vec<String> {
        let properties = schema.property_names();
        if self.gets_keywords(&properties) {
            return self.of_keywords(function, schema, &properties);
        }
        self.of_one_dict(function, &properties).into_iter().collect()
    }

    fn gets_keywords(&self, properties: &[&str]) -> bool {
        let is_property = |name: &String| properties.contains(&name.as_str());
        self.by_keyword && self.names.iter().all(is_property)
    }

    fn of_keywords(&self, function: &str, schema: &Schema, properties: &[&str]) -> Vec<String> {
        let is_taken = |property: &&str| self.takes_all || self.names.iter().any(|it| it == property);
        let untaken = properties
            .iter()
            .filter(|it| !is_taken(it))
            .map(|it| format!("{function} has no parameter {}: a call with this argument fails", shortened(it)));
        let omitted = self.required.iter().filter(|it| schema.may_lack(it)).map(|it| {
            let name = shortened(it);
            format!("{function} needs {name}, and a call may leave {name} out: give the parameter a default, or require the property")
        });
        untaken.chain(omitted).collect()
    }

    fn of_one_dict(&self, function: &str, properties: &[&str]) -> Option<String> {
        let other = self.names.iter().find(|it| !properties.contains(&it.as_str()));
        let near = self.names.iter().find_map(|it| nearest(it, properties.iter().copied()));
        let reason = match other {
            Some(name) if self.by_keyword => format!("{} is no property of the schema", shortened(name)),
            Some(_) | None => "it has a parameter that cannot be given by name".to_owned(),
        };
        let told = format!("{function} gets one dict of all arguments, because {reason}");
        match near {
            _ if !self.takes_one => Some(format!("{told}; every call fails, because it needs more than one argument")),
            // The one parameter is probably meant to be the dict.
            None => None,
            Some(near) => Some(format!(
                "{told}{}",
                did_you_mean(Some(near).filter(|it| !self.names.iter().any(|name| name == it)))
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The warnings about `run` with these parameters, for a schema with a required `text`, a `limit` with a default, and
    /// an optional `sep`. A parameter with `=` has a default.
    #[track_caller]
    fn check(parameters: &[&str], by_keyword: bool, expected: &[&str]) {
        let schema = Schema::compile(json!({"type": "object", "required": ["text"], "properties": {
            "text": {"type": "string"}, "limit": {"type": "integer", "default": 3}, "sep": {"type": "string"}}}));
        let required = parameters.iter().filter(|it| !it.ends_with('=')).map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let function = FunctionParameters {
            names: parameters.iter().map(|it| it.trim_end_matches('=').to_owned()).collect(),
            takes_one: required.len() <= 1,
            required,
            by_keyword,
            takes_all: false,
        };
        assert_eq!(function.warnings("run", &schema.unwrap()), expected, "{parameters:?}");
    }

    #[test]
    fn calls_that_fail_are_told() {
        check(&["text", "limit", "sep="], true, &[]);
        let dict = "run gets one dict of all arguments, because other is no property of the schema";
        check(&["text", "other="], true, &[dict]);
        check(&["text", "limit"], true, &["run has no parameter sep: a call with this argument fails"]);
        let needs =
            "run needs sep, and a call may leave sep out: give the parameter a default, or require the property";
        check(&["text", "limit", "sep"], true, &[needs]);
        let dict = "run gets one dict of all arguments, because other is no property of the schema; every call fails, because it needs more than one argument";
        check(&["text", "other"], true, &[dict]);
    }

    #[test]
    fn one_dict_is_told_where_it_looks_like_a_mistake() {
        check(&["arguments"], true, &[]);
        check(&["arguments="], true, &[]);
        let why = "run gets one dict of all arguments, because";
        check(&["txt"], true, &[&format!("{why} txt is no property of the schema. Did you mean text?")]);
        check(&["other", "limit="], true, &[&format!("{why} other is no property of the schema")]);
        check(&["txt="], true, &[&format!("{why} txt is no property of the schema. Did you mean text?")]);
        check(&["text"], false, &[&format!("{why} it has a parameter that cannot be given by name")]);
    }
}
