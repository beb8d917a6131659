//! Figures for the people who run Pegboard: the statistics of a workspace, its health, the metrics of the whole Worker, and
//! what the deployment can do for a caller. This room counts the rows of other rooms, and changes nothing.

mod directory;
mod health;
mod metrics;
mod stats;
mod store;
mod whoami;

pub use health::{RegistryHealth, health};
pub use metrics::{metrics, report};
pub use stats::{RegistryStats, stats};
pub use whoami::{WhoAmI, whoami};
