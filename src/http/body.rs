//! Reads JSON bodies. A body that fits its type is read once, and nothing else is looked at. Any other body is examined
//! with the schema that `openapi.json` has for the type: the response tells all faults of the body at once.
//!
//! Fields that the schema marks as `readOnly` are taken aside. A body with such fields is what a response has shown.

use super::extract::parse_object;
use super::site::OPENAPI;
use crate::error::{Error, Place, Problem, Result, add_new, escaped, shortened};
use crate::json_size::{MAX_VALUES, values};
use crate::nearest::{did_you_mean, nearest};
use crate::read_only::ReadOnly;
use crate::registry::schema::Schema;
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use utoipa::ToSchema;

/// How many faults one response names.
const MAX_PROBLEMS: usize = 50;

const SCHEMAS: &str = "/components/schemas/";

/// A body, and its read-only fields.
pub struct Given<T> {
    pub body: T,
    pub read_only: ReadOnly,
}

/// A body that cannot be read.
pub struct FaultyBody {
    pub problems: Vec<Problem>,
    pub read_only: ReadOnly,
    /// The body with stand-ins for its faulty parts.
    repaired: Value,
}

impl FaultyBody {
    fn unexamined(first: Problem) -> Box<Self> {
        Box::new(Self { problems: vec![first], read_only: ReadOnly::default(), repaired: Value::Null })
    }

    /// The parts of the body that can be read, so that the rules for them can be checked too. The other parts have
    /// stand-ins.
    pub fn rest<T: DeserializeOwned>(&self) -> Option<T> {
        reread(&self.repaired).ok()
    }
}

/// Reads a body. Fails with all of its faults.
pub fn read_json<T: DeserializeOwned + ToSchema>(bytes: &[u8]) -> Result<T> {
    read_json_up_to(MAX_VALUES, bytes)
}

/// Reads a body with another limit on its number of values. The faults of a body above the usual limit are not
/// collected: the first one is told.
pub fn read_json_up_to<T: DeserializeOwned + ToSchema>(max_values: usize, bytes: &[u8]) -> Result<T> {
    let given = read_given::<T>(max_values, bytes).map_err(|faulty| Error::Invalid(faulty.problems))?;
    // A body of a type without read-only fields has none.
    given.read_only.check(&[])?;
    Ok(given.body)
}

/// Reads a body, and takes its read-only fields aside.
pub fn read_given<T: DeserializeOwned + ToSchema>(
    max_values: usize,
    bytes: &[u8],
) -> std::result::Result<Given<T>, Box<FaultyBody>> {
    let first = match parse_object::<T>(max_values, bytes) {
        Ok(body) => return Ok(Given { body, read_only: ReadOnly::default() }),
        Err(first) => first,
    };
    let Some(examined) = ExaminedBody::of(&T::name(), bytes) else { return Err(FaultyBody::unexamined(first)) };
    match reread::<T>(&examined.document) {
        Ok(body) if !examined.read_only.is_empty() => Ok(Given { body, read_only: ReadOnly::new(examined.read_only) }),
        // The text is wrong in a way that a parsed document does not show, such as a field that is there twice.
        Ok(_) => Err(FaultyBody::unexamined(first)),
        Err(next) => Err(Box::new(examined.faults(next))),
    }
}

/// Reads a document from its text, because reading each type from a [`Value`] too would enlarge the bundle by a fiftieth.
/// The caller did not send this text, so the fault has no position in it.
fn reread<T: DeserializeOwned>(document: &Value) -> std::result::Result<T, Problem> {
    parse_object(MAX_VALUES, document.to_string().as_bytes()).map_err(|mut fault| {
        if let Some(end) = fault.message.rfind(" at line ") {
            fault.message.truncate(end);
        }
        fault
    })
}

/// A body that did not fit its type.
struct ExaminedBody {
    schema: Rc<Schema>,
    /// The body without its read-only fields.
    document: Value,
    read_only: Map<String, Value>,
}

impl ExaminedBody {
    /// None if the body is no JSON object, or too large to be examined.
    fn of(name: &str, bytes: &[u8]) -> Option<Self> {
        if values(bytes) > MAX_VALUES {
            return None;
        }
        let schema = schema_of(name)?;
        let mut fields = serde_json::from_str::<Map<String, Value>>(std::str::from_utf8(bytes).ok()?).ok()?;
        let mut read_only = Map::new();
        for name in schema.definition()["properties"].as_object()?.iter().filter(is_read_only).map(|(name, _)| name) {
            read_only.extend(fields.shift_remove_entry(name));
        }
        Some(Self { schema, document: Value::Object(fields), read_only })
    }

    /// All faults. `first` is the fault at which reading has ended; the schema may not know it.
    fn faults(self, first: Problem) -> FaultyBody {
        let mut problems = Vec::new();
        for error in self.schema.errors(&self.document).into_iter().flatten() {
            self.add(&error, &mut problems);
        }
        let mut told = Vec::new();
        add_new(&mut told, problems);
        add_new(&mut told, vec![first]);
        told.truncate(MAX_PROBLEMS);
        let repaired = self.repaired(&told);
        FaultyBody { problems: told, read_only: ReadOnly::new(self.read_only), repaired }
    }

    fn add(&self, error: &ValidationError<'_>, problems: &mut Vec<Problem>) {
        let at = error.instance_path().as_str();
        let mut problem = |name: Option<&str>, message: String| {
            let path = name.map_or_else(|| at.to_owned(), |it| format!("{at}/{}", escaped(it)));
            problems.push(Problem { place: Place::Body, path: shortened(&path), message });
        };
        let definition = self.schema.definition();
        let keyword = definition.pointer(error.schema_path().as_str());
        match error.kind() {
            ValidationErrorKind::Required { property } => problem(property.as_str(), "is required".to_owned()),
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let around = error.schema_path().as_str().rsplit_once('/').map_or("", |(around, _)| around);
                let known = known_fields(definition.pointer(around));
                for name in unexpected {
                    let suggestion = did_you_mean(nearest(name, known.iter().copied()));
                    problem(Some(name), format!("is unknown: the fields are {}{suggestion}", known.join(", ")));
                }
            }
            ValidationErrorKind::Type { .. } => problem(None, format!("must be {}", types(keyword))),
            ValidationErrorKind::Enum { options } => problem(None, format!("must be one of {}", words(options))),
            // A value that may be null is described as one of two forms, of which null is the second.
            ValidationErrorKind::OneOfNotValid { context } | ValidationErrorKind::AnyOf { context } => {
                context.iter().take(1).flatten().for_each(|it| self.add(it, problems));
            }
            ValidationErrorKind::Pattern { pattern } => problem(None, format!("must match {pattern}")),
            _ => problem(None, error.masked_with("The value").to_string()),
        }
    }

    /// The document without its faulty fields. Those that are required have a stand-in of the right type.
    fn repaired(&self, problems: &[Problem]) -> Value {
        let Value::Object(mut fields) = self.document.clone() else { return Value::Null };
        let is_faulty = |name: &str| {
            let own = format!("/{}", escaped(name));
            problems.iter().any(|it| it.path == own || it.path.starts_with(&format!("{own}/")))
        };
        fields.retain(|name, _| !is_faulty(name));
        let definition = self.schema.definition();
        for name in definition["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                fields.insert(name.to_owned(), stand_in(definition, &definition["properties"][name]));
            }
        }
        Value::Object(fields)
    }
}

/// The schema of a type in `openapi.json`, with the schemas that it refers to. An isolate keeps it after the first
/// faulty body.
fn schema_of(name: &str) -> Option<Rc<Schema>> {
    thread_local! {
        static KNOWN: RefCell<HashMap<String, Rc<Schema>>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(schema) = known.get(name) {
            return Some(schema.clone());
        }
        let description = serde_json::from_str::<Value>(OPENAPI).ok()?;
        let schemas = description.pointer("/components/schemas")?.as_object()?;
        let schema = Rc::new(Schema::compile(with_references(schemas, name)?).ok()?);
        known.insert(name.to_owned(), schema.clone());
        Some(schema)
    })
}

fn with_references(schemas: &Map<String, Value>, name: &str) -> Option<Value> {
    let mut definition = schemas.get(name)?.clone();
    let mut needed = Map::new();
    let mut open = references(&definition);
    while let Some(name) = open.pop() {
        if !needed.contains_key(&name) {
            let schema = schemas.get(&name)?;
            open.extend(references(schema));
            needed.insert(name, schema.clone());
        }
    }
    definition.as_object_mut()?.insert("components".into(), json!({"schemas": needed}));
    Some(definition)
}

/// The names of the schemas that a schema refers to.
fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(|it| it.as_str()?.strip_prefix('#')?.strip_prefix(SCHEMAS));
            own.map(str::to_owned).into_iter().chain(fields.values().flat_map(references)).collect()
        }
        Value::Array(parts) => parts.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn is_read_only((_, property): &(&String, &Value)) -> bool {
    property["readOnly"] == true
}

/// The fields that a request may set.
fn known_fields(schema: Option<&Value>) -> Vec<&str> {
    let properties = schema.and_then(|it| it["properties"].as_object()).into_iter().flatten();
    properties.filter(|it| !is_read_only(it)).map(|(name, _)| name.as_str()).collect()
}

/// The types that a keyword `type` allows, in words. Null means absent, so it is not offered.
fn types(keyword: Option<&Value>) -> String {
    let word = |it: &Value| {
        Some(match it.as_str()? {
            "string" => "a string",
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "true or false",
            "array" => "an array",
            "object" => "an object",
            _ => return None,
        })
    };
    let allowed = match keyword {
        Some(Value::Array(types)) => types.iter().filter_map(word).collect(),
        Some(one) => word(one).into_iter().collect(),
        None => Vec::new(),
    };
    allowed.join(" or ")
}

fn words(options: &Value) -> String {
    let words =
        options.as_array().into_iter().flatten().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    words.collect::<Vec<_>>().join(", ")
}

/// A value that serde takes for a property of this schema.
fn stand_in(definition: &Value, property: &Value) -> Value {
    let referred = property["$ref"].as_str().and_then(|it| definition.pointer(it.strip_prefix('#')?));
    let schema = referred.unwrap_or(property);
    if let Some(word) = schema["enum"].get(0) {
        return word.clone();
    }
    match schema["type"].as_str() {
        Some("string") => "".into(),
        Some("integer" | "number") => 0.into(),
        Some("boolean") => false.into(),
        Some("array") => json!([]),
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::agents::AgentIn;
    use crate::registry::ToolIn;

    #[track_caller]
    fn told<T: DeserializeOwned + ToSchema>(body: Value) -> Vec<String> {
        let faulty = read_given::<T>(MAX_VALUES, body.to_string().as_bytes()).err().unwrap();
        faulty.problems.iter().map(|it| format!("{} {}", it.path, it.message)).collect()
    }

    #[test]
    fn all_faults_of_a_body_are_told_at_once() {
        let body = json!({
            "nmae": "x", "capabilities": ["net", 1], "max_risk": "huge", "default_tools": "yes", "a/b": 1,
        });
        let fields = "capabilities, max_risk, allowed_modules, permission_level, default_tools, find_tools, \
            system_prompt, model, max_steps, temperature";
        let mut told = told::<AgentIn>(body);
        told.sort_unstable();
        let unknown = format!("is unknown: the fields are name, {fields}");
        assert_eq!(
            told,
            [
                format!("/a~1b {unknown}"),
                "/capabilities/1 must be a string".to_owned(),
                "/default_tools must be true or false".to_owned(),
                "/max_risk must be one of safe, low, medium, high, critical".to_owned(),
                "/name is required".to_owned(),
                format!("/nmae {unknown}. Did you mean name?"),
            ]
        );
    }

    #[test]
    fn a_fault_shows_no_value() {
        let told = told::<AgentIn>(json!({"name": {"pin": "hunter2"}, "max_risk": "hunter2", "find_tools": "hunter2"}));
        assert_eq!(told.len(), 3);
        assert!(!told.join("").contains("hunter2"), "{told:?}");
    }

    #[test]
    fn the_parts_that_can_be_read_are_kept() {
        let body = json!({"id": "A", "name": 7, "description": "x", "risk_level": "huge", "nmae": "x"});
        let faulty = read_given::<ToolIn>(MAX_VALUES, body.to_string().as_bytes()).err().unwrap();
        assert_eq!(faulty.repaired["risk_level"], Value::Null);
        assert_eq!((&faulty.repaired["name"], &faulty.repaired["handler"]), (&json!(""), &json!({})));
        assert!(faulty.rest::<ToolIn>().is_some());
    }

    #[test]
    fn a_field_that_is_there_twice_is_a_fault() {
        let faulty = read_given::<AgentIn>(MAX_VALUES, br#"{"name": "a", "name": "b"}"#).err().unwrap();
        assert_eq!(faulty.problems[0].path, "/name");
    }
}
