//! The rules for every registered version, whether the version comes from a registration or from a backup.

use super::handler::Handler;
use super::schema::Schema;
use super::schema_bounds::{self, SchemaFault};
use super::tool::Tool;
use crate::error::{Place, Problem, shortened};
use crate::ids::check_name;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub const MAX_SCHEMA_BYTES: usize = 64 * 1024;
const MAX_EXAMPLES: usize = 20;
const MAX_EXAMPLES_BYTES: usize = 64 * 1024;
const MAX_LIST: usize = 50;

/// The longest description of a tool that was discovered.
const MAX_FOREIGN_DESCRIPTION_CHARS: usize = 8_192;

const MAX_WORD_BYTES: usize = 128;
const MAX_RATE: u32 = 10_000;
const MAX_PROBLEMS: usize = 50;

/// How many schemas are remembered as good, and how large each may be. The memory of an isolate is bounded.
const MAX_KNOWN: usize = 64;
const MAX_KNOWN_BYTES: usize = 4 * 1024;

/// Returns everything that breaks a rule, except for the rules about the handler in itself ([`Handler::check`]).
pub fn problems(tool: &Tool, handler: &Handler) -> Vec<Problem> {
    let mut found = RuleProblems(Vec::new());
    found.words(tool);
    found.numbers(tool);
    let drafts = if tool.source.is_foreign() { Drafts::Any } else { Drafts::Only202012 };
    let parameters = found.schema("/parameters_schema", &tool.parameters_schema, drafts);
    if let Some(schema) = &tool.returns_schema {
        found.schema("/returns_schema", schema, drafts);
    }
    found.examples(tool, parameters.as_deref());
    found.side_effects(tool);
    if let Some(parameters) = &parameters {
        found.0.extend(handler.check_parameters(&parameters.property_names()));
    }
    for name in handler.credentials().into_iter().filter(|it| !tool.credentials_required.iter().any(|own| own == it)) {
        found.add("/credentials_required", format!("must hold {name}, which a header names"));
    }
    found.0.truncate(MAX_PROBLEMS);
    found.0
}

struct RuleProblems(Vec<Problem>);

impl RuleProblems {
    fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem { place: Place::Body, path: path.into(), message: message.into() });
    }

    fn words(&mut self, tool: &Tool) {
        if let Err(message) = check_name(&tool.name) {
            self.add("/name", message);
        }
        let chars = tool.description.chars().count();
        if tool.source.is_foreign() {
            if chars > MAX_FOREIGN_DESCRIPTION_CHARS {
                let message = format!("must have at most {MAX_FOREIGN_DESCRIPTION_CHARS} characters, not {chars}");
                self.add("/description", message);
            }
        } else if !(10..=500).contains(&chars) || tool.description.trim().is_empty() {
            self.add("/description", format!("must have 10 to 500 characters, not {chars}"));
        }
        if tool.registered_by.len() > MAX_WORD_BYTES {
            self.add("/registered_by", format!("must have at most {MAX_WORD_BYTES} bytes"));
        }
        if !is_category(&tool.category) {
            self.add("/category", "must be 1 to 64 lower-case letters, digits, _ or -");
        }
        for (field, words) in [
            ("required_capabilities", &tool.required_capabilities),
            ("credentials_required", &tool.credentials_required),
        ] {
            if words.len() > MAX_LIST {
                self.add(format!("/{field}"), format!("holds {} entries; {MAX_LIST} are allowed", words.len()));
            }
            for (index, _) in words.iter().enumerate().filter(|(_, word)| !is_word(word)) {
                let message = format!("must be 1 to {MAX_WORD_BYTES} letters, digits or any of _ . : -");
                self.add(format!("/{field}/{index}"), message);
            }
        }
    }

    fn numbers(&mut self, tool: &Tool) {
        if !(1..=3_600).contains(&tool.timeout_seconds) {
            self.add("/timeout_seconds", format!("must be from 1 to 3600, not {}", tool.timeout_seconds));
        }
        if let Some(rate) = tool.rate_limit
            && !(1..=MAX_RATE).contains(&rate)
        {
            self.add("/rate_limit", format!("must be from 1 to {MAX_RATE} calls a minute, not {rate}"));
        }
    }

    /// Compiles a schema, or takes it from the schemas that have kept all rules before: a backup holds thousands of
    /// versions, and many of them have the same schema. If the schema is invalid, adds a problem and returns none.
    fn schema(&mut self, path: &str, text: &str, drafts: Drafts) -> Option<Rc<Schema>> {
        thread_local! {
            static KNOWN: RefCell<HashMap<String, Rc<Schema>>> = RefCell::default();
        }
        if let Some(known) = KNOWN.with_borrow(|it| it.get(text).cloned()) {
            return Some(known);
        }
        let before = self.0.len();
        let schema = Rc::new(self.new_schema(path, text, drafts)?);
        if self.0.len() == before && text.len() <= MAX_KNOWN_BYTES && !text.contains("$schema") {
            KNOWN.with_borrow_mut(|known| {
                if known.len() >= MAX_KNOWN {
                    known.clear();
                }
                known.insert(text.to_owned(), schema.clone());
            });
        }
        Some(schema)
    }

    /// Compiles a schema. If the schema is invalid, adds a problem and returns none.
    fn new_schema(&mut self, path: &str, text: &str, drafts: Drafts) -> Option<Schema> {
        if text.len() > MAX_SCHEMA_BYTES {
            self.add(path, format!("has {} bytes; {MAX_SCHEMA_BYTES} are allowed", text.len()));
            return None;
        }
        match check_schema(text, drafts) {
            Ok(schema) => Some(schema),
            Err((place, reason)) => {
                self.add(format!("{path}{place}"), reason);
                None
            }
        }
    }

    fn examples(&mut self, tool: &Tool, parameters: Option<&Schema>) {
        if tool.examples.len() > MAX_EXAMPLES {
            self.add("/examples", format!("holds {} entries; {MAX_EXAMPLES} are allowed", tool.examples.len()));
            return;
        }
        let bytes = serde_json::to_string(&tool.examples).map_or(0, |it| it.len());
        if bytes > MAX_EXAMPLES_BYTES {
            self.add("/examples", format!("has {bytes} bytes; {MAX_EXAMPLES_BYTES} are allowed"));
        }
        for (index, example) in tool.examples.iter().enumerate() {
            if !example.params.is_object() {
                self.add(format!("/examples/{index}/params"), "must be an object");
            } else if let Some(schema) = parameters {
                for it in schema.check(example.params.clone()).violations {
                    self.add(format!("/examples/{index}/params{}", it.path), it.message);
                }
            }
        }
    }

    fn side_effects(&mut self, tool: &Tool) {
        if tool.side_effects.len() > MAX_LIST {
            self.add("/side_effects", format!("holds {} entries; {MAX_LIST} are allowed", tool.side_effects.len()));
        }
        for (index, effect) in tool.side_effects.iter().enumerate() {
            if !is_word(&effect.effect_type) {
                let message = format!("must be 1 to {MAX_WORD_BYTES} letters, digits or any of _ . : -");
                self.add(format!("/side_effects/{index}/effect_type"), message);
            }
            for (field, text) in [("description", &effect.description), ("scope", &effect.scope)] {
                if text.is_empty() || text.len() > 500 {
                    self.add(format!("/side_effects/{index}/{field}"), "must have 1 to 500 bytes");
                }
            }
        }
    }
}

/// The credentials that a tool asks for, as far as the rules allow so many and such names. So a list of any size can be
/// looked up before the rules are checked.
pub fn possible_credentials(tool: &Tool) -> Vec<String> {
    tool.credentials_required.iter().filter(|it| is_word(it)).take(MAX_LIST).cloned().collect()
}

/// The drafts of JSON Schema that a schema may name. Every schema is read as one of 2020-12.
#[derive(Clone, Copy, PartialEq)]
pub enum Drafts {
    Only202012,
    /// Other people's servers name the draft that their library happens to write.
    Any,
}

/// Compiles the text of a schema. If it breaks a rule, returns the place inside the schema, and the reason.
pub fn check_schema(text: &str, drafts: Drafts) -> Result<Schema, (String, String)> {
    let whole = |reason: String| (String::new(), reason);
    let at = |SchemaFault { path, reason }| (shortened(&path), reason);
    let definition = serde_json::from_str::<Value>(text).map_err(|cause| whole(format!("is not JSON: {cause}")))?;
    if !definition.is_object() {
        return Err(whole("must be a JSON Schema that is an object".into()));
    }
    if drafts == Drafts::Only202012 && names_other_draft(&definition) {
        let reason = "must be https://json-schema.org/draft/2020-12/schema, if it is given";
        return Err(("/$schema".into(), reason.into()));
    }
    schema_bounds::check_structure(&definition).map_err(at)?;
    let schema = Schema::compile(definition)
        .map_err(|cause| whole(format!("is not a usable JSON Schema 2020-12: {}", shortened(&cause))))?;
    schema_bounds::check_patterns(schema.definition()).map_err(at)?;
    Ok(schema)
}

/// Whether a text can be one of a tool's capabilities, credentials or kinds of effect.
fn is_word(word: &str) -> bool {
    (1..=MAX_WORD_BYTES).contains(&word.len())
        && word.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.:-".contains(&it))
}

fn is_category(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(super::definition::is_id_byte)
}

/// Whether a schema says that it is one of another draft than 2020-12.
pub fn names_other_draft(schema: &Value) -> bool {
    let is_ours = |it: &str| it.trim_end_matches('#') == "https://json-schema.org/draft/2020-12/schema";
    schema.get("$schema").is_some_and(|it| !it.as_str().is_some_and(is_ours))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;
    use crate::registry::tool::{Example, SideEffect};
    use serde_json::json;

    #[track_caller]
    fn check(change: impl FnOnce(&mut Tool), expected: &[&str]) {
        let mut tool = fixture("word_count");
        tool.description = "Counts the words of a text".into();
        change(&mut tool);
        let handler = Handler::Builtin { key: "read_file".into() };
        let problems = problems(&tool, &handler);
        assert_eq!(problems.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), expected, "{problems:?}");
    }

    #[test]
    fn lengths_ranges_and_patterns_are_held() {
        check(|_| (), &[]);
        check(|it| it.name = "  ".into(), &["/name"]);
        for description in ["too short", &" ".repeat(20), &"x".repeat(501)] {
            check(|it| it.description = description.to_owned(), &["/description"]);
        }
        check(|it| it.description = "ä".repeat(500), &[]);
        for category in ["", "Mail", "a b", &"x".repeat(65)] {
            check(|it| it.category = category.to_owned(), &["/category"]);
        }
        for seconds in [0, 3_601] {
            check(|it| it.timeout_seconds = seconds, &["/timeout_seconds"]);
        }
        for rate in [0, 10_001] {
            check(|it| it.rate_limit = Some(rate), &["/rate_limit"]);
        }
        check(|it| it.required_capabilities = vec!["net".into(), "a b".into()], &["/required_capabilities/1"]);
        check(|it| it.required_capabilities = vec!["net".into(); 51], &["/required_capabilities"]);
    }

    #[test]
    fn schemas_must_be_schemas_of_ours() {
        let bad = [
            "{".to_owned(),
            "true".to_owned(),
            r#"{"type": "objekt"}"#.to_owned(),
            r#"{"$ref": "https://example.com/x.json"}"#.to_owned(),
            r##"{"$ref": "#/$defs/none"}"##.to_owned(),
            json!({"description": "x".repeat(70_000)}).to_string(),
        ];
        for schema in bad {
            check(|it| it.returns_schema = Some(schema.clone()), &["/returns_schema"]);
            check(|it| it.parameters_schema = schema, &["/parameters_schema"]);
        }
        let old = r#"{"$schema": "http://json-schema.org/draft-07/schema#"}"#;
        check(|it| it.parameters_schema = old.to_owned(), &["/parameters_schema/$schema"]);
        let ours = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}"#;
        check(|it| it.parameters_schema = ours.to_owned(), &[]);
    }

    #[test]
    fn examples_must_be_calls_that_could_be_made() {
        let schema = json!({"properties": {"limit": {"type": "integer", "default": 5}}, "required": ["limit"]});
        let example = |params: Value| Example { description: "One".into(), params, expected_output: None };
        let with = |params: Value, expected: &[&str]| {
            check(
                |it| {
                    it.parameters_schema = schema.to_string();
                    it.examples = vec![example(json!({})), example(params)];
                },
                expected,
            );
        };
        with(json!({"limit": 7}), &[]);
        with(json!({"limit": "x"}), &["/examples/1/params/limit"]);
        with(json!("x"), &["/examples/1/params"]);
    }

    #[test]
    fn side_effects_say_what_where_and_how() {
        let effect = |effect_type: &str, scope: &str| SideEffect {
            effect_type: effect_type.to_owned(),
            description: "Writes".into(),
            reversible: true,
            scope: scope.to_owned(),
        };
        check(|it| it.side_effects = vec![effect("file_write", "exports/")], &[]);
        check(
            |it| it.side_effects = vec![effect("file write", "")],
            &["/side_effects/0/effect_type", "/side_effects/0/scope"],
        );
    }
}
