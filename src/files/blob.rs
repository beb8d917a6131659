//! Blobs: contents that are named by their SHA-256 and stored as text, in chunks that fit into a D1 value.

use super::store::{self, blob::StoredPiece};
use crate::db::Statement;
use crate::error::{Error, Result};
use crate::hex;
use crate::ids::WorkspaceId;
use crate::text_enum::text_enum;
use crate::time::Timestamp;
use data_encoding::BASE64;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// The size of a chunk: half of the largest D1 value. The size is a multiple of four, so that a chunk never cuts a
/// group of base64 digits.
const CHUNK_BYTES: usize = 1024 * 1024;

text_enum! {
    /// How contents are stored as text.
    BlobEncoding {
        Utf8 = "utf8",
        Base64 = "base64",
    }
}

/// Contents as text. Contents that are not text, or that JSON would make much longer, are in base64.
#[derive(Clone, Debug, PartialEq)]
pub enum BlobContent {
    Text(String),
    Base64(String),
}

impl BlobContent {
    /// Contents count as text if they are UTF-8 without a NUL, because SQLite ends a text at a NUL. Contents that are
    /// mostly control characters count as binary: requests to D1 are JSON, where each control character takes six
    /// bytes, and a large file would not fit into an isolate's 128 MB.
    pub fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') && json_bytes(&text) <= 2 * text.len() => Self::Text(text),
            Ok(text) => Self::Base64(to_base64(text.as_bytes())),
            Err(not_text) => Self::Base64(to_base64(not_text.as_bytes())),
        }
    }

    pub fn stored(encoding: BlobEncoding, text: String) -> Self {
        match encoding {
            BlobEncoding::Utf8 => Self::Text(text),
            BlobEncoding::Base64 => Self::Base64(text),
        }
    }

    pub fn encoding(&self) -> BlobEncoding {
        match self {
            Self::Text(_) => BlobEncoding::Utf8,
            Self::Base64(_) => BlobEncoding::Base64,
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Base64(text) => text,
        }
    }

    /// The contents themselves, decoded.
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::Base64(text) => BASE64
                .decode(text.as_bytes())
                .map_err(|cause| Error::Internal(format!("stored base64 cannot be read: {cause}"))),
        }
    }

    /// The text in chunks that fit into D1. There is at least one chunk, and no chunk cuts a character.
    pub(super) fn chunks(&self) -> Vec<&str> {
        let mut chunks = Vec::new();
        let mut rest = self.as_str();
        while rest.len() > CHUNK_BYTES {
            let (chunk, after) = rest.split_at(rest.floor_char_boundary(CHUNK_BYTES));
            chunks.push(chunk);
            rest = after;
        }
        chunks.push(rest);
        chunks
    }
}

/// How many bytes a text takes in JSON, without the quotes around it. A character with a short escape takes two bytes,
/// so a text of quotes, backslashes and line ends alone at most doubles and is not taken for binary.
fn json_bytes(text: &str) -> usize {
    let bytes_of = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(bytes_of).sum()
}

/// Encodes in pieces of whole groups, because the encoder takes at most 8 MiB at once.
fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for piece in bytes.chunks(3 * CHUNK_BYTES) {
        BASE64.encode_append(piece, &mut text);
    }
    text
}

/// Contents together with their SHA-256.
#[derive(Clone, Debug, PartialEq)]
pub struct Blob {
    sha256: String,
    size: u32,
    content: BlobContent,
}

impl Blob {
    pub fn new(bytes: Vec<u8>) -> Self {
        let sha256 = hex::encode(&Sha256::digest(&bytes));
        // An isolate has less memory than a u32 can count.
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Self { sha256, size, content: BlobContent::of(bytes) }
    }

    pub fn text(text: String) -> Self {
        Self::new(text.into_bytes())
    }

    /// The name: 64 lower-case hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The size in bytes, before any encoding.
    pub fn size(&self) -> u32 {
        self.size
    }

    pub(super) fn content(&self) -> &BlobContent {
        &self.content
    }

    /// The text in the chunks in which it is stored.
    pub fn chunks(&self) -> Vec<&str> {
        self.content.chunks()
    }

    /// The contents as they would be read from the database. `chunks` are [`Self::chunks`] as JSON.
    pub fn pieces<'a>(&'a self, chunks: &'a [Box<RawValue>]) -> Vec<StoredPiece<'a>> {
        let count = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
        let (sha256, encoding) = (self.sha256(), self.content.encoding());
        (0..).zip(chunks).map(|(number, data)| StoredPiece { sha256, encoding, number, count, data }).collect()
    }

    /// The size of the text that is stored.
    pub(super) fn stored_bytes(&self) -> usize {
        self.content.as_str().len()
    }

    /// Statements that store the contents, unless the workspace has them already. The row that refers to the contents
    /// must be written in the same batch. Otherwise the sweep could delete the contents in between.
    pub fn insert(&self, workspace: &WorkspaceId, now: Timestamp) -> Vec<Statement> {
        store::blob::insert(workspace, self, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn survives(bytes: Vec<u8>, encoding: BlobEncoding) {
        let content = BlobContent::of(bytes.clone());
        assert_eq!(content.encoding(), encoding);
        let chunks = content.chunks();
        assert!(!chunks.is_empty() && chunks.iter().all(|it| it.len() <= CHUNK_BYTES));
        let kept = BlobContent::stored(encoding, chunks.concat());
        assert_eq!(kept, content);
        assert!(kept.into_bytes().unwrap() == bytes);
    }

    #[test]
    fn whatever_is_stored_comes_back() {
        survives(Vec::new(), BlobEncoding::Utf8);
        survives(b"plain".into(), BlobEncoding::Utf8);
        survives("\u{feff}bom, \u{10ffff}, \u{1}".into(), BlobEncoding::Utf8);
        survives(b"a\0b".into(), BlobEncoding::Base64);
        survives(b"\"\\\r\n\t".into(), BlobEncoding::Utf8);
        survives(b"\x1b[1mbold\x1b[0m".into(), BlobEncoding::Utf8);
        survives(vec![1; 5], BlobEncoding::Base64);
        survives((0..=255).collect(), BlobEncoding::Base64);
        survives(vec![0xff], BlobEncoding::Base64);
        survives(vec![0xed, 0xa0, 0x80], BlobEncoding::Base64);
        for bytes in [CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES] {
            survives(vec![b'x'; bytes], BlobEncoding::Utf8);
            survives(vec![0xff; bytes], BlobEncoding::Base64);
        }
    }

    #[test]
    fn no_character_is_cut() {
        for shift in 0..4 {
            let text = "x".repeat(shift) + &"🤖".repeat(CHUNK_BYTES / 2);
            survives(text.into_bytes(), BlobEncoding::Utf8);
        }
        let content = BlobContent::of(format!("{}é", "x".repeat(CHUNK_BYTES - 1)).into_bytes());
        assert_eq!(content.chunks()[1], "é");
    }

    #[test]
    fn a_blob_is_named_by_its_contents() {
        let empty = Blob::new(Vec::new());
        assert_eq!(empty.sha256(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(empty.content().chunks(), [""]);
        assert_eq!(Blob::text("é".into()).size(), 2);
        assert_eq!(Blob::text("a\0".into()), Blob::new(b"a\0".into()));
    }
}
