//! `maildir/<mailbox>/<folder...>/<n>.`: a file for each message, with any file name.

use super::{Content, Found, Visit};
use crate::hex::hex;
use crate::mailboxes::MAILDIR;
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fs::{self, DirEntry, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub struct Maildir {
    root: PathBuf,
    /// The prefix of each file's path: the mailbox, if the root is a mailbox.
    prefix: String,
    /// The number of files, and a hash of their names, by which an interrupted import recognises its source.
    count: u64,
    names: String,
}

impl Maildir {
    pub fn new(root: &Path, know: impl Fn(&str) -> bool) -> Result<Self> {
        let whole = fs::canonicalize(root)?;
        let name = whole.file_name().unwrap_or_default().to_string_lossy();
        let is_in_maildir = whole.parent().and_then(Path::file_name).is_some_and(|parent| parent == MAILDIR);
        let prefix = if is_in_maildir || know(&name) { format!("{name}/") } else { String::new() };
        let mut count = 0;
        let mut names = Sha256::new();
        let _to_the_end = walk(root, &prefix, &mut |_, file| {
            count += 1;
            names.update(file + "\n");
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Self { root: root.to_owned(), prefix, count, names: hex(&names.finalize()[..8]) })
    }

    pub fn identity(&self) -> Result<String> {
        Ok(format!("{} ({} files, {})", fs::canonicalize(&self.root)?.display(), self.count, self.names))
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn read(&self, skip: u64, visit: Visit) -> Result<()> {
        let mut at = 0;
        let walked = walk(&self.root, &self.prefix, &mut |path, file| {
            at += 1;
            if at <= skip {
                return Ok(ControlFlow::Continue(()));
            }
            let content = content(path).unwrap_or_else(|cause| Content::Unreadable(cause.to_string()));
            Ok(visit(Found { file, content, at }))
        });
        walked.map(|_| ())
    }
}

fn content(path: &Path) -> io::Result<Content> {
    let is = fs::metadata(path)?;
    // Opening a pipe would wait for its writer.
    if !is.is_file() {
        return Ok(Content::Unreadable("not a file".into()));
    }
    Content::read(is.len(), File::open(path)?)
}

type OnFile<'a> = &'a mut dyn FnMut(&Path, String) -> Result<ControlFlow<()>>;

/// Every file under the folder, ordered by name, because the file system itself has no order.
fn walk(folder: &Path, prefix: &str, on_file: OnFile) -> Result<ControlFlow<()>> {
    let listed = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<DirEntry>, _>>());
    let mut entries = listed.with_context(|| format!("cannot list {}", folder.display()))?;
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), format!("{prefix}{}", entry.file_name().to_string_lossy()));
        let flow =
            if entry.file_type()?.is_dir() { walk(&path, &format!("{name}/"), on_file) } else { on_file(&path, name) };
        if flow?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
