//! Upstreams: servers of others, whose tools become tools of a workspace. Modules and MCP servers are upstreams. An
//! upstream is discovered, its tools are rows of the database like all others, and what the upstream offers later is
//! held back until an admin accepts it.
//!
//! This room holds everything that the kinds of upstreams share. A kind says by [`UpstreamSettings`] what an admin can
//! set, and how such an upstream is asked.

mod decision;
mod discovery;
mod due;
mod given;
mod held_back;
mod hidden_characters;
mod kind;
mod limits;
mod manage;
mod offer;
mod plan;
mod replacement;
mod store;
mod upstream;

pub use discovery::{Refreshed, Sight};
pub use due::{find_due, note_due, note_unknown_tool, note_use, refresh_due, refresh_noted};
pub use given::{MASK, NO_NAME, Problems, credentials_of, fault_of_credentials, kept_headers, plain, trimmed};
pub use held_back::{AcceptIn, Accepted, HeldBackOut, accept, list as list_held_back};
pub use hidden_characters::{has_hidden, without_hidden};
pub use kind::{Look, LookFailure, Seen, SettingsColumns, UpstreamRecord, UpstreamSettings};
pub use limits::{DEFAULT_TIMEOUT_SECONDS, DISCOVERY_SECONDS, FRESH_SECONDS};
pub use manage::{create, delete, get, list, must_have_room, refresh, update};
pub use offer::{OfferedTool, Offers, UpstreamWarning};
pub use plan::UpstreamPlan;
pub use replacement::{UpstreamReplacement, UpstreamRows, upstream_put, upstream_removed};
pub use store::placing::{find_of_toolset, find_toolset_of};
pub use store::replacing::{after as upstreams_after, bytes_of_all, find_all, read_records};
pub use store::{put_connection, read_upstreams};
pub use upstream::{Upstream, UpstreamStatus};
