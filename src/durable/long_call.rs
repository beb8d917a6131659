//! Hands a call to the Durable Object that owns it. The class itself is in `long_calls`, because it runs calls, and this
//! room knows nothing of calls.

use crate::app::App;
use crate::error::{Error, Result};
use crate::ids::CallId;
use crate::memory_turn::MemoryTurn;
use crate::outgoing::{OutgoingRequest, Route};

/// The longest timeout, in seconds, of a tool that the Worker itself runs. For as long as this, the platform carries on
/// a request whose client has left.
pub const LONGEST_CARRIED_SECONDS: u32 = 30;

/// The longest response of the object: the result of a call, with everything around it.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

const ENDED: u16 = 200;

/// Gives the call to its object, and waits until the call has ended. Returns the response of the object. Each call has
/// an object of its own, so that no call waits for another.
pub async fn run(app: &App, turn: &MemoryTurn, id: &CallId, call: &str) -> Result<String> {
    let failed = |cause: String| Error::Internal(format!("the object of a long call did not answer: {cause}"));
    let object = app.long_calls()?.get_by_name(id.as_str()).map_err(|it| failed(it.to_string()))?;
    let response = OutgoingRequest::post("https://long-call/", call).send(Route::Object(&object)).await;
    let response = response.map_err(|it| failed(it.to_string()))?;
    let status = response.status();
    let text = response.text(MAX_RESPONSE_BYTES, turn).await.map_err(|it| failed(it.to_string()))?;
    if status == ENDED { Ok(text) } else { Err(failed(text)) }
}
