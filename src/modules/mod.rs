//! Modules: other people's servers, whose tools become tools of a workspace. A module is discovered, its tools are
//! cached in the database, and what it offers later is held back until an admin accepts it.

mod hidden_characters;
#[cfg_attr(not(test), expect(dead_code, reason = "the endpoints, which check it, come next"))]
mod include;
mod offer;
#[cfg_attr(not(test), expect(dead_code, reason = "discovery, which reads documents, comes next"))]
mod openapi;
