//! One call on files: its folder is made and filled, its code is run, and the folder is read and removed.

use super::contents::Contents;
use super::request::{FileRequest, NamedFile, hex};
use super::room::OpenRoom;
use crate::answer::{Answer, ChangedFile, Encoding, FileChanges, FileContent, Stopped, Timing};
use crate::call::{self, NotRun, Task};
use crate::folder::{Fault, Folder, Hash, PlacedFile, Slot, Snapshot, is_overfull, snapshot};
use crate::log::say;
use crate::zygote::Zygote;
use data_encoding::BASE64;
use std::collections::HashMap;
use std::future::Future;
use std::io::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// How many bytes of contents a response holds.
const INLINE_BYTES: usize = 2 << 20;
/// How often a folder is counted that no file system limits.
const COUNT_EVERY: Duration = Duration::from_millis(100);

/// The outcome of a call.
pub enum Ended {
    Answered(Box<Answer>),
    /// The share does not have these contents. Nothing was run.
    Missing(Vec<Hash>),
    /// The request is wrong about the contents. Nothing was run.
    Invalid(String),
}

/// Runs the call, and sends the outcome as soon as it is known. The call is over when its folder is removed.
pub async fn run(
    room: Arc<OpenRoom>,
    contents: Arc<Contents>,
    request: Arc<FileRequest>,
    mut outcome: oneshot::Sender<Result<Ended>>,
) {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let begun = Instant::now();
        let attempt = Attempt::prepare(&room, &contents, &request).await;
        let Ready { zygote, folder, bytes } = match attempt {
            Ok(Attempt::Ready(ready)) => ready,
            Ok(Attempt::Refused(ended)) => {
                let _ = outcome.send(Ok(ended));
                return;
            }
            Err(cause) => {
                let _ = outcome.send(Err(cause));
                return;
            }
        };
        let folder_made = begun.elapsed();
        let task = Task { text: &request.task, limits: request.limits, folder: Some(folder.descriptor()) };
        let ended = call::run(&zygote, &task, interrupted(&zygote, &folder, outcome.closed())).await;
        match ended {
            // The child got no word, so nothing has begun, and the call can be made again.
            Err(NotRun::Zygote(_)) if attempts == 1 => {
                zygote.end().await;
                clear(&zygote, folder).await;
            }
            Err(cause) => {
                let _ = outcome.send(Err(cause.into()));
                return clear(&zygote, folder).await;
            }
            Ok(mut answer) if !answer.is_dead => {
                // Nothing that the child still does may be read as its work, or be in the way of another call.
                zygote.dismiss();
                answer.files = request.tells_changes.then(|| unreadable("its child cannot be stopped"));
                let _ = outcome.send(Ok(Ended::Answered(Box::new(answer))));
                return;
            }
            Ok(mut answer) => {
                if request.tells_changes {
                    let ended = Instant::now();
                    answer.files = Some(changes(&contents, &request, bytes, &folder).await);
                    answer.timing = Some(Timing {
                        folder_ms: millis(folder_made),
                        fork_ms: millis(answer.forked),
                        snapshot_ms: millis(ended.elapsed()),
                    });
                }
                let _ = outcome.send(Ok(Ended::Answered(Box::new(answer))));
                return clear(&zygote, folder).await;
            }
        }
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A call that can be made, or the reason why it cannot.
enum Attempt {
    Ready(Ready),
    Refused(Ended),
}

struct Ready {
    zygote: Arc<Zygote>,
    folder: Arc<Folder>,
    /// The contents of the files of the session and of the bundle.
    bytes: Arc<[Arc<[u8]>]>,
}

impl Attempt {
    async fn prepare(room: &OpenRoom, contents: &Arc<Contents>, request: &Arc<FileRequest>) -> Result<Self> {
        let bytes: Arc<[Arc<[u8]>]> = match contents.get_all(&request.share, request.hashes()) {
            Ok(bytes) => bytes.into(),
            Err(missing) => return Ok(Self::Refused(Ended::Missing(missing))),
        };
        if let Err(why) = request.check_sizes(&bytes) {
            return Ok(Self::Refused(Ended::Invalid(why)));
        }
        let zygote = room.zygotes.at_hand().await?;
        let slot = zygote.take_slot().ok_or_else(|| Error::other("no slot is free"))?;
        let slot = Slot { directory: slot, is_shared: !zygote.layers.private_root };
        let (user, request, to_place) = (room.zygotes.user(), request.clone(), bytes.clone());
        let made = spawn_blocking(move || filled(slot, user, &request, &to_place)).await;
        let (folder, is_filled) = match made.map_err(Error::other)? {
            Ok(made) => made,
            Err(cause) => {
                // The slot is lost, and ends with its zygote.
                zygote.dismiss();
                return Err(cause);
            }
        };
        let folder = Arc::new(folder);
        if let Err(cause) = is_filled {
            clear(&zygote, folder).await;
            return Err(cause);
        }
        Ok(Self::Ready(Ready { zygote, folder, bytes }))
    }
}

/// A folder, and whether it could be filled.
fn filled(slot: Slot, user: Option<u32>, request: &FileRequest, bytes: &[Arc<[u8]>]) -> Result<(Folder, Result<()>)> {
    let folder = Folder::make(slot, user)?;
    let (of_files, of_bundle) = bytes.split_at(request.files.len());
    let is_filled = folder.fill(placed(&request.files, of_files), placed(&request.bundle, of_bundle));
    Ok((folder, is_filled))
}

fn placed<'a>(files: &'a [NamedFile], bytes: &'a [Arc<[u8]>]) -> impl Iterator<Item = PlacedFile<'a>> {
    let files = files.iter().zip(bytes);
    files.map(|(file, bytes)| PlacedFile { path: file.path.trim_start_matches('/'), bytes })
}

/// Ends when the call must be stopped: its client has left, or its files take too much room.
async fn interrupted(zygote: &Zygote, folder: &Folder, abandoned: impl Future<Output = ()>) -> Stopped {
    let overfull = async {
        if zygote.layers.private_root {
            // The slot is a file system with limits of its own.
            return std::future::pending().await;
        }
        loop {
            sleep(COUNT_EVERY).await;
            // The count may outlive the call, so it has a descriptor of its own.
            let Ok(folder) = folder.descriptor().try_clone_to_owned() else { return };
            if spawn_blocking(move || is_overfull(folder)).await.unwrap_or(true) {
                return;
            }
        }
    };
    tokio::select! {
        () = abandoned => Stopped::Abandoned,
        () = overfull => Stopped::Overfull,
    }
}

/// What the call has done to the session's files. The contents of changed files are kept for the next call.
async fn changes(
    contents: &Arc<Contents>,
    request: &Arc<FileRequest>,
    bytes: Arc<[Arc<[u8]>]>,
    folder: &Arc<Folder>,
) -> FileChanges {
    let (contents, request, folder) = (contents.clone(), request.clone(), folder.clone());
    let taken = spawn_blocking(move || {
        let before = request.files.iter().zip(&*bytes).map(|(file, bytes)| (&*file.path, &**bytes));
        let before: HashMap<&str, &[u8]> = before.collect();
        let taken = snapshot(folder.files(), &before)?;
        for left in &taken.changed {
            contents.put(&request.share, left.hash, left.bytes.clone());
        }
        Ok(told(taken))
    });
    match taken.await {
        Ok(Ok(changes)) => changes,
        Ok(Err(Fault::Broken(why))) => FileChanges { fault: Some(why), ..FileChanges::default() },
        Ok(Err(Fault::System(cause))) => unreadable(&cause.to_string()),
        Err(cause) => unreadable(&cause.to_string()),
    }
}

fn unreadable(cause: &str) -> FileChanges {
    say(format!("the files of a call cannot be read: {cause}"));
    FileChanges { fault: Some("the files that the run left cannot be read".into()), ..FileChanges::default() }
}

fn told(taken: Snapshot) -> FileChanges {
    let mut sizes: Vec<usize> = taken.changed.iter().map(|left| left.bytes.len()).collect();
    sizes.sort_unstable();
    let sum = |sum: &mut usize, size: &usize| {
        *sum += size;
        Some((*sum, *size))
    };
    // The size of the largest file that still fits, if all smaller files come first.
    let largest = sizes.iter().scan(0, sum).take_while(|(sum, _)| *sum <= INLINE_BYTES).last().map(|(_, size)| size);
    let mut room = INLINE_BYTES;
    let changed = taken.changed.into_iter().map(|left| {
        let size = left.bytes.len();
        let fits = largest.is_some_and(|largest| size <= largest) && size <= room;
        room -= if fits { size } else { 0 };
        ChangedFile { path: left.path, sha256: hex(&left.hash), size, content: fits.then(|| content(&left.bytes)) }
    });
    FileChanges { changed: changed.collect(), deleted: taken.deleted, fault: None }
}

/// Text stays text. Other control characters than those of lines would take six bytes each in JSON.
fn content(bytes: &[u8]) -> FileContent {
    let is_long = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.iter().any(is_long) => FileContent { encoding: Encoding::Utf8, data: text.into() },
        _ => FileContent { encoding: Encoding::Base64, data: BASE64.encode(bytes) },
    }
}

/// Removes the folder, and gives its slot back. If this fails, the zygote ends, and its slots with it.
async fn clear(zygote: &Arc<Zygote>, folder: Arc<Folder>) {
    let removed = spawn_blocking(move || match Arc::try_unwrap(folder) {
        Ok(folder) => folder.remove(),
        Err(_) => Err(Error::other("the folder is still in use")),
    });
    match removed.await.map_err(Error::other).flatten() {
        Ok(slot) => zygote.put_slot(slot.directory),
        Err(cause) => {
            say(format!("the folder of a call cannot be removed: {cause}"));
            zygote.dismiss();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(sizes: &[usize]) -> Snapshot {
        let changed = sizes.iter().enumerate().map(|(number, size)| crate::folder::Left {
            path: format!("/{number}"),
            hash: [0; 32],
            bytes: vec![b'x'; *size].into(),
        });
        Snapshot { changed: changed.collect(), deleted: Vec::new() }
    }

    #[test]
    fn small_contents_come_with_the_answer() {
        let inline = |sizes: &[usize]| {
            let changes = told(taken(sizes));
            changes.changed.iter().map(|file| file.content.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(inline(&[0, INLINE_BYTES]), [true, true]);
        assert_eq!(inline(&[1, INLINE_BYTES]), [true, false]);
        assert_eq!(inline(&[INLINE_BYTES, 1, 2]), [false, true, true]);
        assert_eq!(inline(&[INLINE_BYTES / 2, INLINE_BYTES / 2, INLINE_BYTES / 2]), [true, true, false]);
        assert_eq!(inline(&[]), Vec::<bool>::new());
    }

    #[test]
    fn contents_are_text_if_they_can_be() {
        assert_eq!(content("é".as_bytes()), FileContent { encoding: Encoding::Utf8, data: "é".into() });
        assert_eq!(content(b"\t\r\n"), FileContent { encoding: Encoding::Utf8, data: "\t\r\n".into() });
        assert_eq!(content(b"\x1b"), FileContent { encoding: Encoding::Base64, data: "Gw==".into() });
        assert_eq!(content(b"a\0"), FileContent { encoding: Encoding::Base64, data: "YQA=".into() });
        assert_eq!(content(b"\xff"), FileContent { encoding: Encoding::Base64, data: "/w==".into() });
    }
}
