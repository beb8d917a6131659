//! SQL of the registry. The workspace `''` holds the built-ins.

pub mod bounded;
pub mod columns;
pub mod context;
pub mod credentials;
pub mod lookup;
pub mod placing;
pub mod refusals;
pub mod tools;
pub mod toolsets;
pub mod unsealed;
pub mod upstreams;
pub mod versions;
