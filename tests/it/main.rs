//! Integration tests: HTTP against the Worker as shipped, in real workerd with real D1, KV and Durable
//! Objects. They speak JSON and import nothing of ours, so that a renamed field cannot go unnoticed.
//! `scripts/test it` runs them. Every test makes its own workspace, and all run at once.
//!
//! | module | what it holds down |
//! |---|---|
//! | `conventions` | envelope and codes, request ids, CORS, limits of bodies, unknown routes and methods |
//! | `tools` | the registry, read: filters, search, pages, versions, description, validation, rate limits |
//! | `versions` | registering, the step that a version must take, rolling back, switching on and off, races |
//! | `credentials` | what tools may ask for, and that its value stays inside |
//! | `history` | the change log read, and the registry as it was |
//! | `backup` | invariants, backup, and a restore that is all or nothing |
//! | `agents` | agents and the toolbox |
//! | `attachments` | tools attached to agents, and their configuration |
//! | `files` | the files of sessions: contents, paths, directories, pages, racing writers, cost |
//! | `sessions` | sessions and their past: manifests, differences, going back, branching, retention, the sweep |
//! | `execute` | every stage of a call, what stops it there, and that the record says so |
//! | `formats` | tools as each provider wants them, called by the names and properties that were handed out |
//! | `model_calls` | what a model asks for, as its provider gives it, and the answer as it wants it |
//! | `python` | `execute_python` and tools that are Python, in the real sandbox |
//! | `approvals` | calls that wait: decided once, run as they were asked, sealed, expired |
//! | `idempotency` | the same call sent twice |
//! | `call_log` | the record of calls: filters, pages, figures, the sweep |
//! | `crash` | the runtime killed in the middle of writes |
//! | `tokens` | who is let in, as what, and until when |
//! | `changes` | what the change log says of all that |
//! | `walk` | every route of /openapi.json, by foreigners, lower levels and bound tokens |
//! | `cost` | round trips and rows read, with 10,000 tools too |
//! | `document` | the curl lines of the first document |
//! | `limiter` | rate limits: racing calls, tenants, restarts |
//! | `mcp` | the MCP server, in both revisions: messages, callers, calls, approvals, resources, search |
//! | `mail` | email_search and email_get: the document's query, filters, any text, both inbox rules, cost |
//! | `oversight` | stats, health and metrics: exact at any time, and cheap |
//! | `upkeep` | the cron trigger |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

mod agents;
mod approvals;
mod attachments;
mod backup;
mod call_log;
mod changes;
mod conventions;
mod cost;
mod crash;
mod credentials;
mod document;
mod execute;
mod files;
mod formats;
mod history;
mod idempotency;
mod limiter;
mod mail;
mod mcp;
mod model_calls;
mod oversight;
mod python;
mod sessions;
mod tokens;
mod tools;
mod upkeep;
mod versions;
mod walk;
