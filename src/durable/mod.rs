//! What must be decided in one place at a time: one file per Durable Object class, with its messages and
//! the function that calls it.

pub mod limiter;
pub mod sandbox;
