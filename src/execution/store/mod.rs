//! SQL for the tables `tool_calls`, `call_blobs`, `call_totals`, `call_mark`, `late_calls`, `call_series`,
//! `idempotency_keys`, `approvals`
//! and `archives`.

pub mod approvals;
pub mod archives;
pub mod calls;
mod columns;
pub mod keys;
pub mod log;
pub mod retention;
pub mod series;
pub mod sweep;
pub mod totals;
