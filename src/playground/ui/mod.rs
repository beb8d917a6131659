//! The side of the playground that faces a chat's client: AI SDK's UI message stream (v1) is written here, and the
//! client's request is read. Versions 5, 6 and 7 of the client take what is written. Pure.

mod event;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod reader;
mod replay;
mod request;
mod writer;

pub use event::{ApprovalStyle, DONE, HEADERS as STREAM_HEADERS, KEEP_ALIVE};
pub use request::{ChatIn, ChatRequest};
pub use writer::MessageWriter;
