//! How the sandbox will call the function of a `python` tool, as far as its parameters tell, and which calls will fail.
//! The rules are those of `sandbox/python/guest.py`, and of `sandbox/python/toolset_binding.py` for code that works on files.

use crate::error::shortened;
use crate::nearest::{did_you_mean, nearest};
use crate::registry::schema::Schema;
use serde::Deserialize;

/// The room of the sandbox that runs the function.
#[derive(Clone, Copy, PartialEq)]
pub enum PythonRoom {
    Plain,
    /// The room for code that works on files.
    Files,
}

/// The parameter that gets the directory of the session's files.
const WORKSPACE: &str = "workspace";

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
    pub fn warnings(mut self, room: PythonRoom, function: &str, schema: &Schema) -> Vec<String> {
        let properties = schema.property_names();
        if room == PythonRoom::Files && !properties.contains(&WORKSPACE) {
            self.give_workspace();
        }
        if self.gets_keywords(&properties) {
            return self.of_keywords(room, function, schema, &properties);
        }
        self.of_one_dict(function, &properties).into_iter().collect()
    }

    /// The sandbox itself gives the parameter `workspace`, so no argument is needed for it.
    fn give_workspace(&mut self) {
        let parameters = self.names.len();
        self.names.retain(|it| it != WORKSPACE);
        self.required.retain(|it| it != WORKSPACE);
        if self.names.len() < parameters {
            self.takes_one = self.required.len() <= 1 && !self.names.is_empty();
        }
    }

    fn gets_keywords(&self, properties: &[&str]) -> bool {
        let is_property = |name: &String| properties.contains(&name.as_str());
        self.by_keyword && self.names.iter().all(is_property)
    }

    fn of_keywords(&self, room: PythonRoom, function: &str, schema: &Schema, properties: &[&str]) -> Vec<String> {
        let is_taken = |property: &&str| self.takes_all || self.names.iter().any(|it| it == property);
        let becomes = match room {
            PythonRoom::Plain => "a call with this argument fails",
            PythonRoom::Files => "this argument is left out",
        };
        let untaken = properties
            .iter()
            .filter(|it| !is_taken(it))
            .map(|it| format!("{function} has no parameter {}: {becomes}", shortened(it)));
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
        check_in(PythonRoom::Plain, parameters, by_keyword, expected);
    }

    #[track_caller]
    fn check_in(room: PythonRoom, parameters: &[&str], by_keyword: bool, expected: &[&str]) {
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
        assert_eq!(function.warnings(room, "run", &schema.unwrap()), expected, "{parameters:?}");
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
    fn the_directory_of_the_files_is_given() {
        let files = |parameters: &[&str], expected: &[&str]| check_in(PythonRoom::Files, parameters, true, expected);
        files(&["text", "limit", "sep=", "workspace"], &[]);
        files(&["workspace", "text", "limit", "sep=", "workspace="], &[]);
        files(&["arguments", "workspace"], &[]);
        files(&["text", "limit", "workspace"], &["run has no parameter sep: this argument is left out"]);
        let dict = "run gets one dict of all arguments, because arguments is no property of the schema; every call fails, because it needs more than one argument";
        check(&["arguments", "workspace"], true, &[dict]);
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
