//! JSON-RPC 2.0: messages, read from a body and written as text. Pure, and the same for both sides: a server reads
//! requests and writes responses, a client writes requests and reads responses. The room knows nothing of MCP, nor of
//! HTTP.
//!
//! A body holds one message. Batches are refused: MCP has none. Only a client reads one ([`ReceivedMessage`]), because
//! servers of 2025-03-26 may send it.

mod error;
mod message;
mod params;
mod received;

pub use error::{RpcError, RpcErrorCode, RpcResult};
pub use message::{RpcId, RpcMessage, RpcRequest, RpcResponse};
pub use params::RpcParams;
pub use received::ReceivedMessage;
