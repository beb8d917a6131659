//! Makes `openapi.json`, which `/openapi.json` serves: the attributes of the handlers, and what is common to all
//! routes. The document is made on the host, so that the Worker need not carry the code that makes it.

use super::{DescribedRoutes, extract::MAX_BODY_BYTES};
use serde_json::{Value, json};
use utoipa::OpenApi;

/// The error responses of every route under `/api`, besides those that its handler describes.
const REFUSALS: [(&str, &str); 8] = [
    ("400", "The request is wrong: `error.details.problems` says where"),
    ("401", "No token, or one that is not valid in this workspace"),
    ("403", "The token does not allow this request"),
    ("404", "The workspace has no such thing"),
    ("413", "The body is too large, or the workspace's quota is used up"),
    ("421", "In open mode, the Host is neither this machine's nor one of `OPEN_HOSTS`"),
    ("500", "A fault of the Worker; `error.details.request_id` finds it in the log"),
    ("503", "Something that the request needs is not available now"),
];

/// The examples of parameters and bodies. They refer to the workspace `sample`, which `scripts/dev` loads, and
/// `tests/it/examples.rs` sends them all.
const EXAMPLES: &str = include_str!("../../samples/examples.json");

/// The whole document.
pub fn document() -> Value {
    let mut document = json!(DescribedRoutes::openapi());
    document["openapi"] = "3.1.0".into();
    document["info"] = json!({
        "title": "Pegboard",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "The tool registry that AI agents run on, at the edge.",
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    });
    document["components"]["securitySchemes"] = json!({"bearer": {"type": "http", "scheme": "bearer"}});
    document["components"]["schemas"]["Error"] = error_schema();
    document["components"]["parameters"]["Workspace"] = json!({
        "name": "X-Workspace-Id",
        "in": "header",
        "required": true,
        "description": "The workspace that the request is about",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
        "example": "sample",
    });
    close_shown_agents(&mut document["components"]["schemas"]);
    add_read_only_fields(&mut document["components"]["schemas"]);
    // A preview is a tool with further fields, so it has both forms.
    let switched = &mut document["components"]["schemas"]["SwitchedOut"];
    switched["anyOf"] = switched["oneOf"].take();
    switched.as_object_mut().into_iter().for_each(|it| drop(it.shift_remove("oneOf")));
    // utoipa describes a part that may be absent as one that may be null.
    document["components"]["schemas"]["Restored"]["allOf"][0] =
        json!({"anyOf": [{"$ref": "#/components/schemas/RestorePreview"}, {"description": "No dry run"}]});
    let examples = serde_json::from_str::<Value>(EXAMPLES).unwrap();
    for (path, item) in document["paths"].as_object_mut().into_iter().flatten() {
        for operation in item.as_object_mut().into_iter().flat_map(|it| it.values_mut()) {
            complete(path, operation);
            add_examples(operation, &examples);
        }
    }
    document
}

/// The agent of a response has the fields of the record and further ones. The record's schema takes no others, so it cannot
/// be a part of the larger schema, which repeats its fields instead.
fn close_shown_agents(schemas: &mut Value) {
    let mut shown = schemas["AgentOut"].clone();
    let own = schemas["AgentShown"].take();
    shown["description"] = own["description"].clone();
    for part in own["allOf"].as_array().into_iter().flatten().filter(|it| it.get("properties").is_some()) {
        let properties = part["properties"].as_object().into_iter().flatten();
        for (name, property) in properties {
            shown["properties"][name] = property.clone();
        }
        let required = part["required"].as_array().into_iter().flatten().cloned();
        shown["required"].as_array_mut().into_iter().for_each(|it| it.extend(required.clone()));
    }
    schemas["AgentShown"] = shown;
}

/// Adds the examples of one operation: its own parameters, those that all operations share, and its bodies.
fn add_examples(operation: &mut Value, examples: &Value) {
    let own = &examples["operations"][operation["operationId"].as_str().unwrap_or_default()];
    for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        if let Some(example) = own["parameters"].get(name).or(examples["parameters"].get(name)) {
            parameter["example"] = example.clone();
        }
    }
    for (kind, content) in
        operation.pointer_mut("/requestBody/content").and_then(Value::as_object_mut).into_iter().flatten()
    {
        if let Some(example) = own.get(if kind == "application/x-ndjson" { "lines" } else { "body" }) {
            content["example"] = example.clone();
        }
    }
}

/// The bodies that may repeat the fields of a response, and these responses.
const REPEATED: [(&str, &str); 12] = [
    ("ToolIn", "ToolOut"),
    ("AgentIn", "AgentShown"),
    ("AgentPatch", "AgentShown"),
    ("AttachmentIn", "AttachedOut"),
    ("ConfigIn", "AttachedOut"),
    ("CredentialIn", "CredentialOut"),
    ("ModuleIn", "ModuleDetails"),
    ("ModulePatch", "ModuleDetails"),
    ("McpServerIn", "McpServerDetails"),
    ("McpServerPatch", "McpServerDetails"),
    ("OverrideIn", "OverrideOut"),
    ("TokenIn", "TokenOut"),
];

/// Adds the fields that only responses have to the bodies that may repeat them. `http::body` takes them aside.
fn add_read_only_fields(schemas: &mut Value) {
    let described = json!({
        "readOnly": true,
        "description": "As responses show it: ignored if it is equal, refused if it differs.",
    });
    for (given, shown) in REPEATED {
        let names = property_names(schemas, &schemas[shown]);
        let Some(properties) = schemas[given]["properties"].as_object_mut() else { continue };
        for name in names {
            properties.entry(name).or_insert_with(|| described.clone());
        }
    }
}

/// The properties of a schema, also of the schemas that it is made of.
fn property_names(schemas: &Value, schema: &Value) -> Vec<String> {
    let own = schema["properties"].as_object().into_iter().flat_map(|it| it.keys().cloned());
    let parts = schema["allOf"].as_array().into_iter().flatten().flat_map(|it| property_names(schemas, it));
    let referred = schema["$ref"].as_str().and_then(|it| schemas.get(it.rsplit('/').next()?));
    own.chain(parts).chain(referred.into_iter().flat_map(|it| property_names(schemas, it))).collect()
}

/// Adds to one operation what all operations have.
fn complete(path: &str, operation: &mut Value) {
    let refusal = |description: &str| {
        json!({
            "description": description,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        })
    };
    if path.ends_with("/mcp") {
        complete_mcp(path, operation);
    }
    if path.starts_with("/api/") {
        operation["security"] = json!([{"bearer": []}, {}]);
        let workspace = json!({"$ref": "#/components/parameters/Workspace"});
        match operation["parameters"].as_array_mut() {
            Some(parameters) => parameters.insert(0, workspace),
            None => operation["parameters"] = json!([workspace]),
        }
        for (status, description) in REFUSALS {
            let described = operation["responses"][status]["content"]["application/json"].get("schema").cloned();
            operation["responses"][status] = refusal(description);
            // The handler itself responds with the same status, for another reason.
            if let Some(own) = described {
                let schema = &mut operation["responses"][status]["content"]["application/json"]["schema"];
                *schema = json!({"anyOf": [own, schema.take()]});
            }
        }
    }
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        if status.starts_with('4') && response.get("content").is_none() {
            *response = refusal(response["description"].as_str().unwrap_or_default());
        }
    }
}

/// The error responses of an MCP endpoint. Refusals are JSON-RPC errors, with two exceptions: a host that is not answered,
/// and a fault before the request reaches its handler.
const MCP_REFUSALS: [(&str, &str); 10] = [
    ("400", "The body is no message, or the message breaks the rules of its revision"),
    ("401", "No token, or one that is not valid in this workspace"),
    ("403", "The token does not allow this request, or the Origin is not admitted"),
    ("404", "No such workspace or agent, or no such method (2026-07-28)"),
    ("406", "The Accept header does not admit JSON"),
    ("413", "The body is too large"),
    ("415", "The Content-Type is not JSON"),
    ("421", "In open mode, the Host is neither this machine's nor one of `OPEN_HOSTS`"),
    ("500", "A fault of the Worker; `request_id` finds it in the log"),
    ("503", "Something that the request needs is not available now"),
];

fn complete_mcp(path: &str, operation: &mut Value) {
    operation["security"] = json!([{"bearer": []}, {}]);
    if let Some(parameters) = operation["parameters"].as_array_mut()
        && path == "/mcp"
    {
        parameters.insert(0, json!({"$ref": "#/components/parameters/Workspace"}));
    }
    let responses = &mut operation["responses"];
    responses["202"] = json!({"description": "The notification was accepted"});
    let both = ["McpAnswer", "Error"].map(|it| json!({"$ref": format!("#/components/schemas/{it}")}));
    for (status, description) in MCP_REFUSALS {
        let content = json!({"application/json": {"schema": {"anyOf": both}}});
        responses[status] = json!({"description": description, "content": content});
    }
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {
                "code": {"type": "string", "example": "NOT_FOUND"},
                "message": {"type": "string", "example": "Tool not found: x"},
                "details": {"type": ["object", "null"]},
            },
        }},
        "description": format!("Every error response has this form. A body may have at most {MAX_BODY_BYTES} bytes."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");

    /// `UPDATE_OPENAPI=1 cargo test openapi` regenerates the file.
    #[test]
    fn the_file_is_what_the_code_says() {
        let document = serde_json::to_string_pretty(&document()).unwrap() + "\n";
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::write(FILE, &document).unwrap();
        }
        let file = std::fs::read_to_string(FILE).unwrap();
        assert!(
            file == document,
            "openapi.json is not what the code says: run scripts/openapi and look at the difference"
        );
    }

    #[test]
    fn what_is_served_is_the_file() {
        let served = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));
        let file = serde_json::from_str::<Value>(&std::fs::read_to_string(FILE).unwrap()).unwrap();
        assert_eq!(served, file.to_string());
    }

    #[test]
    fn every_body_and_every_required_parameter_has_an_example() {
        let (document, examples) = (document(), serde_json::from_str::<Value>(EXAMPLES).unwrap());
        let operations =
            document["paths"].as_object().unwrap().values().flat_map(|it| it.as_object().unwrap().values());
        let mut names = examples["operations"].as_object().unwrap().keys().collect::<std::collections::BTreeSet<_>>();
        for operation in operations {
            let id = operation["operationId"].as_str().unwrap();
            names.retain(|it| *it != id);
            let own = operation["parameters"].as_array().into_iter().flatten().filter(|it| it["required"] == true);
            for parameter in own {
                assert!(parameter["example"].is_string(), "{id}: {parameter}");
            }
            for (kind, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
                assert!(!content["example"].is_null(), "{id} has no example of {kind}");
            }
        }
        assert!(names.is_empty(), "no operations have the names {names:?}");
    }

    #[test]
    fn every_api_route_names_the_workspace_and_its_refusals() {
        let document = document();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                assert!(operation["summary"].is_string(), "{method} {path} has no summary");
                if path.starts_with("/api/") {
                    assert!(operation["parameters"].to_string().contains("Workspace"), "{method} {path}");
                    assert!(operation["responses"]["401"].is_object(), "{method} {path}");
                }
            }
        }
    }
}
