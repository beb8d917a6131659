//! The only access to the databases: D1, and the Durable Objects of workspaces (`workspace.js`). Statements are plain
//! values, so that the code that builds them can be tested on the host. A batch of statements runs as one transaction, in
//! one round trip. The cost of each request is counted here. A batch that met a passing fault of its database is repeated
//! here, if repeating it is safe.

mod failure;
mod freshness;
mod known_texts;
#[cfg(test)]
pub mod native;
mod rows;
#[cfg(test)]
mod schema;
mod statement;

pub use failure::{DbFailure, HAS_OBJECT};
pub use freshness::Freshness;
pub use rows::{BETWEEN_TEXTS, Figure, Rows};
pub use statement::{Condition, ManyRows, Param, Statement, condition, first_bytes, for_each, json_chunks, sql};

use crate::ids::WorkspaceId;
use crate::random;
use rows::read_answer;
use statement::SentStatement;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::js_sys::{Promise, Uint8Array};
use worker::send::SendWrapper;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;
use worker::{Delay, console_warn};

#[wasm_bindgen(module = "/src/db.js")]
extern "C" {
    fn run(database: &JsValue, batch: &str, faults: Option<&str>) -> Promise;
    #[wasm_bindgen(js_name = openSession)]
    fn open_session(database: &JsValue, since: &str) -> JsValue;
    #[wasm_bindgen(js_name = bookmarkOf)]
    fn bookmark_of(session: &JsValue) -> Option<String>;
    #[wasm_bindgen(js_name = openObject)]
    fn open_object(namespace: &JsValue, workspace: &str) -> JsValue;
}

/// The cost of a request so far.
#[derive(Default)]
pub struct Cost {
    round_trips: AtomicU32,
    rows_read: AtomicU32,
    rows_written: AtomicU32,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "round_trips={}, rows_read={}, rows_written={}",
            self.round_trips.load(Relaxed),
            self.rows_read.load(Relaxed),
            self.rows_written.load(Relaxed)
        )
    }
}

/// How often a batch is repeated, and how long the first pause is. Each further pause is twice as long. A pause is
/// longer by a random time, so that requests which failed together do not come back together.
const RETRIES: u32 = 3;
const FIRST_PAUSE_MILLIS: u64 = 100;

fn pause(retry: u32) -> Duration {
    let millis = FIRST_PAUSE_MILLIS << retry;
    let mut byte = [0];
    // Without randomness, the pause is only less spread.
    let _ = random::fill(&mut byte);
    Duration::from_millis(millis + millis * u64::from(byte[0]) / 256)
}

pub struct Db {
    /// A D1 database, a session with one, or the object of a workspace.
    database: SendWrapper<JsValue>,
    is_session: bool,
    cost: Arc<Cost>,
    /// Whether `db.js` remembers the texts of statements.
    remembers_texts: bool,
    /// The faults that tests plan.
    faults: Option<&'static str>,
}

impl Db {
    /// The cost of every batch is added to `cost`. With `freshness`, reads may be answered by a replica that is fresh
    /// enough, and each later batch sees what the earlier ones have seen.
    pub fn new(
        database: JsValue,
        freshness: Option<&Freshness>,
        cost: Arc<Cost>,
        faults: Option<&'static str>,
    ) -> Self {
        let is_session = freshness.is_some();
        let database = match freshness {
            None => database,
            Some(it) => open_session(&database, it.as_str()),
        };
        // A planned fault is found by the texts of a batch.
        let remembers_texts = faults.is_none();
        Self { database: SendWrapper::new(database), is_session, cost, remembers_texts, faults }
    }

    /// The database of a workspace's own object.
    pub fn of_workspace(
        objects: &JsValue,
        workspace: &WorkspaceId,
        cost: Arc<Cost>,
        faults: Option<&'static str>,
    ) -> Self {
        Self::of_object(open_object(objects, workspace.as_str()), cost, faults)
    }

    /// A database that an object holds. An object has no replicas, and gets the texts of statements: it may run in another isolate
    /// than `db.js`.
    pub fn of_object(object: JsValue, cost: Arc<Cost>, faults: Option<&'static str>) -> Self {
        Self { database: SendWrapper::new(object), is_session: false, cost, remembers_texts: false, faults }
    }

    /// The bookmark of the newest state that this request has read or written, if it belongs to a session.
    pub fn bookmark(&self) -> Option<String> {
        self.is_session.then(|| bookmark_of(&self.database)).flatten()
    }

    /// Runs the statements as one transaction: all of them or none. After a passing fault of D1, the batch is sent
    /// again, if it did not run or may run twice.
    pub async fn batch(&self, statements: &[Statement]) -> std::result::Result<Vec<Rows>, DbFailure> {
        for retry in 0..RETRIES {
            match self.send(statements).await {
                Err(failure) if failure.may_be_retried(statements.iter().all(Statement::is_repeatable)) => {
                    Delay::from(pause(retry)).await;
                }
                ended => return ended,
            }
        }
        self.send(statements).await
    }

    /// Sends a batch once.
    async fn send(&self, statements: &[Statement]) -> std::result::Result<Vec<Rows>, DbFailure> {
        self.cost.round_trips.fetch_add(1, Relaxed);
        let answer = JsFuture::from(self.run(statements)?)
            .await
            .map_err(|cause| DbFailure::from_message(message_of(&cause)))
            .inspect_err(|failure| {
                if let DbFailure::Busy(cause) | DbFailure::Lost(cause) = failure {
                    console_warn!("the database failed for the moment: {cause}");
                }
            })?;
        let rows = read_answer(answer.unchecked_into::<Uint8Array>().to_vec())
            .map_err(|cause| DbFailure::Other(format!("the answer of the database cannot be read: {cause}")))?;
        for it in &rows {
            self.cost.rows_read.fetch_add(it.figures.rows_read.unwrap_or_default(), Relaxed);
            self.cost.rows_written.fetch_add(it.figures.rows_written.unwrap_or_default(), Relaxed);
        }
        Ok(rows)
    }

    /// Hands a batch over. The text of the batch is gone before anybody waits for the answer.
    fn run(&self, statements: &[Statement]) -> std::result::Result<Promise, DbFailure> {
        let batch = batch_json(statements, self.remembers_texts)
            .map_err(|cause| DbFailure::Other(format!("a batch is not JSON: {cause}")))?;
        Ok(run(&self.database, &batch, self.faults))
    }
}

/// From how many bytes on the text of a batch gets its room at once. A text that grows step by step takes up to three times
/// its size.
const LARGE_BATCH_BYTES: usize = 256 * 1024;

/// How much room the text of another batch gets at first.
const SMALL_BATCH_BYTES: usize = 1024;

fn batch_json(statements: &[Statement], remembers_texts: bool) -> serde_json::Result<String> {
    let bytes = statements.iter().map(Statement::bytes).sum::<usize>();
    let sent = statements.iter().map(|statement| SentStatement { statement, remembers_texts }).collect::<Vec<_>>();
    let mut batch = Vec::with_capacity(if bytes < LARGE_BATCH_BYTES { SMALL_BATCH_BYTES } else { bytes + bytes / 16 });
    serde_json::to_writer(&mut batch, &sent)?;
    String::from_utf8(batch).map_err(serde::ser::Error::custom)
}

fn message_of(cause: &JsValue) -> String {
    cause.dyn_ref::<worker::js_sys::Error>().map_or_else(|| format!("{cause:?}"), |error| String::from(error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_spread() {
        for (retry, least) in [(0, 100), (1, 200), (2, 400)] {
            let pauses = (0..50).map(|_| pause(retry).as_millis()).collect::<std::collections::BTreeSet<_>>();
            assert!(pauses.iter().all(|it| (least..2 * least).contains(it)) && pauses.len() > 5, "{pauses:?}");
        }
    }
}
