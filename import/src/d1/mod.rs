//! D1's local files, as wrangler keeps them: finds the file, checks whether it is in use, and applies the migrations.

pub mod config;
pub mod file;
pub mod migrations;
