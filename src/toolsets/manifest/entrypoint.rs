//! The function that a tool runs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest entrypoint, in bytes.
const MAX_BYTES: usize = 256;

/// `module.path:function`, such as `tools.analyze:run`. The module is found from the root of the bundle, or from its
/// folder `tools/`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Entrypoint {
    /// The module, with dots: `tools.analyze`.
    pub module: String,
    /// The name of the function in the module.
    pub function: String,
}

impl Entrypoint {
    pub const RULE: &str = "must be a module and a function of it, such as tools.analyze:run";

    pub fn parse(text: &str) -> Option<Self> {
        let (module, function) = text.split_once(':')?;
        let is_entrypoint = text.len() <= MAX_BYTES && module.split('.').all(is_name) && is_name(function);
        is_entrypoint.then(|| Self { module: module.to_owned(), function: function.to_owned() })
    }

    /// The files of the bundle that Python would load the module from: the first of these that there is.
    pub fn files(&self) -> [String; 4] {
        let path = self.module.replace('.', "/");
        [
            format!("{path}/__init__.py"),
            format!("{path}.py"),
            format!("tools/{path}/__init__.py"),
            format!("tools/{path}.py"),
        ]
    }
}

impl fmt::Display for Entrypoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.module, self.function)
    }
}

impl TryFrom<String> for Entrypoint {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or(Self::RULE)
    }
}

impl From<Entrypoint> for String {
    fn from(it: Entrypoint) -> Self {
        it.to_string()
    }
}

/// Whether a text is a name in Python.
fn is_name(text: &str) -> bool {
    let is_fine = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    !text.is_empty() && text.bytes().all(is_fine) && !text.starts_with(|it: char| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entrypoint_is_a_module_and_a_function() {
        for good in ["tools.files:write_file", "a:b", "_x.y1:__z__"] {
            assert_eq!(Entrypoint::parse(good).unwrap().to_string(), good);
        }
        let long = format!("{}:f", "x".repeat(260));
        for bad in
            ["", "a", ":f", "a:", "a:b:c", "a..b:c", ".a:b", "a/b:c", "a.py:1f", "a-b:c", "a: b", "../a:b", &long]
        {
            assert_eq!(Entrypoint::parse(bad), None, "{bad}");
        }
        let files = Entrypoint::parse("a.b:run").unwrap().files();
        assert_eq!(files, ["a/b/__init__.py", "a/b.py", "tools/a/b/__init__.py", "tools/a/b.py"]);
    }
}
