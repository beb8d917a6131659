//! The body of `POST {model_url}/chat/completions`.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// How the model is to answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Streaming {
    /// In one document, for servers that lose the calls of a stream.
    Off,
    /// As a stream, without a word about tokens, for servers that refuse `stream_options`.
    WithoutUsage,
    /// As a stream whose last chunk counts the tokens.
    WithUsage,
}

pub struct ModelRequest<'a> {
    pub model: &'a str,
    pub messages: &'a [Value],
    /// The tools in the format `openai`.
    pub tools: &'a [Box<RawValue>],
    pub temperature: Option<f64>,
    pub streaming: Streaming,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Value],
    // Some servers refuse an empty list, or a choice without tools.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tools: &'a [Box<RawValue>],
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl ModelRequest<'_> {
    pub fn body(&self) -> serde_json::Result<String> {
        let (stream, stream_options) = match self.streaming {
            Streaming::Off => (false, None),
            Streaming::WithoutUsage => (true, None),
            Streaming::WithUsage => (true, Some(StreamOptions { include_usage: true })),
        };
        serde_json::to_string(&Body {
            model: self.model,
            messages: self.messages,
            tools: self.tools,
            tool_choice: (!self.tools.is_empty()).then_some("auto"),
            temperature: self.temperature,
            stream,
            stream_options,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(tools: &[Box<RawValue>], temperature: Option<f64>, streaming: Streaming) -> Value {
        let messages = [json!({"role": "user", "content": "Hi"})];
        let request = ModelRequest { model: "m", messages: &messages, tools, temperature, streaming };
        serde_json::from_str(&request.body().unwrap()).unwrap()
    }

    #[test]
    fn a_request_has_only_what_is_set() {
        let messages = json!([{"role": "user", "content": "Hi"}]);
        assert_eq!(body(&[], None, Streaming::Off), json!({"model": "m", "messages": messages, "stream": false}));
        assert_eq!(
            body(&[], Some(0.5), Streaming::WithoutUsage),
            json!({"model": "m", "messages": messages, "temperature": 0.5, "stream": true})
        );
    }

    #[test]
    fn tools_come_with_a_choice_and_streams_with_their_options() {
        let tool = r#"{"type":"function","function":{"name":"t"}}"#;
        let body = body(&[RawValue::from_string(tool.to_owned()).unwrap()], None, Streaming::WithUsage);
        assert_eq!(body["tools"], json!([{"type": "function", "function": {"name": "t"}}]));
        assert_eq!(body["tool_choice"], "auto");
        assert_eq!(body["stream_options"], json!({"include_usage": true}));
    }
}
