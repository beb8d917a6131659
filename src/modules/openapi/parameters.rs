//! The parameters of an operation: which become arguments, and where each argument goes.

use super::document::Document;
use super::schemas::Schemas;
use crate::outgoing::fault_of_header;
use crate::registry::QueryStyle;
use serde_json::Value;

/// Headers that OpenAPI itself sets by other means. A parameter with such a name is to be ignored.
const IGNORED_HEADERS: [&str; 3] = ["accept", "authorization", "content-type"];

/// A parameter that becomes an argument.
#[derive(Debug, PartialEq)]
pub struct Parameter<'a> {
    pub name: &'a str,
    pub place: Place,
    pub is_required: bool,
    pub schema: Option<&'a Value>,
    pub description: Option<&'a str>,
    pub example: Option<&'a Value>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Path,
    Query(Option<QueryStyle>),
    Header,
}

/// The parameters of an operation, and notes about those that were left out.
#[derive(Default)]
pub struct Parameters<'a> {
    pub taken: Vec<Parameter<'a>>,
    pub notes: Vec<String>,
}

impl<'a> Parameters<'a> {
    /// Reads the parameters of a path and of its operation. One of the operation replaces one of the path with the same
    /// name and place. Fails if a parameter that is required cannot become an argument.
    pub fn of(document: &'a Document, item: &'a Value, operation: &'a Value) -> Result<Self, String> {
        let schemas = Schemas::of(document);
        let mut given: Vec<(&str, &str, &Value)> = Vec::new();
        for level in [item, operation] {
            for parameter in level.get("parameters").and_then(Value::as_array).into_iter().flatten() {
                let parameter = document.followed(parameter)?;
                let text = |name: &str| parameter.get(name).and_then(Value::as_str).unwrap_or_default();
                let (name, place) = (text("name"), text("in"));
                match given.iter_mut().find(|it| it.0 == name && it.1 == place) {
                    Some(earlier) => earlier.2 = parameter,
                    None => given.push((name, place, parameter)),
                }
            }
        }
        let mut parameters = Self::default();
        for (name, place, parameter) in given {
            let is_required = place == "path" || parameter.get("required") == Some(&Value::Bool(true));
            match place_of(name, place, parameter, &schemas) {
                Ok(None) => {}
                Ok(Some(place)) => parameters.taken.push(Parameter {
                    name,
                    place,
                    is_required,
                    schema: schema_of(parameter),
                    description: parameter.get("description").and_then(Value::as_str),
                    example: parameter.get("example"),
                }),
                // An admin can send a cookie with the module's headers.
                Err(fault) if is_required && place != "cookie" => {
                    return Err(format!("its parameter {} {fault}", shown(name)));
                }
                Err(fault) => parameters.notes.push(format!("its parameter {} is left out: it {fault}", shown(name))),
            }
        }
        Ok(parameters)
    }
}

pub fn shown(name: &str) -> String {
    name.chars().take(64).collect()
}

/// The place of a parameter in the request. None, if the parameter is to be ignored.
fn place_of(name: &str, place: &str, parameter: &Value, schemas: &Schemas<'_>) -> Result<Option<Place>, String> {
    if name.is_empty() {
        return Err("has no name".to_owned());
    }
    let style = parameter.get("style").and_then(Value::as_str);
    match place {
        "path" => match style.unwrap_or("simple") {
            "simple" => Ok(Some(Place::Path)),
            other => Err(format!("is written into the path in the style {}, which is not supported", shown(other))),
        },
        "header" if IGNORED_HEADERS.iter().any(|it| name.eq_ignore_ascii_case(it)) => Ok(None),
        "header" => match fault_of_header(name, "") {
            Some(fault) => Err(fault.to_owned()),
            None => Ok(Some(Place::Header)),
        },
        "query" => query_style(parameter, style, schemas).map(|it| Some(Place::Query(it))),
        "cookie" => Err("is a cookie".to_owned()),
        other => Err(format!("has the unknown place {}", shown(other))),
    }
}

fn query_style(parameter: &Value, style: Option<&str>, schemas: &Schemas<'_>) -> Result<Option<QueryStyle>, String> {
    if parameter.get("content").is_some() {
        return Ok(Some(QueryStyle::Json));
    }
    let style = style.unwrap_or("form");
    let explode = parameter.get("explode").and_then(Value::as_bool).unwrap_or(style == "form");
    let kind = parameter.get("schema").and_then(|it| schemas.type_of(it));
    match (style, kind.as_deref(), explode) {
        ("form", Some("array"), false) => Ok(Some(QueryStyle::Comma)),
        ("form", Some("object"), true) => Ok(Some(QueryStyle::Fields)),
        ("form", Some("object"), false) => {
            Err("is an object that is written with commas, which is not supported".to_owned())
        }
        ("form", _, _) | ("spaceDelimited" | "pipeDelimited", _, true) => Ok(None),
        ("spaceDelimited", _, false) => Ok(Some(QueryStyle::Space)),
        ("pipeDelimited", _, false) => Ok(Some(QueryStyle::Pipe)),
        ("deepObject", _, _) => Ok(Some(QueryStyle::Deep)),
        (other, _, _) => Err(format!("has the unknown style {}", shown(other))),
    }
}

/// A parameter has a schema, or a media type with a schema.
fn schema_of(parameter: &Value) -> Option<&Value> {
    let of_content = || parameter.get("content")?.as_object()?.values().next()?.get("schema");
    parameter.get("schema").or_else(of_content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Document {
        let components = json!({
            "parameters": {"Limit": {"name": "limit", "in": "query", "schema": {"type": "integer"}}},
            "schemas": {"Ids": {"type": "array"}, "Filter": {"type": ["object", "null"]}},
        });
        Document::read(&json!({"openapi": "3.1.0", "components": components}).to_string()).unwrap()
    }

    #[track_caller]
    fn place(parameter: Value, expected: Result<Option<Place>, &str>) {
        let document = document();
        let text = |name: &str| parameter[name].as_str().unwrap_or_default();
        let found = place_of(text("name"), text("in"), &parameter, &Schemas::of(&document));
        match (found, expected) {
            (Err(fault), Err(said)) => assert!(fault.contains(said), "{parameter}: {fault}"),
            (found, expected) => assert_eq!(found, expected.map_err(str::to_owned), "{parameter}"),
        }
    }

    #[test]
    fn each_parameter_has_the_place_and_style_that_openapi_says() {
        let query = |more: Value| {
            let mut parameter = json!({"name": "q", "in": "query"});
            parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            parameter
        };
        let styled = |style| Ok(Some(Place::Query(style)));
        place(query(json!({})), styled(None));
        place(query(json!({"schema": {"type": "array"}})), styled(None));
        place(query(json!({"schema": {"type": "array"}, "explode": false})), styled(Some(QueryStyle::Comma)));
        place(
            query(json!({"schema": {"$ref": "#/components/schemas/Ids"}, "explode": false})),
            styled(Some(QueryStyle::Comma)),
        );
        place(query(json!({"schema": {"$ref": "#/components/schemas/Filter"}})), styled(Some(QueryStyle::Fields)));
        place(query(json!({"schema": {"type": "object"}, "explode": false})), Err("commas"));
        place(query(json!({"style": "spaceDelimited"})), styled(Some(QueryStyle::Space)));
        place(query(json!({"style": "pipeDelimited"})), styled(Some(QueryStyle::Pipe)));
        place(query(json!({"style": "pipeDelimited", "explode": true})), styled(None));
        place(query(json!({"style": "deepObject", "explode": true})), styled(Some(QueryStyle::Deep)));
        place(query(json!({"content": {"application/json": {}}})), styled(Some(QueryStyle::Json)));
        place(query(json!({"style": "tabular"})), Err("unknown style tabular"));
        place(json!({"name": "id", "in": "path"}), Ok(Some(Place::Path)));
        place(json!({"name": "id", "in": "path", "style": "matrix"}), Err("matrix"));
        place(json!({"name": "X-Trace", "in": "header"}), Ok(Some(Place::Header)));
        place(json!({"name": "authorization", "in": "header"}), Ok(None));
        place(json!({"name": "Host", "in": "header"}), Err("set by"));
        place(json!({"name": "a b", "in": "header"}), Err("not the name of a header"));
        place(json!({"name": "session", "in": "cookie"}), Err("cookie"));
        place(json!({"name": "x", "in": "body"}), Err("unknown place"));
        place(json!({"in": "query"}), Err("no name"));
    }

    #[test]
    fn parameters_of_the_operation_replace_those_of_the_path() {
        let document = document();
        let item = json!({"parameters": [
            {"name": "id", "in": "path", "description": "Of the path"},
            {"name": "id", "in": "query"},
            {"$ref": "#/components/parameters/Limit"},
        ]});
        let operation = json!({"parameters": [
            {"name": "id", "in": "path", "description": "Of the operation"},
            {"name": "session", "in": "cookie", "required": true},
        ]});
        let parameters = Parameters::of(&document, &item, &operation).unwrap();
        let found = parameters.taken.iter().map(|it| (it.name, it.place, it.is_required)).collect::<Vec<_>>();
        let query = Place::Query(None);
        assert_eq!(found, [("id", Place::Path, true), ("id", query, false), ("limit", query, false)]);
        assert_eq!(parameters.taken[0].description, Some("Of the operation"));
        assert_eq!(parameters.notes, ["its parameter session is left out: it is a cookie"]);
        let fails =
            |parameter: Value| Parameters::of(&document, &json!({}), &json!({"parameters": [parameter]})).is_err();
        assert!(fails(json!({"name": "q", "in": "query", "style": "x", "required": true})));
        assert!(fails(json!({"$ref": "#/components/parameters/None"})));
        assert!(fails(json!({"$ref": "other.yaml#/x"})));
    }
}
