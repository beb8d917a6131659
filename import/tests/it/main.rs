//! The importer as it is run, on real messages (samples/enron) and made-up ones.
//!
//! - `sources`: each kind of source gives the same mail; options; what is skipped
//! - `resume`: killed, at many points, and started again
//! - `upload`: SQL files within D1's limits, carried out by wrangler on a local database
//! - `serve`: the file that workerd and wrangler see
//! - `hub`: downloads
//!
//! `upload` and `serve` need node_modules and a Node that runs wrangler: `scripts/test import` sees to both.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;
mod hub;
mod resume;
mod serve;
mod sources;
mod upload;
