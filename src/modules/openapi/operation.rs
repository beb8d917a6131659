//! One operation of a document as a tool.

use super::body::{Body, BodyFound};
use super::document::Document;
use super::fitting::fitted;
use super::parameters::{Parameter, Parameters, Place, shown};
use super::schemas::Schemas;
use super::servers::base_url;
use crate::callers::Level;
use crate::registry::{Handler, RestHandler, RestMethod, Risk, UrlTemplate};
use crate::upstreams::{OfferedTool, has_hidden};
use serde_json::{Map, Value, json};

const MAX_NAME_CHARS: usize = 200;
const MAX_DESCRIPTION_CHARS: usize = 8_192;

/// An operation as it stands in the document.
pub struct Operation<'a> {
    pub method: RestMethod,
    pub path: &'a str,
    pub item: &'a Value,
    pub value: &'a Value,
}

impl<'a> Operation<'a> {
    pub fn id(&self) -> Option<&'a str> {
        self.value.get("operationId").and_then(Value::as_str)
    }

    /// The operation as warnings name it.
    pub fn title(&self) -> String {
        self.id().map_or_else(|| format!("{} {}", self.method, self.path), str::to_owned).chars().take(200).collect()
    }

    pub fn tags(&self) -> impl Iterator<Item = &'a str> {
        self.value.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    fn text(&self, field: &str) -> &'a str {
        let of = |level: &'a Value| level.get(field).and_then(Value::as_str).filter(|it| !it.trim().is_empty());
        of(self.value).or_else(|| of(self.item)).unwrap_or_default().trim()
    }

    fn name(&self) -> String {
        let name = Some(self.text("summary")).filter(|it| !it.is_empty()).map_or_else(|| self.title(), str::to_owned);
        name.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_NAME_CHARS).collect()
    }

    fn description(&self) -> String {
        let (summary, description) = (self.text("summary"), self.text("description"));
        let whole = match (summary, description) {
            ("", "") => format!("{} {}", self.method, self.path),
            (summary, "") => summary.to_owned(),
            (summary, description) if description.starts_with(summary) => description.to_owned(),
            (summary, description) => format!("{summary}\n\n{description}"),
        };
        whole.chars().take(MAX_DESCRIPTION_CHARS).collect()
    }
}

/// A tool, and notes about the parts of its operation that were left out.
pub struct BuiltTool {
    pub tool: OfferedTool,
    pub notes: Vec<String>,
}

/// Makes a tool of an operation, or returns the reason why there is none.
///
/// The schemas of responses are not taken over: many APIs break their own, and a result that breaks its `returns_schema`
/// is refused.
pub fn build<'a>(
    operation: &Operation<'a>,
    document: &'a Document,
    document_url: &str,
    schemas: &mut Schemas<'a>,
) -> Result<BuiltTool, String> {
    let base = base_url(document_url, [operation.value, operation.item, document.root()])?;
    // Some documents tell variants of a path apart by a fragment, which is never sent.
    let path = operation.path.split('#').next().unwrap_or_default();
    let handler = RestHandler { method: operation.method, ..RestHandler::get(&format!("{base}{path}")) };
    let mut arguments =
        Arguments { handler, properties: Map::new(), required: Vec::new(), refers_to: Vec::new(), notes: Vec::new() };
    let parameters = Parameters::of(document, operation.item, operation.value)?;
    arguments.notes.extend(parameters.notes);
    arguments.add_parameters(parameters.taken, schemas)?;
    match Body::of(document, operation.method, operation.value)? {
        BodyFound::None => {}
        BodyFound::Taken(body) => arguments.add_body(body, schemas)?,
        BodyFound::LeftOut(fault) => arguments.notes.push(format!("its body is left out: it {fault}")),
    }
    let Arguments { handler, properties, required, refers_to, mut notes } = arguments;
    let names = properties.keys().map(String::as_str).collect::<Vec<_>>();
    if let Some(problem) = handler.check().into_iter().chain(handler.check_parameters(&names)).next() {
        return Err(format!("{} {}", problem.path, problem.message));
    }
    let schema = whole_schema(properties, required, schemas.definitions(refers_to)?);
    let (name, description) = (operation.name(), operation.description());
    if has_hidden(&name) || has_hidden(&description) || has_hidden(operation.path) || holds_hidden(&schema) {
        return Err("its texts hold control, bidirectional or tag characters".to_owned());
    }
    let (parameters_schema, lost) = fitted(schema)?;
    notes.extend(lost.into_iter().map(str::to_owned));
    let tool = OfferedTool {
        name,
        description,
        parameters_schema,
        returns_schema: None,
        handler: Handler::Rest(handler),
        risk_level: risk(operation.method),
        required_permission: Level::Guest,
        requires_approval: false,
        timeout_seconds: None,
        side_effects: Vec::new(),
        examples: Vec::new(),
    };
    Ok(BuiltTool { tool, notes })
}

fn risk(method: RestMethod) -> Risk {
    match method {
        RestMethod::Get | RestMethod::Head => Risk::Safe,
        RestMethod::Post | RestMethod::Put | RestMethod::Patch => Risk::Medium,
        RestMethod::Delete => Risk::High,
    }
}

fn whole_schema(properties: Map<String, Value>, required: Vec<String>, definitions: Map<String, Value>) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = false.into();
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    schema
}

/// Whether a text in the value, or the name of a field, holds hidden characters.
fn holds_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => has_hidden(text),
        Value::Array(items) => items.iter().any(holds_hidden),
        Value::Object(fields) => fields.iter().any(|(name, it)| has_hidden(name) || holds_hidden(it)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The arguments of a tool, as they are collected.
struct Arguments {
    handler: RestHandler,
    properties: Map<String, Value>,
    required: Vec<String>,
    refers_to: Vec<String>,
    notes: Vec<String>,
}

impl Arguments {
    fn add_parameters(&mut self, parameters: Vec<Parameter<'_>>, schemas: &Schemas<'_>) -> Result<(), String> {
        let url = self.handler.url.clone();
        let template = UrlTemplate::parse(&url).map_err(|fault| format!("its URL {fault}"))?;
        let in_path = template.parameters().collect::<Vec<_>>();
        let is_described = |name: &str| parameters.iter().any(|it| it.place == Place::Path && it.name == name);
        let undescribed =
            in_path.iter().filter(|it| !is_described(it)).map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for parameter in &parameters {
            let name = parameter.name;
            if parameter.place == Place::Path && !in_path.contains(&name) {
                self.notes.push(format!("its parameter {} is left out: the path does not have it", shown(name)));
                continue;
            }
            if self.properties.contains_key(name) || (parameter.place != Place::Path && in_path.contains(&name)) {
                self.leave_out_twin(name, parameter.is_required)?;
                continue;
            }
            match parameter.place {
                Place::Path => {}
                Place::Header => self.handler.header_params.push(name.to_owned()),
                Place::Query(style) => {
                    self.handler.query.push(name.to_owned());
                    self.handler.styles.extend(style.map(|it| (name.to_owned(), it)));
                }
            }
            self.add(name, parameter.is_required, parameter.schema, parameter.description, parameter.example, schemas)?;
        }
        for name in undescribed {
            if !self.properties.contains_key(&name) {
                self.add(&name, true, Some(&json!({"type": "string"})), None, None, schemas)?;
            }
        }
        Ok(())
    }

    fn add_body(&mut self, body: Body<'_>, schemas: &Schemas<'_>) -> Result<(), String> {
        const BODY: &str = "body";
        if self.properties.contains_key(BODY) {
            return Err("it has a body and a parameter that is named body too".to_owned());
        }
        self.handler.body = body.form;
        self.handler.content_type = body.content_type;
        self.add(BODY, body.is_required, body.schema, body.description, None, schemas)
    }

    /// An argument has one place. Of two parameters with the same name, the second is left out.
    fn leave_out_twin(&mut self, name: &str, is_required: bool) -> Result<(), String> {
        let fault = format!("its parameter {} comes twice, in different places", shown(name));
        if is_required {
            return Err(fault);
        }
        self.notes.push(format!("{fault}; the second is left out"));
        Ok(())
    }

    fn add(
        &mut self,
        name: &str,
        is_required: bool,
        schema: Option<&Value>,
        description: Option<&str>,
        example: Option<&Value>,
        schemas: &Schemas<'_>,
    ) -> Result<(), String> {
        let mut schema = schema.and_then(Value::as_object).cloned().unwrap_or_default();
        if let Some(description) = description.map(str::trim).filter(|it| !it.is_empty()) {
            schema.insert("description".to_owned(), description.into());
        }
        if let Some(example) = example.filter(|_| !schema.contains_key("examples")) {
            schema.insert("example".to_owned(), example.clone());
        }
        let mut translated = schemas.translated(&Value::Object(schema))?;
        self.refers_to.append(&mut translated.refers_to);
        self.properties.insert(name.to_owned(), translated.schema);
        if is_required {
            self.required.push(name.to_owned());
        }
        Ok(())
    }
}
