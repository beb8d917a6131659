//! The sources of mail. Each kind of source returns its messages always in the same order, so that an interrupted
//! import can skip the messages that it had.

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

/// A larger file is no message, and is not read. D1 takes an eighth of this size, and a file also holds attachments.
const MESSAGE_BYTES: u64 = 16 << 20;

pub enum Source {
    /// CMU's tree: a file for each message.
    Maildir(Maildir),
    /// The same tree, packed.
    Tarball(PathBuf),
    /// Kaggle's two columns, `file` and `message`.
    Csv(PathBuf),
    /// Hugging Face's columns, already parsed.
    Parquet(Vec<PathBuf>),
}

/// A message in its source's form.
pub struct Found {
    /// The message's path in the corpus, `allen-p/inbox/1.`.
    pub file: String,
    pub content: Content,
    /// The position in the source, in the unit of the source's `Extent`.
    pub at: u64,
}

pub enum Content {
    Raw(Vec<u8>),
    Parsed(Box<Result<Mail, Unusable>>, u64),
    Unreadable(String),
    /// A message with so many bytes that it was not read.
    TooLarge(u64),
}

impl Content {
    /// Reads a message whose reader claims a size. Neither the claim nor the reader is trusted to be small.
    fn read(size: u64, reader: impl Read) -> io::Result<Self> {
        if size > MESSAGE_BYTES {
            return Ok(Self::TooLarge(size));
        }
        let mut raw = Vec::new();
        reader.take(MESSAGE_BYTES + 1).read_to_end(&mut raw)?;
        Ok(if raw.len() as u64 > MESSAGE_BYTES { Self::TooLarge(raw.len() as u64) } else { Self::Raw(raw) })
    }

    /// The message, and the bytes that it took in the source.
    pub fn parse(self, parser: &Parser) -> (u64, Result<Mail, Unusable>) {
        match self {
            Self::Raw(raw) => (raw.len() as u64, parser.parse(&raw)),
            Self::Parsed(parsed, bytes) => (bytes, *parsed),
            Self::Unreadable(cause) => (0, Err(Unusable::Unreadable(cause))),
            Self::TooLarge(bytes) => (0, Err(Unusable::TooLarge(bytes))),
        }
    }
}

/// The size of a source, in a unit that is known before reading.
#[derive(Clone, Copy)]
pub enum Extent {
    Messages(u64),
    Bytes(u64),
}

pub type Visit<'a> = &'a mut dyn FnMut(Found) -> ControlFlow<()>;

impl Source {
    /// Finds out the kind of a path. `know` recognises names of mailboxes: a folder with such a name is one mailbox,
    /// not a folder of mailboxes.
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

    /// Reads the source after the first `skip` messages, until the end or a break.
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

    /// The facts that must stay the same for an interrupted import to continue: the files, and their sizes if there are
    /// few.
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
