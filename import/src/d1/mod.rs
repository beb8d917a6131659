//! D1 as wrangler keeps it on this machine: which file is it, is it in use, and is its schema the one of the
//! migrations?

pub mod config;
pub mod file;
pub mod migrations;
