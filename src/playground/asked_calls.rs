//! The answer of a model while it comes: told to the clients, and then the calls that the model asks for.

use super::live::LiveTurn;
use super::model::{ModelAnswer, ModelDelta};
use super::planned::PlannedCall;
use super::toolkit::Toolkit;
use crate::error::Result;
use crate::random;

/// The calls of an answer that is still coming.
pub struct AskedCalls<'a> {
    live: &'a LiveTurn,
    toolkit: &'a Toolkit,
    /// The calls whose names are known.
    begun: Vec<CallToCome>,
}

struct CallToCome {
    id: String,
    name: String,
    /// Whether the clients see the arguments as they come: they hold no secrets.
    is_streamed: bool,
}

impl<'a> AskedCalls<'a> {
    pub fn new(live: &'a LiveTurn, toolkit: &'a Toolkit) -> Self {
        Self { live, toolkit, begun: Vec::new() }
    }

    /// Tells the clients what became known of the answer.
    pub fn tell(&mut self, deltas: Vec<ModelDelta>) {
        for delta in deltas {
            match delta {
                ModelDelta::Reasoning(text) => self.live.tell(|it| it.reasoning(&text)),
                ModelDelta::Text(text) => self.live.tell(|it| it.text(&text)),
                ModelDelta::CallBegun { name, .. } => {
                    let id = new_call_id();
                    // Every call is told when it begins, so that clients and the message have the model's order.
                    let called = self.toolkit.find(&name);
                    let shown = called.as_ref().map_or(name.as_str(), |it| it.tool.id.as_str());
                    let title = called.as_ref().map(|it| it.tool.shown_name());
                    self.live.tell(|it| it.begin_call(&id, shown, title));
                    // Nothing is known of the secrets of a tool that the model was not offered.
                    let is_streamed = called.is_some_and(|it| !it.hides_arguments());
                    self.begun.push(CallToCome { is_streamed, id, name });
                }
                ModelDelta::CallArguments { index, text } => {
                    if let Some(CallToCome { id, .. }) = self.begun.get(index).filter(|it| it.is_streamed) {
                        self.live.tell(|it| it.call_arguments(id, &text));
                    }
                }
            }
        }
    }

    /// The calls to make. A call whose arguments were cut off is told as one that failed.
    pub fn plan(self, answer: ModelAnswer) -> Result<Vec<PlannedCall>> {
        let mut begun = self.begun.into_iter();
        let mut planned = Vec::new();
        for asked in answer.calls {
            let id = begun.next().map_or_else(new_call_id, |it| it.id);
            let call = PlannedCall::new(self.toolkit, id, asked)?;
            call.tell(self.live);
            planned.push(call);
        }
        for CallToCome { id, name, .. } in begun {
            let sentence = "The answer of the model was cut off before the call was complete";
            self.live.tell(|it| it.call_unreadable(&id, &name, "", sentence));
        }
        Ok(planned)
    }
}

/// Nine letters and digits. Without random bytes the id is less unique, and still an id.
fn new_call_id() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = [0; 9];
    let _ = random::fill(&mut bytes);
    bytes.iter().map(|it| char::from(LETTERS[usize::from(it % 32)])).collect()
}
