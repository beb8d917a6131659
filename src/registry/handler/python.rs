//! A function in Python, and what it may use.

use super::problem;
use crate::error::{Problem, shortened};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const MAX_CODE_BYTES: usize = 256 * 1024;

/// The packages that a tool which works on files may name. The sandbox has them, whether a tool names them or not.
const KNOWN_REQUIREMENTS: [&str; 2] = ["pydantic", "covalt_toolset"];

/// `files` and `requirements` are stored only where they are used, so that older handlers stay as they are.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PythonHandler {
    pub code: String,
    pub function: String,
    /// Whether the function works on the files of the session, in the sandbox's room for files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
    /// The packages that the code needs besides the standard library.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
}

impl PythonHandler {
    /// Returns everything that is wrong with the handler in itself.
    pub(super) fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        // The limit is for the code as it is stored, in JSON.
        if Value::from(self.code.as_str()).to_string().len() > MAX_CODE_BYTES {
            problems.push(problem("/code", format!("has more than {MAX_CODE_BYTES} bytes")));
        }
        if !is_identifier(&self.function) {
            problems.push(problem("/function", "must be the name of a function"));
        }
        if !self.files && !self.requirements.is_empty() {
            problems.push(problem(
                "/requirements",
                "needs files: true, because only code that works on files has packages",
            ));
        }
        let known = KNOWN_REQUIREMENTS.join(", ");
        if self.requirements.len() > KNOWN_REQUIREMENTS.len() {
            let count = self.requirements.len();
            problems.push(problem("/requirements", format!("lists {count} packages, and there are only {known}")));
            return problems;
        }
        for (at, name) in self.requirements.iter().enumerate() {
            let place = format!("/requirements/{at}");
            if !KNOWN_REQUIREMENTS.contains(&name.as_str()) {
                let message =
                    format!("is no package of the sandbox: {} is unknown, and there are {known}", shortened(name));
                problems.push(problem(&place, message));
            } else if self.requirements[..at].contains(name) {
                problems.push(problem(&place, "is listed twice"));
            }
        }
        problems
    }
}

fn is_identifier(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        && !name.starts_with(|it: char| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: bool, requirements: &[&str], expected: &[&str]) {
        let requirements = requirements.iter().map(|it| (*it).to_owned()).collect();
        let handler = PythonHandler { code: String::new(), function: "run".into(), files, requirements };
        let places = handler.check().into_iter().map(|it| it.path).collect::<Vec<_>>();
        assert_eq!(
            places.iter().map(|it| it.rsplit("/handler").next().unwrap_or_default()).collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn requirements_are_packages_of_the_sandbox() {
        check(false, &[], &[]);
        check(true, &["pydantic", "covalt_toolset"], &[]);
        check(false, &["pydantic"], &["/requirements"]);
        check(true, &["numpy", "os"], &["/requirements/0", "/requirements/1"]);
        check(true, &["pydantic", "pydantic"], &["/requirements/1"]);
        // One problem, however many names there are.
        check(true, &["x"; 100_000], &["/requirements"]);
    }
}
