//! Reads the change log, and rebuilds the registry as it was after any change.

mod log;
mod state;
mod store;

pub use log::{ChangeFilter, ChangeOut, export, list};
pub use state::{Moment, State, state};
