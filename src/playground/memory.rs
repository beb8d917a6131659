//! What the object keeps of a turn in its storage. A crash of the runtime loses at most the step that is under way, and the
//! next request or the object's alarm ends the message that was left behind.

use super::kept::{KeptEnd, KeptTurn};
use super::part::Part;
use super::pieces::pieces;
use super::times::ChatTimes;
use crate::error::{Error, Result};
use crate::ids::MessageId;
use futures_util::future::{try_join, try_join_all, try_join3};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::js_sys::Promise;
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen_futures::JsFuture;
use worker::{Date, ListOptions, State, Storage, console_error};

const TURN: &str = "turn";
const END: &str = "end";
/// A key for each message that waits.
const WAITING: &str = "waiting:";
const PARTS: &str = "part:";

/// How many messages of a session may wait at the same time. The object looks at the approvals of each. Of more, those that
/// have waited for the longest time are forgotten.
const MAX_WAITING: usize = 32;

/// How many keys the storage deletes at once.
const MAX_KEYS: usize = 128;

/// How many bytes of JSON one value holds. The storage takes 2 MB, in which each byte may become two: a text with one
/// character that is not in Latin-1 has two bytes for every character.
const MAX_VALUE_BYTES: usize = 900_000;

/// A turn that a crash has left behind.
pub struct UnfinishedTurn {
    pub turn: KeptTurn,
    pub parts: Vec<Part>,
    pub end: KeptEnd,
}

/// A part that the storage holds.
#[derive(Clone, Copy)]
struct SavedPart {
    /// The hash of its JSON. None, if it is not known.
    hash: Option<u64>,
    /// In how many values it is.
    pieces: usize,
}

#[wasm_bindgen(module = "/src/playground/memory.js")]
extern "C" {
    #[wasm_bindgen(js_name = replaceAll)]
    fn replace_all(storage: &JsValue, key: &str, text: &str, alarm: f64, kept: &str, obsolete: &str) -> Promise;
}

pub struct TurnMemory {
    storage: Storage,
    /// The same storage, for [`replace_all`].
    raw: JsValue,
    times: ChatTimes,
    /// For how long an approval may be decided.
    approval_time: Duration,
    saved: Vec<SavedPart>,
}

impl TurnMemory {
    pub fn new(state: &State, times: ChatTimes, approval_time: Duration) -> Result<Self> {
        let raw = state.as_raw().storage().map_err(|cause| failed(cause.into()))?.into();
        Ok(Self { storage: state.storage(), raw, times, approval_time, saved: Vec::new() })
    }

    /// Keeps a turn that begins. Its own message waits for no approval any more, and what a turn that hung has written after
    /// its end goes. Other messages wait on: the conversation may come back to them, and their approvals may be decided.
    ///
    /// The response does not wait for the disk. A crash that loses this write leaves a conversation that ends with the
    /// user's message, or a turn that still waits for its approvals. No call is lost: calls are sent only after the writes of
    /// [`TurnMemory::save`] are on disk, and a call that was approved has its row in D1.
    pub async fn begin(&self, turn: &KeptTurn) -> Result<()> {
        let alarm = (now() + millis(self.times.look_after())) as f64;
        let obsolete = waiting_key(&turn.message_id);
        let begun = JsFuture::from(replace_all(&self.raw, TURN, &to_json(turn)?, alarm, WAITING, &obsolete)).await;
        begun.map(drop).map_err(|cause| failed(cause.into()))
    }

    /// Deletes the keys. To delete everything would be to delete the object's database, and takes the storage longer.
    ///
    /// Writes that begin together are one transaction, and each transaction waits for the disk. So this is joined with
    /// other writes.
    async fn delete(&self, keys: &[String]) -> worker::Result<()> {
        let deleted =
            keys.chunks(MAX_KEYS).map(|it| self.storage.delete_multiple(it.iter().map(String::as_str).collect()));
        try_join_all(deleted).await.map(drop)
    }

    /// Keeps the parts of the message so far. Only parts that have changed are written, and all of them in one transaction:
    /// a crash leaves the message as it was before, or as it is now.
    pub async fn save(&mut self, parts: &[Part]) -> Result<()> {
        let mut saved = self.saved.clone();
        let (mut written, mut obsolete) = (Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            let json = to_json(part)?;
            let mut hasher = DefaultHasher::new();
            json.hash(&mut hasher);
            let hash = Some(hasher.finish());
            let before = saved.get(index).copied();
            if before.is_some_and(|it| it.hash == hash) {
                continue;
            }
            let pieces = pieces(&json, MAX_VALUE_BYTES);
            let now = SavedPart { hash, pieces: pieces.len() };
            obsolete.extend((now.pieces..before.map_or(0, |it| it.pieces)).map(|it| part_key(index, it)));
            written.extend(pieces.into_iter().enumerate().map(|(at, it)| (part_key(index, at), it.to_owned())));
            match saved.get_mut(index) {
                Some(it) => *it = now,
                None => saved.push(now),
            }
        }
        let puts = try_join_all(written.into_iter().map(|(key, json)| {
            let storage = &self.storage;
            async move { storage.put(&key, json).await }
        }));
        try_join(puts, self.delete(&obsolete)).await.map_err(failed)?;
        self.saved = saved;
        Ok(())
    }

    /// Keeps the end of the turn, before its message is stored.
    pub async fn keep_end(&self, end: &KeptEnd) -> Result<()> {
        self.storage.put(END, to_json(end)?).await.map_err(failed)
    }

    /// Forgets the turn, because its message is stored. `waiting` is kept until its approvals are decided.
    pub async fn end(&mut self, waiting: Option<&KeptTurn>) -> Result<()> {
        let mut others = self.all_waiting().await?;
        let pause = others.iter().chain(waiting).map(|it| self.next_look(it)).min();
        let waiting = waiting.map(|it| Ok::<_, Error>((waiting_key(&it.message_id), to_json(it)?))).transpose()?;
        let mut keys = Vec::new();
        if waiting.is_some() && others.len() >= MAX_WAITING {
            others.sort_by_key(|it| it.waits_since);
            keys.extend(others.iter().take(others.len() + 1 - MAX_WAITING).map(|it| waiting_key(&it.message_id)));
        }
        for (index, part) in self.saved.iter().enumerate() {
            keys.extend((0..part.pieces).map(|it| part_key(index, it)));
        }
        keys.extend([TURN, END].map(str::to_owned));
        let kept = async {
            match &waiting {
                Some((key, turn)) => self.storage.put(key, turn).await,
                None => Ok(()),
            }
        };
        let alarm = async {
            match pause {
                Some(pause) => self.storage.set_alarm(pause).await,
                None => self.storage.delete_alarm().await,
            }
        };
        try_join3(self.delete(&keys), alarm, kept).await.map(drop).map_err(failed)?;
        self.saved.clear();
        Ok(())
    }

    /// The turn that has begun and not ended.
    pub async fn unfinished(&mut self) -> Result<Option<UnfinishedTurn>> {
        let Some(turn) = self.storage.get::<String>(TURN).await.map_err(failed)? else { return Ok(None) };
        let mut texts = Vec::<String>::new();
        let found = self.storage.list_with_options(ListOptions::new().prefix(PARTS)).await.map_err(failed)?;
        self.saved.clear();
        // The storage lists keys in their order, so the pieces of a part follow each other.
        for entry in found.entries() {
            let entry = entry.map_err(|cause| failed(cause.into()))?;
            let [key, json] = [0, 1].map(|it| worker::js_sys::Array::from(&entry).get(it).as_string());
            let is_first = key.is_some_and(|it| it.ends_with(&piece_suffix(0)));
            let json = json.ok_or_else(|| Error::Internal("a kept part is no text".into()))?;
            if is_first {
                texts.push(json);
                // No hash is known, so that a part that is saved again is written.
                self.saved.push(SavedPart { hash: None, pieces: 1 });
            } else if let (Some(text), Some(saved)) = (texts.last_mut(), self.saved.last_mut()) {
                text.push_str(&json);
                saved.pieces += 1;
            }
        }
        let end = self.storage.get::<String>(END).await.map_err(failed)?;
        let read = || {
            let parts = texts.iter().map(|it| from_json(it)).collect::<Result<Vec<_>>>()?;
            let end = end.map_or_else(|| Ok(KeptEnd::broken_off()), |it| from_json(&it))?;
            Ok::<_, Error>(UnfinishedTurn { turn: from_json(&turn)?, parts, end })
        };
        match read() {
            Ok(turn) => Ok(Some(turn)),
            // Another version of the Worker may have kept it in another form. Nobody could ever end it.
            Err(cause) => {
                console_error!("a turn is given up: {cause:?}");
                self.end(None).await.map(|()| None)
            }
        }
    }

    /// The turn of this message, if the message waits for an approval.
    pub async fn waiting(&self, message: &MessageId) -> Result<Option<KeptTurn>> {
        let turn = self.storage.get::<String>(&waiting_key(message)).await.map_err(failed)?;
        Ok(turn.and_then(|it| read_waiting(&it)))
    }

    /// The turns of all messages that wait for an approval.
    pub async fn all_waiting(&self) -> Result<Vec<KeptTurn>> {
        let found = self.storage.list_with_options(ListOptions::new().prefix(WAITING)).await.map_err(failed)?;
        let turns = found.values().into_iter().map(|it| it.map_err(|cause| failed(cause.into())));
        let turns = turns.collect::<Result<Vec<_>>>()?;
        Ok(turns.into_iter().filter_map(|it| read_waiting(&it.as_string()?)).collect())
    }

    /// Keeps what a message still waits for.
    pub async fn keep_waiting(&self, turn: &KeptTurn) -> Result<()> {
        self.storage.put(&waiting_key(&turn.message_id), to_json(turn)?).await.map_err(failed)
    }

    /// The message waits for no approval any more.
    pub async fn forget_waiting(&self, message: &MessageId) -> Result<()> {
        self.storage.delete(&waiting_key(message)).await.map(drop).map_err(failed)
    }

    /// The pause before the next look at the approvals of a message, if nothing is known of them.
    pub fn next_look(&self, turn: &KeptTurn) -> Duration {
        let waited = waited(turn);
        self.times.next_look(waited, self.approval_time.checked_sub(waited))
    }

    /// Has the object look after its turns again.
    pub async fn look_again(&self, pause: Duration) -> Result<()> {
        self.storage.set_alarm(pause).await.map_err(failed)
    }

    /// The same, unless the object looks earlier.
    pub async fn look_within(&self, pause: Duration) -> Result<()> {
        let latest = now() + millis(pause);
        match self.storage.get_alarm().await.map_err(failed)? {
            Some(alarm) if u64::try_from(alarm).is_ok_and(|it| it <= latest) => Ok(()),
            Some(_) | None => self.look_again(pause).await,
        }
    }
}

fn waiting_key(message: &MessageId) -> String {
    format!("{WAITING}{message}")
}

/// None, if another version of the Worker has kept the turn in another form.
fn read_waiting(json: &str) -> Option<KeptTurn> {
    from_json(json).inspect_err(|cause| console_error!("a turn that waits is given up: {cause:?}")).ok()
}

/// The key of a piece of a part.
fn part_key(index: usize, piece: usize) -> String {
    format!("{PARTS}{index:06}{}", piece_suffix(piece))
}

fn piece_suffix(piece: usize) -> String {
    format!(":{piece:02}")
}

/// For how long a turn has waited for its approvals.
pub fn waited(turn: &KeptTurn) -> Duration {
    Duration::from_millis(turn.waits_since.map_or(0, |it| now().saturating_sub(it)))
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    Date::now().as_millis()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| Error::Internal(format!("a turn is not JSON: {cause}")))
}

fn from_json<T: for<'a> Deserialize<'a>>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|cause| Error::Internal(format!("a kept turn cannot be read: {cause}")))
}

fn failed(cause: worker::Error) -> Error {
    Error::Internal(format!("the storage of a turn failed: {cause}"))
}
