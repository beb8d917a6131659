//! Figures for the people who run Pegboard: the statistics of a workspace, its health, and the metrics of the whole
//! Worker. This room counts the rows of other rooms, and changes nothing.

mod health;
mod metrics;
mod stats;
mod store;

pub use health::{RegistryHealth, health};
pub use metrics::metrics;
pub use stats::{RegistryStats, stats};
