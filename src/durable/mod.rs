//! Durable Objects, for decisions that must be made one at a time, in one place. Each class has one file, with its
//! messages and the functions that call the class.

mod container;
pub mod limiter;
pub mod long_call;
pub mod mcp_host;
pub mod sandbox;
