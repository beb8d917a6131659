//! Writes a manifest as YAML, from what is stored. Fields come in a fixed order, under the names of the document that
//! toolsets come from, so that other programs read it too.

use super::Manifest;
use super::overrides::DeclaredOverride;
use super::server::DeclaredServer;
use super::tool::DeclaredTool;
use crate::registry::{Example, SideEffect};
use crate::yaml;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

impl Manifest {
    /// The manifest's text. The same manifest always gives the same text, and reading it gives the same manifest.
    pub fn write(&self) -> String {
        let mut fields = Object::default();
        fields.put("manifest_version", Some(self.manifest_version.as_str()));
        fields.put("id", Some(self.id.as_str()));
        fields.put("name", Some(self.name.as_str()));
        fields.put("version", Some(self.version.as_str()));
        fields.put("description", Some(self.description.as_str()).filter(|it| !it.is_empty()));
        fields.put_list("tools", self.tools.iter().map(tool));
        fields.put_list("tool_overrides", self.tool_overrides.iter().map(tool_override));
        fields.put_list("mcp_servers", self.mcp_servers.iter().map(server));
        yaml::write(&fields.into())
    }
}

/// The fields of an object that are given.
#[derive(Default)]
struct Object(Map<String, Value>);

impl Object {
    fn put(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
    }

    fn put_list(&mut self, name: &str, items: impl Iterator<Item = impl Into<Value>>) {
        let items = items.map(Into::into).collect::<Vec<Value>>();
        self.put(name, Some(items).filter(|it| !it.is_empty()));
    }

    fn put_texts(&mut self, name: &str, texts: &BTreeMap<String, String>) {
        let fields = texts.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str())));
        self.put(name, Some(fields.collect::<Map<_, _>>()).filter(|it| !it.is_empty()));
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object.0)
    }
}

fn tool(it: &DeclaredTool) -> Object {
    let mut fields = Object::default();
    fields.put("id", Some(it.id.as_str()));
    fields.put("entrypoint", Some(it.entrypoint.to_string()));
    fields.put("name", it.name.as_deref());
    fields.put("description", it.description.as_deref());
    fields.put("input_schema", it.input_schema.clone());
    fields.put("returns_schema", it.returns_schema.clone());
    fields.put("requires_confirmation", it.requires_approval);
    fields.put("timeout_seconds", it.timeout_seconds);
    fields.put("risk_level", it.risk_level.map(|it| it.as_str()));
    fields.put("required_permission", it.required_permission.map(|it| it.as_str()));
    fields.put_list("required_capabilities", it.required_capabilities.iter().map(String::as_str));
    fields.put("rate_limit", it.rate_limit);
    fields.put("category", it.category.as_deref());
    fields.put_list("side_effects", it.side_effects.iter().map(side_effect));
    fields.put_list("examples", it.examples.iter().map(example));
    fields
}

fn side_effect(it: &SideEffect) -> Object {
    let mut fields = Object::default();
    fields.put("effect_type", Some(it.effect_type.as_str()));
    fields.put("description", Some(it.description.as_str()));
    fields.put("reversible", Some(it.reversible));
    fields.put("scope", Some(it.scope.as_str()));
    fields
}

fn example(it: &Example) -> Object {
    let mut fields = Object::default();
    fields.put("description", Some(it.description.as_str()));
    fields.put("params", Some(it.params.clone()));
    fields.put("expected_output", it.expected_output.clone());
    fields
}

fn tool_override(it: &DeclaredOverride) -> Object {
    let mut fields = Object::default();
    fields.put("tool_id", Some(it.tool_id.as_str()));
    fields.put("renderer", it.renderer.map(|it| it.as_str()));
    fields.put("renderer_config", it.renderer_config.clone());
    fields.put("name_override", it.name_override.as_deref());
    fields.put("description_override", it.description_override.as_deref());
    fields.put("requires_confirmation", it.requires_approval);
    fields.put("enabled", it.enabled);
    fields
}

fn server(it: &DeclaredServer) -> Object {
    let mut fields = Object::default();
    fields.put("id", Some(it.id.as_str()));
    fields.put("transport", it.transport.map(|it| it.as_str()));
    fields.put("command", it.command.as_deref());
    fields.put_list("args", it.args.iter().map(String::as_str));
    fields.put_texts("env", &it.env);
    fields.put("cwd", it.cwd.as_deref());
    fields.put("url", it.url.as_deref());
    fields.put_texts("headers", &it.headers);
    fields.put("requires_confirmation", it.requires_approval);
    fields.put("risk_level", it.risk_level.map(|it| it.as_str()));
    fields.put("enabled", it.enabled);
    fields.put("auto_accept", it.auto_accept);
    fields.put_list("allowed_hosts", it.allowed_hosts.iter().map(String::as_str));
    fields
}
