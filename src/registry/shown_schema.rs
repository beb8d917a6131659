//! A schema in a response: as the text that is stored, or as an object.

use crate::text_enum::text_enum;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

text_enum! {
    /// The form of the schemas in a response.
    SchemaForm {
        /// A JSON string, to the letter as it was registered.
        Text = "text",
        Object = "object",
    }
}

/// A schema of a tool, if the tool has it.
pub enum ShownSchema {
    None,
    Text(String),
    Object(Box<RawValue>),
}

impl ShownSchema {
    /// The same schema in this form. A stored schema is always JSON; a text that is not would stay a text.
    pub fn in_form(self, form: SchemaForm) -> Self {
        match (self, form) {
            (Self::Text(text), SchemaForm::Object) => match serde_json::from_str(&text) {
                Ok(object) => Self::Object(object),
                Err(_) => Self::Text(text),
            },
            (shown, SchemaForm::Text | SchemaForm::Object) => shown,
        }
    }
}

impl From<String> for ShownSchema {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Option<String>> for ShownSchema {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::None, Self::Text)
    }
}

impl Serialize for ShownSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

/// Types for the API's description, which is made on the host.
#[cfg(not(target_arch = "wasm32"))]
pub mod described {
    use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
    use utoipa::openapi::{RefOr, Schema};

    fn schema(types: &[Type], description: &str) -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(SchemaType::Array(types.to_vec())).description(Some(description)).into()
    }

    const SHOWN: &str = "as a JSON string; with `schemas=object`, as an object.";

    pub fn parameters_shown() -> RefOr<Schema> {
        schema(&[Type::String, Type::Object], &format!("JSON Schema of the arguments, {SHOWN}"))
    }

    pub fn returns_shown() -> RefOr<Schema> {
        schema(&[Type::String, Type::Object, Type::Null], &format!("JSON Schema of the result, {SHOWN}"))
    }

    pub fn parameters_given() -> RefOr<Schema> {
        let form = "an object, or its JSON as a string; 64 KB at the most.";
        schema(&[Type::Object, Type::String], &format!("JSON Schema 2020-12 of the arguments: {form}"))
    }

    pub fn returns_given() -> RefOr<Schema> {
        let form = "an object, or its JSON as a string; 64 KB at the most.";
        schema(&[Type::Object, Type::String, Type::Null], &format!("JSON Schema 2020-12 of the result: {form}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_keeps_its_text_or_becomes_an_object() {
        let text = r#"{ "type" : "object", "maximum": 1.50 }"#;
        let json = |it: ShownSchema| serde_json::to_string(&it).unwrap();
        assert_eq!(json(ShownSchema::from(text.to_owned())), serde_json::to_string(text).unwrap());
        assert_eq!(json(ShownSchema::from(text.to_owned()).in_form(SchemaForm::Object)), text);
        assert_eq!(json(ShownSchema::from(None).in_form(SchemaForm::Object)), "null");
        assert_eq!(json(ShownSchema::from(Some("{".to_owned())).in_form(SchemaForm::Object)), r#""{""#);
    }
}
