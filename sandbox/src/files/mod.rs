//! The second room: calls on files.

mod contents;
mod http;
mod request;
mod room;
mod run;

pub use http::{FileApp, health, router};
