//! Tests the comparison against the validator. It makes many pairs of small schemas, and for each pair documents at the
//! edges of both. No document may contradict the comparison's answer.
//!
//! `PEGBOARD_PAIRS` sets how many pairs are made, and `PEGBOARD_SEED` which ones.

use super::*;
use crate::registry::reference;
use jsonschema::Validator;
use serde_json::{Map, Number, json};
use std::{fmt, thread};

const PAIRS: u64 = 100_000;
const THREADS: u64 = 2;

/// How many schemas are compared with each other, and how many documents are made for each.
const HISTORY: u64 = 8;
const DOCUMENTS: usize = 12;

/// For how many pairs of a hundred the answer may be "cannot be decided".
const MAX_UNKNOWN: f64 = 5.0;

#[test]
fn no_document_contradicts_the_verdict() {
    let tally = check(setting("PEGBOARD_PAIRS", PAIRS), false);
    let share = |count: u64| 100.0 * count as f64 / tally.pairs as f64;
    assert!(share(tally.unknown) < MAX_UNKNOWN);
    assert!(share(tally.compatible) > 10.0 && share(tally.breaking) > 10.0, "the pairs are one-sided");
}

/// For these pairs the answer may be "cannot be decided" more often.
#[test]
fn rare_keywords_are_no_exception() {
    check(setting("PEGBOARD_PAIRS", PAIRS) / 10, true);
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

fn check(pairs: u64, rare: bool) -> Tally {
    let seed = setting("PEGBOARD_SEED", 1);
    let run = |thread: u64| {
        thread::spawn(move || {
            let mut tally = Tally::default();
            for history in (thread..pairs.div_ceil(HISTORY * (HISTORY - 1))).step_by(THREADS as usize) {
                // Each history has its own random numbers, so that it can be repeated.
                let mut random = Random::new(seed * 1_000_000_007 + history, rare);
                check_history(&mut random, &mut tally);
            }
            tally
        })
    };
    let mut tally = Tally::default();
    for thread in (0..THREADS).map(run).collect::<Vec<_>>() {
        tally.add(&thread.join().expect("no contradiction"));
    }
    println!("seed {seed}{}: {tally}", if rare { ", rare keywords" } else { "" });
    tally
}

#[derive(Default)]
struct Tally {
    pairs: u64,
    compatible: u64,
    breaking: u64,
    unknown: u64,
    found: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pairs, compatible, breaking, unknown, found } = self;
        write!(
            f,
            "{pairs} pairs, {compatible} compatible, {breaking} breaking for certain, {unknown} cannot be told ({:.2} %); \
             documents made from the schemas show {:.1} % of what is breaking",
            100.0 * *unknown as f64 / *pairs as f64,
            100.0 * *found as f64 / *breaking as f64,
        )
    }
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.compatible += other.compatible;
        self.breaking += other.breaking;
        self.unknown += other.unknown;
        self.found += other.found;
    }
}

/// A schema, with documents that just fit or just do not fit.
struct SchemaCase {
    schema: Value,
    validator: Validator,
    documents: Vec<Value>,
}

impl SchemaCase {
    fn new(random: &mut Random, schema: &Value) -> Self {
        let schema = closed(schema);
        let validator = jsonschema::draft202012::new(&schema).expect("a valid schema");
        let documents = (0..DOCUMENTS).map(|_| document(random, &schema)).collect();
        Self { schema, validator, documents }
    }
}

/// The history of a tool: each schema is the one before it with small changes. The last schema has nothing to do with
/// the others.
fn check_history(random: &mut Random, tally: &mut Tally) {
    let mut cases: Vec<SchemaCase> = Vec::new();
    let mut schema = sound_schema(random);
    for index in 1..=HISTORY {
        cases.push(SchemaCase::new(random, &schema));
        schema = if index == HISTORY - 1 { sound_schema(random) } else { changed(random, &schema) };
    }
    for from in 0..cases.len() {
        for to in (0..cases.len()).filter(|it| *it != from) {
            check_pair(&cases[from], &cases[to], tally);
        }
    }
}

fn check_pair(from: &SchemaCase, to: &SchemaCase, tally: &mut Tally) {
    let (obstacles, shown) = compare(&from.schema, &to.schema);
    let shows = |it: &&Value| from.validator.is_valid(it) && !to.validator.is_valid(it);
    let found = from.documents.iter().chain(&to.documents).find(shows);
    let pair = || format!("{}\n{}\n{obstacles:?}", from.schema, to.schema);
    tally.pairs += 1;
    if obstacles.iter().any(|it| it.certain) {
        tally.breaking += 1;
        tally.found += u64::from(found.is_some());
        assert_eq!(shown.len(), obstacles.iter().filter(|it| it.certain).count());
        for document in shown {
            assert!(shows(&&*document), "{document} shows nothing:\n{}", pair());
        }
    } else if obstacles.is_empty() {
        tally.compatible += 1;
        assert!(found.is_none(), "{} is not taken:\n{}", found.cloned().unwrap_or_default(), pair());
    } else {
        tally.unknown += 1;
        if std::env::var_os("PEGBOARD_SHOW").is_some() {
            println!("cannot be told:\n{}", pair());
        }
    }
}

/// Random numbers by xorshift. They are the same on every machine.
struct Random {
    state: u64,
    /// Whether schemas also use rare keywords.
    rare: bool,
}

impl Random {
    fn new(seed: u64, rare: bool) -> Self {
        let mut random = Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, rare };
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % end
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn rarely(&mut self, of: usize) -> bool {
        self.rare && self.chance(of)
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

fn sound_schema(random: &mut Random) -> Value {
    loop {
        let schema = document_schema(random);
        if is_sound(&schema) {
            return schema;
        }
    }
}

fn changed(random: &mut Random, schema: &Value) -> Value {
    loop {
        let mut changed = schema.clone();
        for _ in 0..=random.below(3) {
            change(random, &mut changed);
        }
        if is_sound(&changed) {
            return changed;
        }
    }
}

/// Whether a schema can be tested. A schema that refers to itself for the same value means nothing, and the validator
/// never returns from it.
fn is_sound(schema: &Value) -> bool {
    let mut claims = Claims::new();
    read::read(&mut claims, schema);
    schema.get("$defs").is_some() && !claims.has_cycle()
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const PATTERNS: [&str; 5] = ["^a", "b$", "^[a-c]*$", "é", "^.?$"];

/// A schema with definitions, which may refer to each other.
fn document_schema(random: &mut Random) -> Value {
    let mut schema = if random.chance(3) { schema(random, 2) } else { object(random, 2) };
    if let Some(keywords) = schema.as_object_mut() {
        let definitions = json!({"p": described(random, 1), "q": described(random, 1)});
        keywords.insert("$defs".into(), definitions);
    }
    schema
}

fn described(random: &mut Random, depth: usize) -> Value {
    if random.chance(2) { object(random, depth) } else { schema(random, depth) }
}

fn schema(random: &mut Random, depth: usize) -> Value {
    let choice = random.below(if depth == 0 { 7 } else { 15 });
    match choice {
        0 => json!({"type": kinds(random)}),
        1 | 2 => number(random),
        3 => text(random),
        4 => {
            json!({"enum": ((0..=random.below(3)).map(|_| value(random)).collect::<Vec<_>>())})
        }
        5 => json!({"const": value(random)}),
        6 => random.pick(&[
            json!(true),
            json!({}),
            json!(false),
            json!({"type": "string"}),
            json!({"type": "integer"}),
            json!({"type": "null"}),
        ]),
        7 | 8 => list(random, depth),
        9 | 10 => object(random, depth),
        11 => json!({"$ref": random.pick(&["#/$defs/p", "#/$defs/q"])}),
        12 | 13 => combination(random, depth),
        _ => {
            // Siblings.
            let mut schema = combination(random, depth);
            if let (Some(keywords), Value::Object(more)) = (schema.as_object_mut(), described(random, depth - 1)) {
                keywords.extend(more);
            }
            schema
        }
    }
}

fn kinds(random: &mut Random) -> Value {
    let names = ["null", "boolean", "integer", "number", "string", "array", "object"];
    if random.chance(2) {
        return json!(random.pick(&names));
    }
    let first = random.below(names.len());
    let second = (first + 1 + random.below(names.len() - 1)) % names.len();
    json!([names[first], names[second]])
}

fn limit(random: &mut Random) -> Value {
    if random.rarely(4) {
        return random.pick(&[
            json!(u64::MAX),
            json!(i64::MIN),
            json!(9_007_199_254_740_993_u64),
            json!(9_007_199_254_740_992.0),
            json!(1e300),
            json!(0.1),
            json!(0.3),
            json!(-2.5),
        ]);
    }
    random.pick(&[json!(0), json!(1), json!(2), json!(3), json!(2.0), json!(1.5), json!(-1), json!(0.5), json!(5)])
}

fn number(random: &mut Random) -> Value {
    let mut schema = Map::new();
    if !random.chance(4) {
        schema.insert("type".into(), random.pick(&[json!("integer"), json!("number")]));
    }
    for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
        if random.chance(3) {
            schema.insert(keyword.into(), limit(random));
        }
    }
    if random.rarely(4) {
        schema.insert("multipleOf".into(), random.pick(&[json!(0.1), json!(0.01), json!(0.3), json!(2.5), json!(7)]));
    } else if random.chance(4) {
        schema.insert(
            "multipleOf".into(),
            random.pick(&[json!(1), json!(2), json!(3), json!(0.5), json!(1.5), json!(4)]),
        );
    }
    Value::Object(schema)
}

fn sizes(random: &mut Random, schema: &mut Map<String, Value>, least: &str, most: &str) {
    for keyword in [least, most] {
        if random.chance(4) {
            schema.insert(keyword.into(), json!(random.below(4)));
        }
    }
}

fn text(random: &mut Random) -> Value {
    let mut schema = Map::new();
    if !random.chance(4) {
        schema.insert("type".into(), json!("string"));
    }
    sizes(random, &mut schema, "minLength", "maxLength");
    if random.rarely(2) {
        schema.insert("pattern".into(), json!(random.pick(&PATTERNS)));
    }
    Value::Object(schema)
}

fn list(random: &mut Random, depth: usize) -> Value {
    let mut list = Map::new();
    if !random.chance(4) {
        list.insert("type".into(), json!("array"));
    }
    sizes(random, &mut list, "minItems", "maxItems");
    if !random.chance(3) {
        list.insert("items".into(), schema(random, depth - 1));
    }
    if random.chance(4) {
        list.insert("prefixItems".into(), (0..=random.below(2)).map(|_| schema(random, depth - 1)).collect());
    }
    if random.chance(5) {
        list.insert("uniqueItems".into(), json!(true));
    }
    if random.rarely(4) {
        list.insert("contains".into(), schema(random, depth - 1));
        sizes(random, &mut list, "minContains", "maxContains");
    }
    if random.rarely(8) {
        list.insert("unevaluatedItems".into(), schema(random, depth - 1));
    }
    Value::Object(list)
}

fn object(random: &mut Random, depth: usize) -> Value {
    let mut object = Map::new();
    if !random.chance(4) {
        object.insert("type".into(), json!("object"));
    }
    if !random.chance(6) {
        let names = NAMES.iter().filter(|_| random.chance(2)).collect::<Vec<_>>();
        let properties = names.into_iter().map(|it| ((*it).to_owned(), schema(random, depth.saturating_sub(1))));
        object.insert("properties".into(), properties.collect());
    }
    if random.chance(2) {
        object.insert("required".into(), NAMES.iter().filter(|_| random.chance(3)).map(|it| json!(it)).collect());
    }
    if random.chance(3) {
        object.insert("additionalProperties".into(), schema(random, depth.saturating_sub(1)));
    }
    if random.chance(4) {
        sizes(random, &mut object, "minProperties", "maxProperties");
    }
    let inner = depth.saturating_sub(1);
    if random.rarely(4) {
        let patterns = (0..=random.below(2)).map(|_| (random.pick(&PATTERNS).to_owned(), schema(random, inner)));
        object.insert("patternProperties".into(), patterns.collect());
    }
    if random.rarely(8) {
        object.insert("propertyNames".into(), text(random));
    }
    if random.rarely(6) {
        object.insert("dependentRequired".into(), json!({random.pick(&NAMES): [random.pick(&NAMES)]}));
    }
    if random.rarely(6) {
        object.insert("dependentSchemas".into(), json!({random.pick(&NAMES): described(random, inner)}));
    }
    if random.rarely(6) {
        object.insert("unevaluatedProperties".into(), schema(random, inner));
    }
    if random.rarely(6) {
        for keyword in ["if", "then", "else"] {
            object.insert(keyword.into(), described(random, inner));
        }
    }
    Value::Object(object)
}

fn combination(random: &mut Random, depth: usize) -> Value {
    let mut parts = Vec::new();
    for _ in 0..1 + random.below(3) {
        parts.push(if random.chance(3) { object(random, depth - 1) } else { schema(random, depth - 1) });
    }
    match random.below(8) {
        0 => json!({"not": parts[0]}),
        1 | 2 => json!({"allOf": parts}),
        3..=5 => json!({"anyOf": parts}),
        _ => json!({"oneOf": parts}),
    }
}

fn value(random: &mut Random) -> Value {
    match random.below(22) {
        0 => json!(null),
        1 => json!(true),
        2 => json!(false),
        3 => json!(0),
        4 => json!(1),
        5 => json!(1.0),
        6 => json!(2),
        7 => json!(3),
        8 => json!(0.5),
        9 => json!(-1),
        10 => json!(""),
        11 => json!("a"),
        12 => json!("ab"),
        13 => json!("é"),
        14 => json!([]),
        15 => json!([1]),
        16 => json!([1, 1]),
        17 => json!(["a"]),
        18 => json!({}),
        19 => json!({"a": 1}),
        20 => json!({"a": 1.0, "b": "a"}),
        _ => json!({"c": null}),
    }
}

/// The schema with a small change somewhere inside.
fn change(random: &mut Random, schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut().filter(|it| !it.is_empty()) else {
        *schema = self::schema(random, 1);
        return;
    };
    let keyword = keywords.keys().nth(random.below(keywords.len())).cloned().unwrap_or_default();
    if random.chance(6) {
        if keyword != "$defs" {
            keywords.remove(&keyword);
        }
        return;
    }
    if random.chance(6) {
        let more = match random.below(4) {
            0 => number(random),
            1 => text(random),
            2 => object(random, 1),
            _ => list(random, 1),
        };
        let more = more.as_object().into_iter().flatten().next().map(|(name, it)| (name.clone(), it.clone()));
        keywords.extend(more);
        return;
    }
    let Some(value) = keywords.get_mut(&keyword) else { return };
    match (keyword.as_str(), value) {
        ("properties", Value::Object(fields)) => {
            let name = random.pick(&NAMES);
            match fields.get_mut(name) {
                Some(field) if !random.chance(5) => change(random, field),
                Some(_) => drop(fields.remove(name)),
                None => drop(fields.insert(name.to_owned(), self::schema(random, 1))),
            }
        }
        ("$defs", Value::Object(parts)) => {
            if let Some(part) = parts.get_mut(random.pick(&["p", "q"])) {
                change(random, part);
            }
        }
        ("required", Value::Array(names)) => {
            let name = json!(random.pick(&NAMES));
            match names.iter().position(|it| *it == name) {
                Some(index) => drop(names.remove(index)),
                None => names.push(name),
            }
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(parts)) => match random.below(4) {
            0 if parts.len() > 1 => drop(parts.remove(random.below(parts.len()))),
            1 => parts.push(self::schema(random, 1)),
            _ => {
                let index = random.below(parts.len());
                change(random, &mut parts[index]);
            }
        },
        ("enum", Value::Array(values)) => match random.below(2) {
            0 if values.len() > 1 => drop(values.remove(random.below(values.len()))),
            _ => values.push(self::value(random)),
        },
        ("type", value) => *value = kinds(random),
        ("const", value) => *value = self::value(random),
        ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", value) => *value = limit(random),
        ("multipleOf", value) => *value = random.pick(&[json!(1), json!(2), json!(4), json!(0.5)]),
        ("uniqueItems", value) => *value = json!(random.chance(2)),
        ("$ref", value) => *value = json!(random.pick(&["#/$defs/p", "#/$defs/q", "#"])),
        ("items" | "additionalProperties" | "not", value) => change(random, value),
        (_, value) if value.is_number() => *value = json!(random.below(4)),
        _ => {}
    }
}

/// A document that just fits or just does not fit a schema.
fn document(random: &mut Random, schema: &Value) -> Value {
    let mut document = instance(random, schema, schema, 4);
    if random.chance(3) {
        document = merged(document, instance(random, schema, schema, 4));
    }
    for _ in 0..random.below(3) {
        alter(random, &mut document);
    }
    document
}

/// A document that probably fits a schema.
fn instance(random: &mut Random, root: &Value, schema: &Value, depth: usize) -> Value {
    let Some(keywords) = schema.as_object().filter(|_| depth > 0) else { return value(random) };
    let mut ways: Vec<&str> = Vec::new();
    for keyword in keywords.keys() {
        ways.push(match keyword.as_str() {
            it @ ("$ref" | "allOf" | "anyOf" | "oneOf" | "enum" | "const") => it,
            "properties" | "required" | "additionalProperties" | "minProperties" => "object",
            "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" => "array",
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
            "minLength" | "maxLength" => "string",
            _ => continue,
        });
    }
    match keywords.get("type") {
        Some(Value::String(kind)) if random.chance(2) => ways = vec![kind],
        Some(Value::String(kind)) => ways.push(kind),
        Some(Value::Array(kinds)) => ways.extend(kinds.iter().filter_map(Value::as_str)),
        _ => {}
    }
    if ways.is_empty() {
        return value(random);
    }
    let way = random.pick(&ways);
    let number_at = |keyword: &str| keywords.get(keyword).and_then(Value::as_f64);
    match way {
        "$ref" => match reference::target(root, &keywords["$ref"]) {
            Some(target) => instance(random, root, target, depth - 1),
            None => Value::Null,
        },
        "allOf" => keywords["allOf"].as_array().into_iter().flatten().fold(Value::Null, |all, part| {
            let more = instance(random, root, part, depth - 1);
            merged(all, more)
        }),
        "anyOf" | "oneOf" => {
            let parts = keywords[way].as_array().cloned().unwrap_or_default();
            let part = random.pick(&parts);
            let one = instance(random, root, &part, depth - 1);
            if keywords.contains_key("properties") {
                let own = fields(random, root, keywords, depth);
                return merged(own, one);
            }
            one
        }
        "enum" => random.pick(keywords["enum"].as_array().map_or(&[][..], Vec::as_slice)),
        "const" => keywords["const"].clone(),
        "object" => fields(random, root, keywords, depth),
        "array" => elements(random, root, keywords, depth),
        "number" | "integer" => {
            let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
            let bounds: Vec<f64> = bounds.iter().filter_map(|it| number_at(it)).collect();
            let base = if bounds.is_empty() { random.below(4) as f64 } else { random.pick(&bounds) };
            let number = base + random.pick(&[0.0, 0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 10.0]);
            Number::from_f64(number).map_or(Value::Null, Value::Number)
        }
        "string" => {
            let length = number_at(random.pick(&["minLength", "maxLength"])).unwrap_or(random.below(3) as f64);
            json!("é".repeat((length as usize + random.below(3)).saturating_sub(1)))
        }
        "boolean" => json!(random.chance(2)),
        _ => Value::Null,
    }
}

fn fields(random: &mut Random, root: &Value, keywords: &Map<String, Value>, depth: usize) -> Value {
    let mut object = Map::new();
    let required = keywords.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
    let sparse = random.chance(2);
    for name in NAMES.iter().chain(&["x"]) {
        let described = keywords.get("properties").and_then(|it| it.get(*name));
        let present = if described.is_some() { !sparse || random.chance(3) } else { random.chance(8) };
        if is_required(name) || present {
            let schema = described.or(keywords.get("additionalProperties")).unwrap_or(&Value::Null);
            object.insert((*name).to_owned(), instance(random, root, schema, depth - 1));
        }
    }
    Value::Object(object)
}

fn elements(random: &mut Random, root: &Value, keywords: &Map<String, Value>, depth: usize) -> Value {
    let bound = keywords.get(random.pick(&["minItems", "maxItems"])).and_then(Value::as_u64);
    let length = (bound.unwrap_or(1) as usize + random.below(3)).saturating_sub(1);
    let mut items: Vec<Value> = Vec::new();
    for index in 0..length {
        let first = keywords.get("prefixItems").and_then(|it| it.get(index));
        let schema = first.or(keywords.get("items")).unwrap_or(&Value::Null);
        let again = !items.is_empty() && random.chance(4);
        let item = if again { items[0].clone() } else { instance(random, root, schema, depth - 1) };
        items.push(item);
    }
    Value::Array(items)
}

fn merged(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            one.extend(other);
            Value::Object(one)
        }
        (_, other) => other,
    }
}

/// A document that is a little different.
fn alter(random: &mut Random, document: &mut Value) {
    match document {
        Value::Object(fields) if !random.chance(5) => {
            let name = random.pick(&NAMES);
            match fields.get_mut(name) {
                Some(field) if !random.chance(3) => alter(random, field),
                Some(_) => drop(fields.remove(name)),
                None => drop(fields.insert(name.to_owned(), value(random))),
            }
        }
        Value::Array(items) if !random.chance(5) => match random.below(3) {
            0 => items.push(value(random)),
            1 => drop(items.pop()),
            _ => {
                if let Some(item) = items.last_mut() {
                    alter(random, item);
                }
            }
        },
        Value::Number(number) if !random.chance(4) => {
            let number = number.as_f64().unwrap_or(0.0) + random.pick(&[1.0, -1.0, 0.5]);
            *document = Number::from_f64(number).map_or(Value::Null, Value::Number);
        }
        Value::String(text) if !random.chance(4) => text.push('a'),
        _ => *document = value(random),
    }
}
