//! Modules: other people's servers, whose tools become tools of a workspace. A module is discovered, its tools are
//! cached in the database, and what it offers later is held back until an admin accepts it.

mod offer;
