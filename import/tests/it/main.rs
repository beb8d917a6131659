//! The importer as a program, on real messages (samples/enron) and synthetic ones.
//!
//! - `sources`: each kind of source gives the same mail; options; skipped messages
//! - `resume`: killed, at many points, and started again
//! - `upload`: SQL files within D1's limits, run by wrangler on a local database
//! - `serve`: the file from the view of workerd and wrangler
//! - `hub`: downloads
//!
//! `upload` and `serve` need node_modules and a Node that runs wrangler: `scripts/test import` provides both.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;
mod hub;
mod resume;
mod serve;
mod sources;
mod upload;
