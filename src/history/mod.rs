//! The past: the change log read, and the registry as it was at any point of it.

mod log;
mod state;
mod store;

pub use log::{ChangeFilter, ChangeOut, LogOrder, export, list};
pub use state::{Moment, State, state};
