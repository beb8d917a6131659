//! Integration tests: they send HTTP requests to the bundle as deployed, in real workerd with real D1, KV and Durable
//! Objects. The tests use JSON and import none of Pegboard's types, so that a renamed field is noticed. `scripts/test
//! it` runs them. Every test makes its own workspace, and all tests run at once.
//!
//! | module | covers |
//! |---|---|
//! | `conventions` | envelope and codes, request ids, CORS, limits of bodies, unknown routes and methods |
//! | `toolsets` | toolsets: import, hostile bundles, calls, upgrades, export, races, crashes, cost |
//! | `tools` | reading the registry: filters, search, pages, versions, description, validation, rate limits |
//! | `toolset_servers` | MCP servers that a toolset brings, and their processes with the toolset's files |
//! | `versions` | registration, the step that a version must take, rollback, activation and deactivation, races |
//! | `credentials` | the secrets that tools may use, and that no response shows them |
//! | `history` | reading the change log, and the registry as it was |
//! | `backup` | invariants, backup, and a restore that is all or nothing |
//! | `backup_lines` | backups of any size, as JSON Lines that are sent and read in pieces |
//! | `backup_modules` | modules and settings in backups, and what a discovery does after a restore |
//! | `agents` | agents and the toolbox |
//! | `module_access` | who may use the tools of modules: toolboxes, calls, trying a tool out |
//! | `workspace` | the settings of a workspace |
//! | `attachments` | tools attached to agents, and their configuration |
//! | `federation` | MCP servers of others, in every era: settings, discovery, hold-back, calls, sessions, backups, hostile ones |
//! | `files` | the files of sessions: contents, paths, directories, pages, racing writers, cost |
//! | `sessions` | sessions and their past: file manifests, differences, checkout, branch, retention, the sweep |
//! | `execute` | every stage of a call, its refusals, and their record |
//! | `formats` | tools in the providers' formats, called by their exported names and properties |
//! | `model_calls` | the calls of a model in its provider's form, and the response in this form |
//! | `overrides` | overrides of tools of toolsets and MCP servers, disabled toolsets, and the files of toolsets |
//! | `python` | `execute_python` and tools that are Python, in the real sandbox |
//! | `python_files` | Python on the session's files: commits, merging, limits, cost, a sandbox that dies |
//! | `approvals` | calls that wait: one decision, one run with the original arguments, sealed, expired |
//! | `idempotency` | the same call sent twice |
//! | `call_log` | the record of calls: filters, pages, figures, the sweep |
//! | `archive` | old calls in a bucket: the files, faults on the way, and who is told of them |
//! | `call_series` | the calls over time: exact before and after upkeep, late calls, bounds, cost |
//! | `crash` | the runtime killed in the middle of writes |
//! | `database_faults` | passing faults of D1: what is sent again, and what is 503 with `Retry-After` |
//! | `read_replicas` | bookmarks, by which a caller of a deployment with read replicas reads what it wrote |
//! | `disconnect` | clients that leave before the response: calls, approvals, messages and MCP go on |
//! | `tokens` | which callers are accepted, at which level, and until when |
//! | `changes` | the rows of the change log for all mutations |
//! | `whoami` | the caller's level and agent, and what the deployment can do |
//! | `walk` | every route of /openapi.json, with callers of other workspaces, lower levels and bound tokens |
//! | `cost` | round trips and rows read, also with 10,000 tools |
//! | `document` | the curl commands of the specification's first document |
//! | `examples` | every example of openapi.json, sent to a server as a fresh `scripts/dev` starts it |
//! | `hostile_schemas` | schemas that make checks expensive: refused, or bounded in CPU |
//! | `memory` | pages, toolboxes and messages that are bounded by bytes, and the memory that they take |
//! | `modules` | modules: discovery, hold-back, calls and their error texts, hostile servers, races |
//! | `limiter` | rate limits: racing calls, workspaces, restarts |
//! | `mcp` | the MCP server, in both revisions: messages, callers, calls, approvals, resources, search |
//! | `mail` | email_search and email_get: the specification's query, filters, any text, both inbox rules, cost |
//! | `oversight` | stats, health and metrics: exact at any time, and cheap |
//! | `quota` | what a workspace stores: the quota, the count of bytes, refused calls, the retention of calls |
//! | `playground` | chats with agents: turns, calls, approvals, branches, faults of models, crashes, keys, cost |
//! | `rendering` | renderers of tools, the render plans of calls through every door, and the pages of calls |
//! | `rest_tools` | tools that call REST APIs: where arguments go, what cannot be sent, whose headers go along |
//! | `upkeep` | the cron trigger |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

mod agents;
mod approvals;
mod archive;
mod attachments;
mod backup;
mod backup_lines;
mod backup_modules;
mod backup_toolsets;
mod call_log;
mod call_series;
mod changes;
mod conventions;
mod cost;
mod crash;
mod credentials;
mod database_faults;
mod disconnect;
mod document;
mod examples;
mod execute;
mod federation;
mod files;
mod formats;
mod history;
mod hostile_schemas;
mod idempotency;
mod limiter;
mod mail;
mod mcp;
mod memory;
mod model_calls;
mod module_access;
mod modules;
mod objects;
mod overrides;
mod oversight;
mod playground;
mod python;
mod python_files;
mod quota;
mod read_replicas;
mod rendering;
mod rest_tools;
mod sessions;
mod tokens;
mod tools;
mod toolset_servers;
mod toolsets;
mod upkeep;
mod versions;
mod walk;
mod whoami;
mod workspace;
