//! Durable Objects, for decisions that only one place may take at a time: one file per class, with its messages and the
//! functions that call it.

pub mod limiter;
pub mod sandbox;
