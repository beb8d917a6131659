//! The sandbox as its clients and its attackers meet it: every test starts the real binary and speaks HTTP to it.
//!
//! | module | what is in it |
//! |---|---|
//! | `attacks` | the attacks of `attacks/*.py` and `generated`; add new ones there |
//! | `catalogue` | runs them in each configuration; `tests/there.rs` against a server that is there |
//! | `contract` | requests and answers, refusals, limits, the queue |
//! | `lifecycle` | who dies, who comes back, and what is left behind |
//! | `wire` | garbage for the zygote |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod attacks;
mod catalogue;
mod client;
mod contract;
mod generated;
mod lifecycle;
mod processes;
mod server;
mod wire;
