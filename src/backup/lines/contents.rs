//! The contents of toolsets' files, as lines: in pieces, because contents may be larger than a line.

use crate::error::{Error, Result};
use crate::files::{Blob, BlobContent, BlobEncoding, MAX_FILE_BYTES, StoredPiece};
use crate::toolsets::MAX_FILES;
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many bytes a text may take in JSON. A piece has at most 1 MiB, so it fits into a line in base64, whatever it holds.
const MAX_JSON_BYTES: usize = 1_500_000;

/// One piece of contents. The pieces follow each other.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ContentLine {
    pub sha256: String,
    /// How this piece is written.
    pub encoding: BlobEncoding,
    /// The number of the piece, from 0.
    pub number: u32,
    /// The number of pieces.
    pub count: u32,
    pub data: String,
}

impl ContentLine {
    /// A stored piece as a line. A text that JSON would make too long is written in base64.
    pub fn of(piece: &StoredPiece<'_>) -> Result<Self> {
        let text = serde_json::from_str::<String>(piece.data.get())
            .map_err(|cause| Error::Internal(format!("stored contents cannot be read: {cause}")))?;
        let in_json = serde_json::to_string(&text)
            .map_err(|cause| Error::Internal(format!("stored contents are not JSON: {cause}")))?;
        let (encoding, data) = match piece.encoding {
            BlobEncoding::Utf8 if in_json.len() > MAX_JSON_BYTES => {
                (BlobEncoding::Base64, BASE64.encode(text.as_bytes()))
            }
            encoding => (encoding, text),
        };
        Ok(Self { sha256: piece.sha256.to_owned(), encoding, number: piece.number, count: piece.count, data })
    }
}

/// The contents that have come since the last toolset.
#[derive(Default)]
pub struct ContentsIntake {
    open: Option<OpenContents>,
    whole: BTreeMap<String, WholeContents>,
}

/// Contents of which more pieces are to come.
struct OpenContents {
    sha256: String,
    path: String,
    next: u32,
    count: u32,
    bytes: Vec<u8>,
}

/// Contents of which all pieces have come.
pub struct WholeContents {
    /// The place of the last piece.
    pub path: String,
    pub size: u32,
}

impl ContentsIntake {
    /// Takes the next piece, which stands at `path`. Returns the contents if this is their last piece. Fails with what is
    /// wrong with the piece.
    pub fn take(&mut self, path: &str, line: ContentLine) -> std::result::Result<Option<Blob>, String> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => OpenContents {
                sha256: line.sha256.clone(),
                path: String::new(),
                next: 0,
                count: line.count,
                bytes: Vec::new(),
            },
        };
        let is_next = (line.sha256.as_str(), line.number, line.count) == (open.sha256.as_str(), open.next, open.count);
        if !is_next || line.number >= line.count {
            return Err("is out of order: the pieces of contents follow each other, from 0 to count - 1".to_owned());
        }
        let piece = BlobContent::stored(line.encoding, line.data).into_bytes();
        open.bytes.extend(piece.map_err(|_| "holds data that are not base64".to_owned())?);
        if open.bytes.len() > MAX_FILE_BYTES as usize {
            return Err(format!("is a part of contents of more than {MAX_FILE_BYTES} bytes"));
        }
        (open.path, open.next) = (path.to_owned(), open.next + 1);
        if open.next < open.count {
            self.open = Some(open);
            return Ok(None);
        }
        let blob = Blob::new(open.bytes);
        if blob.sha256() != open.sha256 {
            return Err(format!("ends contents with another SHA-256: {}", blob.sha256()));
        }
        if self.whole.insert(open.sha256, WholeContents { path: open.path, size: blob.size() }).is_some() {
            return Err("is there twice".to_owned());
        }
        if self.whole.len() > MAX_FILES {
            return Err(format!("is more than the contents of {MAX_FILES} files"));
        }
        Ok(Some(blob))
    }

    /// What has come, by SHA-256. Nothing has come afterwards. Fails with the place of contents whose last piece is missing.
    pub fn end(&mut self) -> std::result::Result<BTreeMap<String, WholeContents>, String> {
        let whole = std::mem::take(&mut self.whole);
        match self.open.take() {
            Some(open) => Err(open.path),
            None => Ok(whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    fn line(sha256: &str, number: u32, count: u32, data: &str) -> ContentLine {
        ContentLine { sha256: sha256.into(), encoding: BlobEncoding::Utf8, number, count, data: data.into() }
    }

    /// The lines of contents, as an export writes them.
    fn lines_of(blob: &Blob) -> Vec<ContentLine> {
        let raw = |it: &str| RawValue::from_string(serde_json::to_string(it).unwrap()).unwrap();
        let chunks = blob.chunks().into_iter().map(raw).collect::<Vec<_>>();
        blob.pieces(&chunks).iter().map(|it| ContentLine::of(it).unwrap()).collect()
    }

    #[test]
    fn contents_of_every_kind_come_back_in_lines_that_fit() {
        let texts =
            ["a\n".repeat(2_000_000), "x".repeat(8 << 20) + &"\u{1}".repeat(1 << 20), "ä\u{1f600}".repeat(300_000)];
        let mut all = texts.map(String::into_bytes).to_vec();
        all.extend([Vec::new(), vec![0; 3_000_000], (0..=255).collect(), b"text".to_vec()]);
        for bytes in all {
            let blob = Blob::new(bytes);
            let (mut intake, mut got) = (ContentsIntake::default(), None);
            for line in lines_of(&blob) {
                let text = serde_json::to_string(&line).unwrap();
                assert!(text.len() < 1_900_000, "{}", text.len());
                got = intake.take("/1", serde_json::from_str(&text).unwrap()).unwrap();
            }
            assert!(got.as_ref() == Some(&blob));
            let whole = intake.end().unwrap();
            assert_eq!((whole.len(), whole[blob.sha256()].size), (1, blob.size()));
        }
    }

    #[test]
    fn broken_contents_are_refused() {
        let (one, two) = (Blob::text("ab".into()), Blob::text("b".into()));
        let (one, two) = (one.sha256(), two.sha256());
        let fault = |lines: Vec<ContentLine>| {
            let mut intake = ContentsIntake::default();
            let mut last = Ok(None);
            for line in lines {
                last = intake.take("/7", line);
            }
            last.map(|it| it.is_some())
        };
        assert_eq!(fault(vec![line(one, 0, 2, "a"), line(one, 1, 2, "b")]), Ok(true));
        assert_eq!(fault(vec![line(one, 0, 2, "a")]), Ok(false));
        let contains = |lines: Vec<ContentLine>, message: &str| {
            assert!(fault(lines).unwrap_err().contains(message), "{message}");
        };
        contains(vec![line(one, 1, 2, "b")], "out of order");
        contains(vec![line(one, 0, 0, "b")], "out of order");
        contains(vec![line(one, 0, 2, "a"), line(two, 1, 2, "b")], "out of order");
        contains(vec![line(one, 0, 2, "a"), line(one, 1, 3, "b")], "out of order");
        contains(vec![line(one, 0, 1, "b")], two);
        contains(vec![line(two, 0, 1, "b"), line(two, 0, 1, "b")], "twice");
        let base64 = ContentLine { encoding: BlobEncoding::Base64, ..line(one, 0, 1, "?") };
        contains(vec![base64], "base64");
        contains(vec![line(one, 0, 1, &"x".repeat(MAX_FILE_BYTES as usize + 1))], "more than");
    }

    #[test]
    fn contents_without_their_last_piece_are_noticed() {
        let mut intake = ContentsIntake::default();
        assert!(intake.take("/3", line("a", 0, 2, "a")).unwrap().is_none());
        assert_eq!(intake.end().map(|it| it.len()), Err("/3".to_owned()));
        assert_eq!(intake.end().map(|it| it.len()), Ok(0));
    }
}
