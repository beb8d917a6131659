//! Writing archives: the same contents give the same bytes, and every common program opens them.

use super::crc32::crc32;
use super::headers::{CENTRAL_SIGNATURE, LOCAL_SIGNATURE};
use super::{ArchiveFault, end_record, name};
use miniz_oxide::deflate::compress_to_vec;

/// Level 9 saves 0.3 % of source code more, and takes six times as long for contents that are hard to compress.
const LEVEL: u8 = 6;

/// Version 2.0 of the format, which can deflate.
const VERSION: u16 = 20;
const MADE_ON_UNIX: u16 = 3 << 8;
/// A regular file that its owner may write and all may read.
const MODE: u32 = 0o100_644 << 16;
/// The first day that a ZIP archive can name, 1980-01-01, at midnight.
const TIME_AND_DATE: u32 = 0x0021 << 16;
const NAME_IS_UTF8: u16 = 1 << 11;

/// An archive in the making.
#[derive(Default)]
pub struct ArchiveWriter {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    entries: u16,
}

impl ArchiveWriter {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file. The files stand in the archive in the order in which they are added.
    pub fn add(&mut self, name: &str, contents: &[u8]) -> Result<(), ArchiveFault> {
        self.try_add(name, contents).ok_or_else(|| ArchiveFault {
            entry: Some(name::shown(name.as_bytes())),
            message: "does not fit into a ZIP archive".to_owned(),
        })
    }

    /// None if a figure does not fit into its field.
    fn try_add(&mut self, name: &str, contents: &[u8]) -> Option<()> {
        let deflated = compress_to_vec(contents, LEVEL);
        let (method, body) = if deflated.len() < contents.len() { (8, deflated.as_slice()) } else { (0, contents) };
        let mut shared = Vec::with_capacity(26);
        shared.extend(VERSION.to_le_bytes());
        shared.extend(if name.is_ascii() { 0 } else { NAME_IS_UTF8 }.to_le_bytes());
        shared.extend(u16::to_le_bytes(method));
        shared.extend(TIME_AND_DATE.to_le_bytes());
        shared.extend(crc32(contents).to_le_bytes());
        shared.extend(u32::try_from(body.len()).ok()?.to_le_bytes());
        shared.extend(u32::try_from(contents.len()).ok()?.to_le_bytes());
        shared.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
        // No extra fields.
        shared.extend([0; 2]);
        let offset = u32::try_from(self.bytes.len()).ok()?;
        let entries = self.entries.checked_add(1)?;
        let growth = 2 * (shared.len() + name.len()) + body.len();
        u32::try_from(self.bytes.len() + self.directory.len() + growth + 100).ok()?;

        self.entries = entries;
        self.directory.extend(CENTRAL_SIGNATURE);
        self.directory.extend((MADE_ON_UNIX | VERSION).to_le_bytes());
        self.directory.extend(&shared);
        // No comment, the first disk, contents of any kind.
        self.directory.extend([0; 6]);
        self.directory.extend(MODE.to_le_bytes());
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.bytes.extend(LOCAL_SIGNATURE);
        self.bytes.extend(&shared);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(body);
        Some(())
    }

    /// The whole archive.
    pub fn finish(self) -> Vec<u8> {
        let Self { mut bytes, directory, entries } = self;
        // Each `add` has seen to it that both fit.
        let [offset, length] = [bytes.len(), directory.len()].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        bytes.extend(directory);
        bytes.extend(end_record::SIGNATURE);
        // The first of one disk.
        bytes.extend([0; 4]);
        bytes.extend(entries.to_le_bytes());
        bytes.extend(entries.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        // No comment.
        bytes.extend([0; 2]);
        bytes
    }
}
