//! The end record of an archive, which says where the directory is.

use super::headers::{u16_at, u32_at};

pub const SIGNATURE: [u8; 4] = *b"PK\x05\x06";
const ZIP64_LOCATOR_SIGNATURE: [u8; 4] = *b"PK\x06\x07";
const FIRST_SIGNATURE: [u8; 4] = *b"PK\x03\x04";

const LENGTH: usize = 22;
const ZIP64_LOCATOR_LENGTH: usize = 20;

/// How far before the end of the bytes the record may end: a comment may follow, or a signature of the whole archive.
const MAX_TRAILING_BYTES: usize = 64 * 1024;

pub struct EndRecord {
    pub entries: usize,
    /// Where the directory begins. The directory ends where the end record begins.
    pub directory_start: usize,
    pub directory_end: usize,
}

impl EndRecord {
    /// Finds the last end record. The first that is found from the end is taken, as other programs do.
    pub fn find(bytes: &[u8]) -> Result<Self, String> {
        let start = bytes.len().saturating_sub(LENGTH + MAX_TRAILING_BYTES);
        let position = bytes[start..]
            .windows(LENGTH)
            .rposition(|it| it.starts_with(&SIGNATURE))
            .ok_or_else(|| missing(bytes).to_owned())?;
        Self::read(bytes, start + position).unwrap_or_else(|| Err(CUT_OFF.to_owned()))
    }

    /// None if the bytes end within the record.
    fn read(bytes: &[u8], position: usize) -> Option<Result<Self, String>> {
        let field = |at| u16_at(bytes, position + at);
        let (disk, directory_disk, entries_here, entries) = (field(4)?, field(6)?, field(8)?, field(10)?);
        let (length, offset) = (u32_at(bytes, position + 12)?, u32_at(bytes, position + 16)?);
        let comment_length = field(20)?;
        let locator = position.checked_sub(ZIP64_LOCATOR_LENGTH).and_then(|it| bytes.get(it..));
        if locator.is_some_and(|it| it.starts_with(&ZIP64_LOCATOR_SIGNATURE)) || [length, offset].contains(&u32::MAX) {
            return Some(Err(
                "The ZIP is a zip64 archive, which is not read; a ZIP within the limits needs no zip64".to_owned()
            ));
        }
        if (disk, directory_disk) != (0, 0) || entries_here != entries {
            return Some(Err("The ZIP is a part of an archive of several disks".to_owned()));
        }
        bytes.get(position + LENGTH + usize::from(comment_length)..)?;
        let (start, length) = (usize::try_from(offset).ok()?, usize::try_from(length).ok()?);
        let between = position.checked_sub(start.checked_add(length)?)?;
        if between > 0 {
            return Some(Err(format!(
                "The ZIP has {between} bytes before its beginning, or between its directory and its end, that are no part of \
                 it"
            )));
        }
        Some(Ok(Self { entries: entries.into(), directory_start: start, directory_end: position }))
    }
}

const CUT_OFF: &str = "The ZIP is damaged or cut off: its directory is not where its end says";

fn missing(bytes: &[u8]) -> &'static str {
    if bytes.starts_with(&FIRST_SIGNATURE) {
        "The ZIP is cut off: its end is missing"
    } else {
        "The file is no ZIP archive"
    }
}
