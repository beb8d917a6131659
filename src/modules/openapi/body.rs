//! The body of an operation's requests: the media type in which it is sent, and its schema.

use super::document::Document;
use crate::registry::{RestBody, RestMethod, is_json_type};
use serde_json::Value;

#[derive(Debug, PartialEq)]
pub struct Body<'a> {
    pub form: RestBody,
    /// The media type of JSON that is not `application/json`.
    pub content_type: Option<String>,
    pub schema: Option<&'a Value>,
    pub description: Option<&'a str>,
    pub is_required: bool,
}

/// What is known about the body of an operation.
#[derive(Debug, PartialEq)]
pub enum BodyFound<'a> {
    None,
    Taken(Body<'a>),
    /// The body is optional and cannot be sent; the text says why.
    LeftOut(String),
}

impl<'a> Body<'a> {
    /// The body of an operation. Fails if the body is required and cannot be sent.
    pub fn of(document: &'a Document, method: RestMethod, operation: &'a Value) -> Result<BodyFound<'a>, String> {
        let Some(given) = operation.get("requestBody") else { return Ok(BodyFound::None) };
        let given = document.followed(given)?;
        let Some(content) = given.get("content").and_then(Value::as_object).filter(|it| !it.is_empty()) else {
            return Ok(BodyFound::None);
        };
        let is_required = given.get("required") == Some(&Value::Bool(true));
        let refused =
            |fault: String| if is_required { Err(format!("its body {fault}")) } else { Ok(BodyFound::LeftOut(fault)) };
        if matches!(method, RestMethod::Get | RestMethod::Head) {
            // OpenAPI says that such a body is ignored.
            return if is_required { refused(format!("cannot be sent with {method}")) } else { Ok(BodyFound::None) };
        }
        let mut best: Option<(u8, RestBody, &String, &Value)> = None;
        for (media_type, value) in content {
            if let Some((rank, form)) = rank(&plain(media_type))
                && best.is_none_or(|it| rank < it.0)
            {
                best = Some((rank, form, media_type, value));
            }
        }
        let Some((_, form, media_type, value)) = best else {
            let types = content.keys().take(5).map(|it| it.chars().take(64).collect()).collect::<Vec<String>>();
            return refused(format!("is neither JSON nor a form, but {}", types.join(", ")));
        };
        let media_type = plain(media_type);
        let is_special = form == RestBody::Json && is_json_type(&media_type) && media_type != "application/json";
        Ok(BodyFound::Taken(Self {
            form,
            content_type: is_special.then_some(media_type),
            schema: value.get("schema"),
            description: given.get("description").and_then(Value::as_str),
            is_required,
        }))
    }
}

/// The media type without its parameters.
fn plain(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// How good a media type is, the lowest being the best, and how its bodies are sent.
fn rank(media_type: &str) -> Option<(u8, RestBody)> {
    match media_type {
        "application/json" => Some((0, RestBody::Json)),
        "application/x-www-form-urlencoded" => Some((2, RestBody::Form)),
        "*/*" | "application/*" => Some((3, RestBody::Json)),
        // A list of steps is more than most models get right.
        "application/json-patch+json" => Some((4, RestBody::Json)),
        other => is_json_type(other).then_some((1, RestBody::Json)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(body: Value, expected: impl Fn(Result<BodyFound<'_>, String>)) {
        let document = Document::read(
            &json!({"openapi": "3.0.0", "components": {"requestBodies": {"B": {"content": {"application/json": {}}}}}})
                .to_string(),
        )
        .unwrap();
        expected(Body::of(&document, RestMethod::Post, &json!({ "requestBody": body })));
    }

    #[track_caller]
    fn form(types: &[&str], expected: Option<(RestBody, Option<&str>)>) {
        let content = types.iter().map(|it| ((*it).to_owned(), json!({}))).collect::<serde_json::Map<_, _>>();
        found(json!({ "content": content }), |body| {
            let taken = match &body {
                Ok(BodyFound::Taken(body)) => Some((body.form, body.content_type.as_deref())),
                _ => None,
            };
            assert_eq!(taken, expected, "{types:?}");
        });
    }

    #[test]
    fn json_is_preferred_to_forms() {
        form(&["application/json"], Some((RestBody::Json, None)));
        form(&["Application/JSON; charset=utf-8"], Some((RestBody::Json, None)));
        form(
            &["multipart/form-data", "application/x-www-form-urlencoded", "application/json"],
            Some((RestBody::Json, None)),
        );
        form(&["application/x-www-form-urlencoded", "text/plain"], Some((RestBody::Form, None)));
        form(&["application/vnd.api+json"], Some((RestBody::Json, Some("application/vnd.api+json"))));
        let patches = ["application/json-patch+json", "application/merge-patch+json"];
        form(&patches, Some((RestBody::Json, Some("application/merge-patch+json"))));
        form(&["application/json-patch+json"], Some((RestBody::Json, Some("application/json-patch+json"))));
        form(&["*/*"], Some((RestBody::Json, None)));
        form(&["multipart/form-data"], None);
        form(&[], None);
    }

    #[test]
    fn a_body_that_cannot_be_sent_is_left_out_unless_it_is_required() {
        let xml = |required: bool| json!({"content": {"application/xml": {}}, "required": required});
        found(xml(false), |body| {
            assert_eq!(body, Ok(BodyFound::LeftOut("is neither JSON nor a form, but application/xml".into())));
        });
        found(xml(true), |body| assert!(body.unwrap_err().contains("application/xml")));
        found(json!({"$ref": "#/components/requestBodies/B"}), |body| assert!(matches!(body, Ok(BodyFound::Taken(_)))));
        found(json!({"$ref": "#/components/requestBodies/C"}), |body| assert!(body.is_err()));
        let document = Document::read(r#"{"openapi": "3.0.0"}"#).unwrap();
        let operation = json!({"requestBody": {"content": {"application/json": {}}}});
        assert_eq!(Body::of(&document, RestMethod::Get, &operation), Ok(BodyFound::None));
        let operation = json!({"requestBody": {"required": true, "content": {"application/json": {}}}});
        assert!(Body::of(&document, RestMethod::Get, &operation).is_err());
    }
}
