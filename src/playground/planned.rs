//! A call that the model asked for: what is to be made, and how much of it may be shown.

use super::live::LiveTurn;
use super::model::{AskedCall, UnreadableArguments};
use super::toolkit::{CalledTool, MAX_RESULT_BYTES, Toolkit};
use crate::error::Result;
use crate::formats;
use serde_json::{Map, Value};

/// A call that is to be made.
pub struct PlannedCall {
    /// The id of the call in the conversation.
    pub id: String,
    /// The id of the tool, or the name that the model gave if it was not offered a tool of this name.
    pub name: String,
    pub arguments: std::result::Result<Map<String, Value>, UnreadableArguments>,
    /// Whether the model was offered the tool. Another one is not called: nothing is known of its secrets.
    pub is_offered: bool,
    /// The arguments without their secrets.
    shown: Value,
    /// The secrets in the arguments. They are removed from results too.
    pub secrets: Vec<String>,
    /// The size at which the result is cut.
    pub max_result_bytes: u32,
    /// Whether secrets are removed from the result. They are removed before the result is cut: a schema does not fit a cut
    /// result, and a secret at the cut would stay in part.
    pub hides_result: bool,
    /// Whether the call may be made again although it may have run.
    pub may_run_twice: bool,
    /// What the model's server wants to get back with the call.
    extra_content: Option<Value>,
}

impl PlannedCall {
    pub fn new(toolkit: &Toolkit, id: String, asked: AskedCall) -> Result<Self> {
        let AskedCall { name, arguments, extra_content } = asked;
        let mut planned = Self {
            id,
            name,
            shown: Value::Object(Map::new()),
            arguments,
            is_offered: false,
            secrets: Vec::new(),
            max_result_bytes: MAX_RESULT_BYTES,
            hides_result: true,
            may_run_twice: false,
            extra_content,
        };
        if let Some(called) = toolkit.find(&planned.name) {
            planned.shown = planned.shown_arguments(&called);
            planned.hides_result = !planned.secrets.is_empty() || called.hides_results()?;
            planned.max_result_bytes = called.max_result_bytes;
            planned.may_run_twice = called.may_run_twice();
            planned.is_offered = true;
            planned.name = called.tool.id.to_string();
        }
        Ok(planned)
    }

    /// The arguments without their secrets, which are noted.
    fn shown_arguments(&mut self, called: &CalledTool<'_>) -> Value {
        match &self.arguments {
            Ok(arguments) => {
                let mut shown = Value::Object(arguments.clone());
                if called.hides_arguments() {
                    formats::arguments::restore(&called.parameters, &mut shown);
                    self.secrets = called.parameters.redact(&mut shown);
                }
                shown
            }
            // The text may hold a secret that cannot be found in it.
            Err(_) if called.hides_arguments() => "[redacted]".into(),
            Err(unreadable) => unreadable.text.as_str().into(),
        }
    }

    /// Tells the clients of the call.
    pub fn tell(&self, live: &LiveTurn) {
        let Self { id, name, shown, .. } = self;
        match &self.arguments {
            Ok(_) => {
                let metadata = self.extra_content.clone().map(provider_metadata);
                live.tell(|it| it.call_ready(id, name, shown.clone(), metadata));
            }
            Err(unreadable) => {
                let text = shown.as_str().unwrap_or("[redacted]");
                live.tell(|it| it.call_unreadable(id, name, text, &unreadable.message));
            }
        }
    }
}

fn provider_metadata(extra_content: Value) -> Map<String, Value> {
    let kept = Map::from_iter([("extra_content".to_owned(), extra_content)]);
    Map::from_iter([("pegboard".to_owned(), kept.into())])
}
