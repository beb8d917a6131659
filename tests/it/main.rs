//! Integration tests: HTTP against the Worker as shipped, in real workerd with real D1, KV and Durable
//! Objects. They speak JSON and import nothing of ours, so that a renamed field cannot go unnoticed.
//! `scripts/test it` runs them. Every test makes its own workspace, and all run at once.
//!
//! | module | what it holds down |
//! |---|---|
//! | `conventions` | envelope and codes, request ids, CORS, limits of bodies, unknown routes and methods |
//! | `tools` | the registry, read: filters, search, pages, versions, description, validation, rate limits |
//! | `agents` | agents and the toolbox |
//! | `attachments` | tools attached to agents, and their configuration |
//! | `tokens` | who is let in, as what, and until when |
//! | `changes` | what the change log says of all that |
//! | `walk` | every route of /openapi.json, by foreigners, lower levels and bound tokens |
//! | `cost` | round trips and rows read, with 10,000 tools too |
//! | `document` | the curl lines of the first document |
//! | `limiter` | rate limits: racing calls, tenants, restarts |
//! | `upkeep` | the cron trigger |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

mod agents;
mod attachments;
mod changes;
mod conventions;
mod cost;
mod document;
mod limiter;
mod tokens;
mod tools;
mod upkeep;
mod walk;
