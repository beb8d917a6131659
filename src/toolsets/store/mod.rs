//! SQL for the tables of toolsets.

pub mod files;
pub mod overrides;
