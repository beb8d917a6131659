//! The regular expressions of a schema, with a bound on their work.
//!
//! Patterns come from those who register tools, and texts from those who call them. `jsonschema` runs patterns on the
//! engine of the crate `regex`, which never backtracks: one match takes at most the length of the text times the size of
//! the compiled pattern. This file bounds both the translation of patterns, at registration, and the sum of these products, at
//! a call.

use jsonschema::{Keyword, PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The largest compiled pattern, in bytes.
const MAX_COMPILED_BYTES: u64 = 1024 * 1024;

/// The sizes by which compiled patterns are told apart start here, and each is four times the one before.
const LEAST_COMPILED_BYTES: u64 = 1024;

/// The most work of all matches in one check: for each match, the bytes of the text times the bytes of the compiled
/// pattern. A state of a compiled pattern has about 20 bytes, so this is 500 million steps: some seconds, at worst.
const MAX_WORK: u64 = 10_000_000_000;

/// The most work of translating all patterns of one schema: see [`check_translation`].
const MAX_TRANSLATION: usize = 4_000_000;

/// The length of `\s` in the engine's syntax, which is the longest of all translated escapes.
const ESCAPE_BYTES: usize = 200;

/// Compiles a schema. References lead nowhere but into the schema itself. The matches of its patterns are charged to the
/// budget.
pub fn build(definition: &Value, budget: &Arc<PatternBudget>) -> Result<Validator, String> {
    check_translation(definition)?;
    let budget = budget.clone();
    let options = jsonschema::draft202012::options()
        .with_pattern_options(engine(MAX_COMPILED_BYTES))
        .with_keyword("pattern", move |_, pattern, _| BoundedPattern::compile(pattern, budget.clone()));
    #[cfg(test)]
    let options = super::counted_steps::with_counting(options);
    options.build(definition).map_err(|cause| match cause.instance_path().as_str() {
        "" => cause.to_string(),
        place => format!("at {place}: {cause}"),
    })
}

fn engine(max_bytes: u64) -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex().size_limit(usize::try_from(max_bytes).unwrap_or(usize::MAX))
}

/// One pattern alone, if its compiled form has at most so many bytes.
fn build_alone(pattern: &Value, max_bytes: u64) -> Result<Validator, ValidationError<'static>> {
    jsonschema::draft202012::options().with_pattern_options(engine(max_bytes)).build(&json!({ "pattern": pattern }))
}

/// How many bytes a compiled pattern has at most. `jsonschema` tells the size of a compiled pattern only by refusing one
/// that is larger than its limit, so the limit is raised until the pattern compiles.
pub fn compiled_bytes(pattern: &str) -> u64 {
    let pattern = Value::from(pattern);
    let mut bytes = LEAST_COMPILED_BYTES;
    while bytes < MAX_COMPILED_BYTES && build_alone(&pattern, bytes).is_err() {
        bytes *= 4;
    }
    bytes
}

/// The work that the patterns of a schema may still do in the present check of a document.
///
/// A match that does not fit is not made. Its keyword says "no match", and `not` would turn this into a match, so the
/// budget remembers the pattern, and the whole document is refused, wherever the keyword stands.
#[derive(Default)]
pub struct PatternBudget {
    spent: AtomicU64,
    exceeded: Mutex<Option<String>>,
}

impl PatternBudget {
    /// Begins the check of another document.
    pub fn renew(&self) {
        self.spent.store(0, Relaxed);
        *self.exceeded.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The first pattern that the budget did not suffice for.
    pub fn exceeded(&self) -> Option<String> {
        self.exceeded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the work of one match, if there is enough left. After the first match that did not fit, no match is made.
    fn take(&self, work: u64, pattern: &Value) -> bool {
        let spent = self.spent.load(Relaxed).saturating_add(work);
        if spent <= MAX_WORK {
            self.spent.store(spent, Relaxed);
            return true;
        }
        self.spent.store(u64::MAX, Relaxed);
        self.exceeded.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| pattern.to_string());
        false
    }
}

/// The keyword `pattern`: `jsonschema`'s own, within the budget of the schema.
struct BoundedPattern {
    pattern: Value,
    validator: Validator,
    bytes: OnceLock<u64>,
    budget: Arc<PatternBudget>,
}

impl BoundedPattern {
    fn compile<'a>(
        pattern: &'a Value,
        budget: Arc<PatternBudget>,
    ) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
        let validator = build_alone(pattern, MAX_COMPILED_BYTES)?;
        Ok(Box::new(Self { pattern: pattern.clone(), validator, bytes: OnceLock::new(), budget }))
    }

    fn may_match(&self, instance: &Value) -> bool {
        instance.as_str().is_none_or(|text| {
            let bytes = *self.bytes.get_or_init(|| compiled_bytes(self.pattern.as_str().unwrap_or_default()));
            self.budget.take(bytes.saturating_mul(text.len() as u64), &self.pattern)
        })
    }
}

impl<'i> Keyword<'i> for BoundedPattern {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.may_match(instance) {
            return self.validator.validate(instance);
        }
        Err(ValidationError::custom(format!("The text is too long to be matched with the pattern {}", self.pattern)))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        self.may_match(instance) && self.validator.is_valid(instance)
    }
}

/// The patterns that a schema holds against the names of properties.
#[derive(Default)]
pub struct NamePatterns {
    patterns: Vec<String>,
    bytes: OnceLock<HashMap<String, u64>>,
}

impl NamePatterns {
    pub fn of(definition: &Value) -> Self {
        let mut patterns = Vec::new();
        for_each_pattern(definition, &mut |place, pattern| {
            if place == Place::Name {
                patterns.push(pattern.to_owned());
            }
        });
        Self { patterns, bytes: OnceLock::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    fn bytes(&self) -> &HashMap<String, u64> {
        self.bytes.get_or_init(|| self.patterns.iter().map(|it| (it.clone(), compiled_bytes(it))).collect())
    }

    /// The bytes of one compiled pattern.
    pub fn bytes_of(&self, pattern: &str) -> u64 {
        self.bytes().get(pattern).copied().unwrap_or(MAX_COMPILED_BYTES)
    }

    /// Whether a name in the document is too long to be matched with one of the patterns.
    pub fn are_too_much_for(&self, document: &Value) -> bool {
        let largest = if self.is_empty() { None } else { self.bytes().values().max() };
        largest.is_some_and(|bytes| bytes.saturating_mul(longest_name(document) as u64) > MAX_WORK)
    }
}

fn longest_name(document: &Value) -> usize {
    match document {
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| name.len().max(longest_name(field))).max().unwrap_or_default()
        }
        Value::Array(elements) => elements.iter().map(longest_name).max().unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Refuses patterns that take too long to translate. `jsonschema` writes `\d`, `\w`, `\s` and `\c` in the engine's syntax
/// one at a time, and reads the whole pattern again after each: 64 KB of `\s` would take hours.
fn check_translation(definition: &Value) -> Result<(), String> {
    let mut work = 0_usize;
    for_each_pattern(definition, &mut |_, pattern| {
        let escapes = translated_escapes(pattern);
        work = work.saturating_add(escapes.saturating_mul(pattern.len() + escapes * ESCAPE_BYTES));
    });
    if work > MAX_TRANSLATION {
        return Err("its patterns have too many escapes: write [0-9] instead of \\d, for example".into());
    }
    Ok(())
}

fn translated_escapes(pattern: &str) -> usize {
    let mut rest = pattern.chars();
    let mut count = 0;
    while let Some(next) = rest.next() {
        if next == '\\' && matches!(rest.next(), Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'c')) {
            count += 1;
        }
    }
    count
}

/// What a pattern is held against.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Text,
    Name,
}

/// Every pattern of a schema. Some others may be among them: a constant may look like a schema.
fn for_each_pattern(schema: &Value, found: &mut impl FnMut(Place, &str)) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("pattern", Value::String(pattern)) => found(Place::Text, pattern),
                    ("patternProperties", Value::Object(parts)) => {
                        parts.keys().for_each(|pattern| found(Place::Name, pattern));
                    }
                    _ => {}
                }
                for_each_pattern(value, found);
            }
        }
        Value::Array(parts) => parts.iter().for_each(|part| for_each_pattern(part, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::schema::Schema;

    fn messages(definition: Value, document: Value) -> Vec<String> {
        let schema = Schema::compile(definition).unwrap();
        schema.violations(&document).into_iter().map(|it| it.message).collect()
    }

    #[test]
    fn a_long_text_is_matched_with_a_small_pattern() {
        let text = "a".repeat(5_000_000);
        assert!(messages(json!({"pattern": "^[a-z]+$"}), json!(text)).is_empty());
        assert_eq!(messages(json!({"pattern": "^[b-z]+$"}), json!(text)).len(), 1);
    }

    /// A quarter of a megabyte when it is compiled, and all its states are alive in a text of `a`.
    const LARGE: &str = "^(a?){4000}$";

    #[test]
    fn a_long_text_is_not_matched_with_a_large_pattern() {
        let text = "a".repeat(200_000);
        for definition in [
            json!({ "pattern": LARGE }),
            json!({"properties": {"a": {"pattern": LARGE}}}),
            json!({"propertyNames": {"pattern": LARGE}}),
            json!({"patternProperties": {LARGE: true}}),
            json!({"patternProperties": {LARGE: true}, "additionalProperties": false}),
            json!({"patternProperties": {LARGE: true}, "unevaluatedProperties": false}),
        ] {
            let document = match definition.get("pattern") {
                Some(_) => json!(text),
                None => json!({"a": text, (text.as_str()): 1}),
            };
            let messages = messages(definition.clone(), document);
            assert!(messages.len() == 1 && messages[0].contains("too long"), "{definition}: {messages:?}");
        }
    }

    #[test]
    fn a_short_text_is_matched_with_a_large_pattern() {
        assert!(messages(json!({ "pattern": LARGE }), json!("a".repeat(3_000))).is_empty());
        let names = json!({"patternProperties": {LARGE: false}});
        assert_eq!(messages(names, json!({"aaa": 1})).len(), 1);
    }

    #[test]
    fn the_violation_of_a_pattern_stands_at_its_place() {
        let schema = Schema::compile(json!({"properties": {"x": {"items": {"pattern": "^b"}}}})).unwrap();
        let violations = schema.violations(&json!({"x": ["b", "a"]}));
        assert_eq!(violations.len(), 1);
        assert_eq!(violations[0].path, "/x/1");
        assert_eq!(violations[0].message, r#""a" does not match "^b""#);
    }

    #[test]
    fn a_pattern_that_is_slow_to_translate_is_refused() {
        for slow in [r"\s".repeat(1_000), r"\cA".repeat(10_000), r"\d".repeat(2_000)] {
            for definition in [json!({ "pattern": slow }), json!({"patternProperties": {slow: true}})] {
                assert!(Schema::compile(definition).err().unwrap().contains("too many escapes"));
            }
        }
        let many = json!({"allOf": vec![json!({"pattern": r"\s".repeat(100)}); 50]});
        assert!(Schema::compile(many).is_err(), "the patterns of a schema are counted together");
        for quick in [r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$".to_owned(), r"\.".repeat(2_000)] {
            assert!(Schema::compile(json!({ "pattern": quick })).is_ok());
        }
    }

    #[test]
    fn patterns_are_those_of_the_library() {
        for (pattern, matching, other) in [
            (r"^\p{Emoji}$", "😀", "a"),
            (r"^\p{Alphabetic}+$", "aä", "a1"),
            (r"^\p{Script=Greek}+$", "αβ", "ab"),
            (r"^\w+$", "a_1", "ä"),
        ] {
            assert!(messages(json!({ "pattern": pattern }), json!(matching)).is_empty(), "{pattern}");
            assert_eq!(messages(json!({ "pattern": pattern }), json!(other)).len(), 1, "{pattern}");
        }
    }
}
