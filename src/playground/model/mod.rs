//! A model behind an OpenAI-compatible server (Chat Completions): the body of a request (`request`), and the answer, read
//! in whatever pieces it arrives (`reader`). Servers differ in many small ways; `chunk` and `calls` know these dialects.
//! Pure: whoever asks sends the request.

mod answer;
mod assembly;
mod calls;
mod chunk;
mod fault;
mod reader;
mod request;
mod status;
#[cfg(test)]
mod tests;

pub use answer::{AskedCall, ModelAnswer, ModelDelta, UnreadableArguments};
pub use assembly::ModelLimits;
pub use fault::ModelFault;
pub use reader::ModelReader;
pub use request::{ModelRequest, Streaming};
pub use status::{StatusFaultKind, fault_of_status};
