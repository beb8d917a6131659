//! The profile of an agent: the settings that a caller chooses, and the rules for them.

use crate::callers::Level;
use crate::error::{Error, Place, Problem, Result};
use crate::ids::check_name;
use crate::registry::Risk;
use serde::Deserialize;
use utoipa::ToSchema;

const MAX_LIST: usize = 200;
const MAX_WORD_BYTES: usize = 128;

#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub name: String,
    pub capabilities: Vec<String>,
    pub max_risk: Risk,
    pub allowed_modules: Vec<String>,
    pub permission_level: Level,
    /// Whether the agent has the default tools while nothing is attached.
    pub default_tools: bool,
    /// Whether MCP shows the agent `find_tools` and `call_tool` instead of all its tools.
    pub find_tools: bool,
}

impl Profile {
    /// The profile of a new agent: the given values, and the defaults for the others.
    pub fn new(name: String, given: ProfileChange) -> Result<Self> {
        let mut profile = Self {
            name: String::new(),
            capabilities: Vec::new(),
            max_risk: Risk::Medium,
            allowed_modules: Vec::new(),
            permission_level: Level::User,
            default_tools: true,
            find_tools: false,
        };
        ProfileChange { name: Some(name), ..given }.apply(&mut profile)?;
        Ok(profile)
    }
}

/// The settings to change. A setting that is not given stays as it is.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AgentPatch)]
pub struct ProfileChange {
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    #[schema(max_items = 200)]
    pub capabilities: Option<Vec<String>>,
    pub max_risk: Option<Risk>,
    #[schema(max_items = 200)]
    pub allowed_modules: Option<Vec<String>>,
    pub permission_level: Option<Level>,
    pub default_tools: Option<bool>,
    pub find_tools: Option<bool>,
}

impl ProfileChange {
    /// Checks the change, and removes repeated words from it. The error lists every violation of the rules.
    fn checked(mut self) -> Result<Self> {
        let mut problems = Vec::new();
        let mut problem = |path: String, message: String| {
            problems.push(Problem { place: Place::Body, path, message });
        };
        if let Some(Err(message)) = self.name.as_deref().map(check_name) {
            problem("/name".into(), message);
        }
        for (field, words) in [("capabilities", &mut self.capabilities), ("allowed_modules", &mut self.allowed_modules)]
        {
            let Some(words) = words else { continue };
            if words.len() > MAX_LIST {
                problem(format!("/{field}"), format!("holds {} entries; {MAX_LIST} are allowed", words.len()));
            }
            for (index, word) in words.iter().enumerate().filter(|(_, word)| !is_word(word)) {
                let shown = word.chars().take(40).collect::<String>();
                problem(
                    format!("/{field}/{index}"),
                    format!("{shown:?} must be 1 to {MAX_WORD_BYTES} letters, digits or any of _ . : -"),
                );
            }
            let mut seen = std::collections::HashSet::new();
            words.retain(|word| seen.insert(word.clone()));
        }
        if problems.is_empty() { Ok(self) } else { Err(Error::Invalid(problems)) }
    }

    /// Applies the change to `profile`. If the change violates the rules, the error lists every violation, and
    /// `profile` stays as it is.
    pub fn apply(self, profile: &mut Profile) -> Result<()> {
        let given = self.checked()?;
        fn set<T>(field: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *field = value;
            }
        }
        set(&mut profile.name, given.name);
        set(&mut profile.capabilities, given.capabilities);
        set(&mut profile.max_risk, given.max_risk);
        set(&mut profile.allowed_modules, given.allowed_modules);
        set(&mut profile.permission_level, given.permission_level);
        set(&mut profile.default_tools, given.default_tools);
        set(&mut profile.find_tools, given.find_tools);
        Ok(())
    }
}

fn is_word(word: &str) -> bool {
    (1..=MAX_WORD_BYTES).contains(&word.len())
        && word.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.:-".contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_agent_has_the_defaults() {
        let profile = Profile::new("Clerk".into(), ProfileChange::default()).unwrap();
        assert_eq!(
            profile,
            Profile {
                name: "Clerk".into(),
                capabilities: vec![],
                max_risk: Risk::Medium,
                allowed_modules: vec![],
                permission_level: Level::User,
                default_tools: true,
                find_tools: false,
            }
        );
    }

    #[test]
    fn repeated_words_are_kept_once() {
        let change =
            ProfileChange { capabilities: Some(vec!["net".into(), "mail".into(), "net".into()]), ..Default::default() };
        assert_eq!(change.checked().unwrap().capabilities.unwrap(), ["net", "mail"]);
    }

    #[test]
    fn everything_wrong_is_told_at_once() {
        let change = ProfileChange {
            name: Some(" ".into()),
            capabilities: Some(vec!["ok".into(), "a b".into(), String::new()]),
            allowed_modules: Some(vec!["m".into(); 201]),
            ..Default::default()
        };
        let Err(Error::Invalid(problems)) = change.checked() else {
            unreachable!("it breaks the rules");
        };
        let paths = problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>();
        assert_eq!(paths, ["/name", "/capabilities/1", "/capabilities/2", "/allowed_modules"]);
    }
}
