//! The contents of files on their way between the database and the sandbox. The sandbox keeps contents by their SHA-256, so
//! only contents that it lacks are sent, and only those that no answer held are asked for.

use super::RunFailure;
use super::sandbox::{self, SandboxTalk, WAIT, unusable};
use crate::callers::Scope;
use crate::durable::sandbox::SandboxRoute;
use crate::error::Error;
use crate::files::{ListedFile, StoredPiece, WantedContents};
use crate::memory_turn::LARGE_BYTES;
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};
use worker::console_error;

/// The largest request that sends contents. The sandbox takes 12 MiB.
const MAX_CONTENTS_BYTES: usize = 10 * 1024 * 1024;

/// How many bytes of contents one request asks for.
const READ_BYTES: u32 = 3 * 1024 * 1024;
const MAX_READ_ANSWER_BYTES: usize = 5 * 1024 * 1024;

/// A file that a run has changed.
#[derive(Deserialize)]
pub struct ChangedFile {
    pub path: String,
    pub sha256: String,
    pub size: u32,
    /// None, if the contents have to be asked for.
    pub content: Option<LeftContent>,
}

#[derive(Deserialize)]
#[serde(tag = "encoding", content = "data", rename_all = "lowercase")]
pub enum LeftContent {
    Utf8(String),
    Base64(String),
}

/// Sends contents as they are stored, in pieces.
pub async fn send_contents(
    scope: &Scope,
    files: &[&ListedFile],
    missing: Vec<String>,
    talk: &mut SandboxTalk<'_>,
) -> Result<(), RunFailure> {
    // The sandbox must not learn of contents that neither the session nor the toolset has.
    let known = files.iter().map(|it| it.sha256.as_str()).collect::<HashSet<_>>();
    if missing.iter().any(|it| !known.contains(it.as_str())) {
        return Err(unusable("it asked for contents that are not the call's", ""));
    }
    let bytes = files.iter().filter(|it| missing.contains(&it.sha256)).map(|it| it.size as usize).sum::<usize>();
    if bytes > LARGE_BYTES {
        scope.memory_turn().take().await;
    }
    let mut wanted = WantedContents::new(missing);
    while let Some(stored) = wanted.next(scope).await? {
        send_pieces(scope, &stored.all()?, talk).await?;
    }
    if wanted.left() > 0 {
        // Another request has changed the session, and the sweep has freed what the session had before.
        return Err(RunFailure::tool("The session's files have changed meanwhile: call again"));
    }
    Ok(())
}

/// Sends these pieces of contents.
pub async fn send_pieces(
    scope: &Scope,
    pieces: &[StoredPiece<'_>],
    talk: &mut SandboxTalk<'_>,
) -> Result<(), RunFailure> {
    for body in contents_bodies(scope.workspace().as_str(), pieces)? {
        let answered = talk.ask(SandboxRoute::FilesContents, &body, Some(WAIT), MAX_READ_ANSWER_BYTES).await;
        let (status, text) = answered.map_err(|(place, failure)| sandbox::failed(place, failure))?;
        if status != 200 {
            return Err(unusable(&format!("it took no contents, with the status {status}"), &text));
        }
    }
    Ok(())
}

/// Requests that send these pieces, each small enough for the sandbox. JSON may make the text of a piece longer.
fn contents_bodies(share: &str, pieces: &[StoredPiece<'_>]) -> Result<Vec<String>, Error> {
    #[derive(Serialize)]
    struct ContentsJob<'a> {
        share: &'a str,
        pieces: &'a [StoredPiece<'a>],
    }
    let (mut bodies, mut from, mut bytes) = (Vec::new(), 0, 0);
    for (at, piece) in pieces.iter().enumerate() {
        let size = piece.data.get().len();
        if at > from && bytes + size > MAX_CONTENTS_BYTES {
            bodies.push(to_json(&ContentsJob { share, pieces: &pieces[from..at] })?);
            (from, bytes) = (at, 0);
        }
        bytes += size;
    }
    bodies.push(to_json(&ContentsJob { share, pieces: &pieces[from..] })?);
    Ok(bodies)
}

/// Takes the next files whose contents fit into one answer together, or one file that is larger.
pub fn next_to_ask(files: &mut VecDeque<ChangedFile>) -> VecDeque<ChangedFile> {
    let mut bytes = 0;
    let fitting = files.iter().take_while(|it| {
        bytes += u64::from(it.size);
        bytes <= u64::from(READ_BYTES)
    });
    let count = fitting.count().max(1).min(files.len());
    files.drain(..count).collect()
}

/// Reads contents that a run has left behind. A file larger than an answer comes piece by piece. Contents that cannot be had
/// any more stay incomplete.
pub async fn read_contents(
    scope: &Scope,
    files: &mut VecDeque<ChangedFile>,
    talk: &mut SandboxTalk<'_>,
) -> Result<(), RunFailure> {
    if files.iter().map(|it| it.size as usize).sum::<usize>() > LARGE_BYTES {
        scope.memory_turn().take().await;
    }
    let share = scope.workspace().as_str();
    let mut digits = vec![String::new(); files.len()];
    let mut from = 0;
    while from == 0 || files.iter().any(|it| it.size > from) {
        let wanted = files.iter().map(|it| Wanted { sha256: &it.sha256, from, bytes: READ_BYTES });
        let asked = to_json(&ReadJob { share, wanted: wanted.collect() })?;
        match talk.ask(SandboxRoute::FilesRead, &asked, Some(WAIT), MAX_READ_ANSWER_BYTES).await {
            Ok((200, text)) => {
                let Ok(answer) = serde_json::from_str::<ReadAnswer>(&text) else { return Ok(()) };
                for (digits, piece) in digits.iter_mut().zip(answer.pieces) {
                    // A piece that another one follows has a multiple of three bytes, so that the digits can be joined.
                    digits.push_str(&piece.data);
                }
            }
            Ok((status, _)) => {
                console_error!("contents of a run cannot be read: the sandbox answered with the status {status}");
                return Ok(());
            }
            Err((place, failure)) => {
                console_error!("contents of a run cannot be read: {place}: {failure}");
                return Ok(());
            }
        }
        from += READ_BYTES;
    }
    for (file, digits) in files.iter_mut().zip(digits) {
        file.content = Some(LeftContent::Base64(digits));
    }
    Ok(())
}

#[derive(Serialize)]
struct ReadJob<'a> {
    share: &'a str,
    wanted: Vec<Wanted<'a>>,
}

#[derive(Serialize)]
struct Wanted<'a> {
    sha256: &'a str,
    from: u32,
    bytes: u32,
}

#[derive(Deserialize)]
struct ReadAnswer {
    pieces: Vec<ReadPiece>,
}

#[derive(Deserialize)]
struct ReadPiece {
    data: String,
}

pub fn to_json(body: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(body)
        .map_err(|cause| Error::Internal(format!("a request to the sandbox is not JSON: {cause}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    #[test]
    fn contents_are_asked_for_together_as_far_as_an_answer_holds_them() {
        let file = |size| ChangedFile { path: "/a".into(), sha256: String::new(), size, content: None };
        let mut left = [10, READ_BYTES - 10, 1, READ_BYTES + 1, 0, 5].map(file).into_iter().collect::<VecDeque<_>>();
        let groups = std::iter::from_fn(|| Some(next_to_ask(&mut left)).filter(|it| !it.is_empty()));
        let sizes = groups.map(|group| group.iter().map(|it| it.size).collect::<Vec<_>>()).collect::<Vec<_>>();
        assert_eq!(sizes, [vec![10, READ_BYTES - 10], vec![1], vec![READ_BYTES + 1], vec![0, 5]]);
    }

    #[test]
    fn contents_are_sent_in_requests_that_fit() {
        let data = RawValue::from_string(format!("\"{}\"", "x".repeat(3 * 1024 * 1024))).unwrap();
        let piece = |number| StoredPiece {
            sha256: "x",
            encoding: serde_json::from_str("\"utf8\"").unwrap(),
            number,
            count: 5,
            data: &data,
        };
        let pieces = (0..5).map(piece).collect::<Vec<_>>();
        let bodies = contents_bodies("ws", &pieces).unwrap();
        let counts =
            bodies.iter().map(|it| serde_json::from_str::<Value>(it).unwrap()["pieces"].as_array().unwrap().len());
        assert_eq!(counts.collect::<Vec<_>>(), [3, 2]);
        let small = contents_bodies("ws", &pieces[..1]).unwrap();
        assert!(
            small[0].starts_with(
                r#"{"share":"ws","pieces":[{"sha256":"x","encoding":"utf8","number":0,"count":5,"data":"x"#
            )
        );
    }
}
