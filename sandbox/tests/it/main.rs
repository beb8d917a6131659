//! The sandbox as its clients and its attackers meet it: every test starts the real binary and speaks HTTP to it.
//!
//! | module | what is in it |
//! |---|---|
//! | `catalogue` | the attacks of `attacks/*.py` and `generated`, in each configuration; add new ones there |
//! | `contract` | requests and answers, refusals, limits, the queue |
//! | `lifecycle` | who dies, who comes back, and what is left behind |
//! | `wire` | garbage for the zygote |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod catalogue;
mod contract;
mod generated;
mod lifecycle;
mod processes;
mod server;
mod wire;
