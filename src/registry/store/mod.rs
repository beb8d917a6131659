//! SQL of the registry. The workspace `''` holds the built-ins.

pub mod columns;
pub mod credentials;
pub mod placing;
pub mod refusals;
pub mod sought;
pub mod tools;
pub mod versions;
