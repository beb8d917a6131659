//! The sandbox from the view of its clients and its attackers: every test starts the real binary and sends HTTP
//! requests.
//!
//! | module | contents |
//! |---|---|
//! | `attacks` | the attacks of `attacks/*.py` and `generated`; add new ones there |
//! | `file_attacks` | the attacks on the second room, of `file_attacks/*.py`; add new ones there |
//! | `catalogue`, `file_catalogue` | run them in each configuration; `tests/there.rs` runs them against a running server |
//! | `contract`, `files_contract` | requests and responses, refusals, limits, the queue |
//! | `lifecycle`, `files_lifecycle` | deaths and restarts of processes, and the traces that they leave |
//! | `files_neighbours` | calls on files that run at the same time |
//! | `wire` | invalid messages for the zygote |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod attacks;
mod catalogue;
mod client;
mod contract;
mod file_attacks;
mod file_catalogue;
mod files_contract;
mod files_lifecycle;
mod files_neighbours;
mod generated;
mod lifecycle;
mod processes;
mod server;
mod wire;
