//! How the registry fares, for those who run it: figures of a workspace, what in it wants looking after, and the figures of
//! the whole Worker. It counts what other rooms keep, and changes nothing.

mod health;
mod metrics;
mod stats;
mod store;

pub use health::{RegistryHealth, health};
pub use metrics::metrics;
pub use stats::{RegistryStats, stats};
