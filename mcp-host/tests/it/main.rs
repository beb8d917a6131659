//! The host from the view of its client: every test starts the real binary and sends HTTP requests. Every test ends by
//! looking for processes and files that were left behind.
//!
//! | module | contents |
//! |---|---|
//! | `contract` | requests, responses and refusals |
//! | `files` | files that a server brings along |
//! | `real` | servers as other people publish them |
//! | `hostile` | servers that misbehave (`servers/hostile.py`) |
//! | `lifecycle` | starting, stopping, and what is left |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod contract;
mod files;
mod host;
mod hostile;
mod lifecycle;
mod mcp;
mod processes;
mod real;
