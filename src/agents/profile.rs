//! The profile of an agent: the settings that a caller chooses, and the rules for them.

use crate::callers::Level;
use crate::error::{Error, Place, Problem, Result};
use crate::ids::{check_model_name, check_name};
use crate::registry::Risk;
use serde::Deserialize;
use utoipa::ToSchema;

const MAX_LIST: usize = 200;
const MAX_WORD_BYTES: usize = 128;
const MAX_PROMPT_BYTES: usize = 32 * 1024;
const MAX_STEPS: u32 = 64;
const MAX_TEMPERATURE: f64 = 2.0;

/// The number that clears `temperature`. No word is left for it: 0 is a temperature, and `null` means "not given".
const NO_TEMPERATURE: f64 = -1.0;

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
    /// What the playground tells the agent's model before the conversation.
    pub system_prompt: Option<String>,
    /// The name of the agent's model in the playground.
    pub model: Option<String>,
    /// How often a turn of the playground asks the model at most.
    pub max_steps: Option<u32>,
    pub temperature: Option<f64>,
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
            system_prompt: None,
            model: None,
            max_steps: None,
            temperature: None,
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
    /// What the playground tells the agent's model before the conversation, up to 32,768 bytes. An empty text clears the
    /// prompt.
    #[schema(max_length = 32768)]
    pub system_prompt: Option<String>,
    /// The name of the agent's model in the playground. An empty text clears the name, and the workspace's model is used.
    #[schema(max_length = 200)]
    pub model: Option<String>,
    /// How often a turn of the playground asks the model at most, 1 to 64. 0 clears the number, and 16 is used.
    #[schema(minimum = 0, maximum = 64)]
    pub max_steps: Option<u32>,
    /// The temperature of the model in the playground, 0 to 2. -1 clears the number, and the model's own is used.
    #[schema(minimum = -1, maximum = 2)]
    pub temperature: Option<f64>,
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
        if let Some(message) = self.system_prompt.as_deref().and_then(prompt_fault) {
            problem("/system_prompt".into(), message);
        }
        if let Some(Err(message)) = self.model.as_deref().map(check_model_name) {
            problem("/model".into(), message);
        }
        if self.max_steps.is_some_and(|it| it > MAX_STEPS) {
            problem("/max_steps".into(), format!("must be 1 to {MAX_STEPS}, or 0 for the default"));
        }
        if self.temperature.is_some_and(|it| it != NO_TEMPERATURE && !(0.0..=MAX_TEMPERATURE).contains(&it)) {
            problem("/temperature".into(), format!("must be 0 to {MAX_TEMPERATURE}, or -1 for the model's own"));
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
        let text = |it: Option<String>| it.map(|it| Some(it).filter(|it| !it.is_empty()));
        set(&mut profile.system_prompt, text(given.system_prompt));
        set(&mut profile.model, text(given.model));
        set(&mut profile.max_steps, given.max_steps.map(|it| Some(it).filter(|it| *it > 0)));
        set(&mut profile.temperature, given.temperature.map(|it| Some(it).filter(|it| *it != NO_TEMPERATURE)));
        Ok(())
    }
}

fn prompt_fault(prompt: &str) -> Option<String> {
    if prompt.len() > MAX_PROMPT_BYTES {
        return Some(format!("holds {} bytes; {MAX_PROMPT_BYTES} are allowed", prompt.len()));
    }
    prompt.contains('\0').then(|| "holds a NUL character".to_owned())
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
                system_prompt: None,
                model: None,
                max_steps: None,
                temperature: None,
            }
        );
    }

    #[test]
    fn the_settings_of_the_model_can_be_cleared() {
        let given = |prompt: &str, model: &str, steps, temperature| ProfileChange {
            system_prompt: Some(prompt.into()),
            model: Some(model.into()),
            max_steps: Some(steps),
            temperature: Some(temperature),
            ..Default::default()
        };
        let mut profile = Profile::new("Clerk".into(), given("Be brief.", "@cf/a:b", 64, 0.0)).unwrap();
        let full = profile.clone();
        assert_eq!((full.system_prompt.as_deref(), full.model.as_deref()), (Some("Be brief."), Some("@cf/a:b")));
        assert_eq!((full.max_steps, full.temperature), (Some(64), Some(0.0)));
        ProfileChange::default().apply(&mut profile).unwrap();
        assert_eq!(profile, full);
        given("", "", 0, -1.0).apply(&mut profile).unwrap();
        assert_eq!(profile, Profile::new("Clerk".into(), ProfileChange::default()).unwrap());
        let change = ProfileChange { temperature: Some(-0.5), ..Default::default() };
        assert!(change.apply(&mut profile).is_err());
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
            system_prompt: Some("x".repeat(32_769)),
            model: Some(" m".into()),
            max_steps: Some(65),
            temperature: Some(2.5),
            ..Default::default()
        };
        let Err(Error::Invalid(problems)) = change.checked() else {
            unreachable!("it breaks the rules");
        };
        let paths = problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>();
        assert_eq!(
            paths,
            [
                "/name",
                "/capabilities/1",
                "/capabilities/2",
                "/allowed_modules",
                "/system_prompt",
                "/model",
                "/max_steps",
                "/temperature"
            ]
        );
    }
}
