//! Where mail comes from. Each kind of source gives its messages in an order that is always the same, so that an import
//! that was interrupted can go on after as many as it had.

mod csv;
pub mod hub;
mod maildir;
mod parquet;
mod tarball;

use crate::mail::{Mail, Unusable};
use crate::parse::Parser;
use anyhow::{Context, Result, bail};
use maildir::Maildir;
use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A file over this is no message, and is not read: what D1 takes is an eighth of it, and attachments are in it too.
const MESSAGE_BYTES: u64 = 16 << 20;

pub enum Source {
    /// CMU's tree: a file for each message.
    Maildir(Maildir),
    /// The same, packed.
    Tarball(PathBuf),
    /// Kaggle's two columns, `file` and `message`.
    Csv(PathBuf),
    /// Hugging Face's columns, parsed already.
    Parquet(Vec<PathBuf>),
}

/// A message as its source has it.
pub struct Found {
    /// Its place in the corpus, `allen-p/inbox/1.`.
    pub file: String,
    pub content: Content,
    /// How far into the source it is, in the source's `Extent`.
    pub at: u64,
}

pub enum Content {
    Raw(Vec<u8>),
    Parsed(Box<Result<Mail, Unusable>>, u64),
    Unreadable(String),
    /// So many bytes that they were left unread.
    TooLarge(u64),
}

impl Content {
    /// What a reader gives, which says that it has so many bytes: neither that nor the reader is trusted to be small.
    fn read(size: u64, reader: impl Read) -> io::Result<Self> {
        if size > MESSAGE_BYTES {
            return Ok(Self::TooLarge(size));
        }
        let mut raw = Vec::new();
        reader.take(MESSAGE_BYTES + 1).read_to_end(&mut raw)?;
        Ok(if raw.len() as u64 > MESSAGE_BYTES { Self::TooLarge(raw.len() as u64) } else { Self::Raw(raw) })
    }

    /// The message, with the bytes that it took in the source.
    pub fn parse(self, parser: &Parser) -> (u64, Result<Mail, Unusable>) {
        match self {
            Self::Raw(raw) => (raw.len() as u64, parser.parse(&raw)),
            Self::Parsed(parsed, bytes) => (bytes, *parsed),
            Self::Unreadable(cause) => (0, Err(Unusable::Unreadable(cause))),
            Self::TooLarge(bytes) => (0, Err(Unusable::TooLarge(bytes))),
        }
    }
}

/// How large a source is, in what can be known before reading it.
#[derive(Clone, Copy)]
pub enum Extent {
    Messages(u64),
    Bytes(u64),
}

pub type Visit<'a> = &'a mut dyn FnMut(Found) -> ControlFlow<()>;

impl Source {
    /// What the path is. `know` tells names of mailboxes: a folder of that name is one mailbox, not a folder of them.
    pub fn open(path: &Path, know: impl Fn(&str) -> bool) -> Result<Self> {
        let is = fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if is.is_dir() {
            let parquet = parquet::files_in(path)?;
            return Ok(if parquet.is_empty() {
                Self::Maildir(Maildir::new(path, know)?)
            } else {
                Self::Parquet(parquet)
            });
        }
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        Ok(match () {
            () if ends(&[".csv"]) => Self::Csv(path.to_owned()),
            () if ends(&[".parquet"]) => Self::Parquet(vec![path.to_owned()]),
            () if ends(&[".tar.gz", ".tgz", ".tar"]) => Self::Tarball(path.to_owned()),
            () => bail!("{}: a source is a folder, a .tar.gz, a .csv or a .parquet", path.display()),
        })
    }

    /// Walks through the source, after the first `skip` messages, until the end or a break.
    pub fn read(&self, skip: u64, visit: Visit) -> Result<()> {
        match self {
            Self::Maildir(maildir) => maildir.read(skip, visit),
            Self::Tarball(path) => tarball::read(path, skip, visit),
            Self::Csv(path) => csv::read(path, skip, visit),
            Self::Parquet(paths) => parquet::read(paths, skip, visit),
        }
    }

    pub fn extent(&self) -> Result<Extent> {
        Ok(match self {
            Self::Maildir(maildir) => Extent::Messages(maildir.count()),
            Self::Tarball(path) | Self::Csv(path) => Extent::Bytes(fs::metadata(path)?.len()),
            Self::Parquet(paths) => Extent::Messages(parquet::count(paths)?),
        })
    }

    /// What must be the same for an interrupted import to go on: the files, and their sizes where there are few.
    pub fn identity(&self) -> Result<String> {
        let of = |path: &PathBuf| -> Result<String> {
            let size = fs::metadata(path)?.len();
            Ok(format!("{} ({size} bytes)", fs::canonicalize(path)?.display()))
        };
        Ok(match self {
            Self::Maildir(maildir) => maildir.identity()?,
            Self::Tarball(path) | Self::Csv(path) => of(path)?,
            Self::Parquet(paths) => paths.iter().map(of).collect::<Result<Vec<_>>>()?.join(", "),
        })
    }
}
