//! Counts how often `jsonschema` really applies a schema to a value, with a keyword that counts. The corpus of hostile
//! schemas must stay within the steps that [`super::validation_cost`] promises.

use super::bounded_pattern::NamePatterns;
use super::rules::{Drafts, check_schema};
use super::schema::Schema;
use super::validation_cost::{MAX_STEPS, SchemaCost};
use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::{Map, Value, json};
use std::cell::Cell;

#[path = "../../tests/fixtures/hostile_schemas.rs"]
mod hostile_schemas;

const KEYWORD: &str = "x-step";

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

impl<'i> Keyword<'i> for Counting {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        STEPS.set(STEPS.get() + 1);
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        STEPS.set(STEPS.get() + 1);
        true
    }
}

pub fn with_counting(options: ValidationOptions<'_>) -> ValidationOptions<'_> {
    options.with_keyword(KEYWORD, |_: &Map<String, Value>, _: &Value, _| {
        Ok(Box::new(Counting) as Box<dyn for<'i> Keyword<'i>>)
    })
}

/// Adds the counting keyword to every schema in a schema.
fn counted(schema: &Value) -> Value {
    let mut places = Vec::new();
    super::subschemas::for_each(schema, &mut String::new(), &mut |_, place| places.push(place.to_owned()));
    let mut counted = schema.clone();
    for place in places {
        if let Some(Value::Object(keywords)) = counted.pointer_mut(&place) {
            keywords.insert(KEYWORD.into(), json!(true));
        }
    }
    counted
}

/// A small part of a document, so that its check is not refused.
fn part_of(document: &Value) -> Value {
    match &document["x"] {
        Value::Array(elements) => json!({"x": elements.iter().take(3).collect::<Vec<_>>()}),
        Value::Object(fields) => {
            json!({"x": fields.iter().take(50).map(|(name, it)| (name.clone(), it.clone())).collect::<Map<_, _>>()})
        }
        Value::String(text) => json!({"x": text[..2_000]}),
        other => json!({"x": other}),
    }
}

#[test]
fn the_count_before_a_check_is_an_upper_bound() {
    for shape in hostile_schemas::corpus() {
        if check_schema(&shape.schema.to_string(), Drafts::Only202012).is_err() {
            continue;
        }
        let definition = counted(&shape.schema);
        let document = part_of(&shape.document);
        let cost = SchemaCost::of(&definition);
        let steps = cost.count(&definition, &NamePatterns::of(&definition), &document);
        // A small document is checked without a count, because its check takes few steps at the most.
        let is_low = cost.is_low_for(&document);
        let schema = Schema::compile(definition).unwrap();
        STEPS.set(0);
        let violations = schema.violations(&document);
        let counted = STEPS.get();
        assert!(counted <= u64::from(steps.fits) + u64::from(steps.errors), "{}: {counted}, {steps:?}", shape.name);
        let is_refused = violations.first().is_some_and(|it| it.message.contains("too large for its schema"));
        assert_eq!(is_refused, !is_low && steps.fits > MAX_STEPS, "{}: {steps:?}", shape.name);
        assert!(!is_low || counted <= MAX_STEPS.into(), "{}: {counted} steps of a small document", shape.name);
    }
}

#[test]
fn hostile_schemas_are_refused_or_stay_within_their_steps() {
    let corpus = hostile_schemas::corpus();
    assert!(corpus.len() >= 40, "{}", corpus.len());
    let mut refused = 0;
    for shape in corpus {
        if let Err((place, reason)) = check_schema(&shape.schema.to_string(), Drafts::Only202012) {
            println!("{}: refused at {place:?}: {reason}", shape.name);
            refused += 1;
            continue;
        }
        let schema = Schema::compile(counted(&shape.schema)).unwrap();
        STEPS.set(0);
        let violations = schema.check(shape.document).violations;
        let steps = STEPS.get();
        let first = violations.first().map(|it| crate::error::shortened(&it.message));
        println!("{}: {steps} applications, {first:?}", shape.name);
        assert!(steps <= MAX_STEPS.into(), "{} took {steps}", shape.name);
    }
    assert!(refused >= 10, "{refused}");
}
