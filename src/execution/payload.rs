//! Arguments and results in the record. A small document is JSON in the call's row. A large document is a blob, and the
//! row holds its hash, its size and its beginning. Of some documents the row holds no more than that: of the arguments of
//! a refused call, and of all documents of a call that finds the workspace's quota used up.

use crate::error::{Error, Result};
use crate::files::Blob;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

/// The first character of a blob's description. No JSON begins with it.
const BLOB_MARK: char = '#';

/// The first character of the description of a document that a list leaves out (`store::log`).
const LEFT_OUT_MARK: char = '~';

/// The first character of the description of a document that was not kept.
const NOT_KEPT_MARK: char = '!';

/// The longest arguments that a refused call keeps.
const MAX_REFUSED_BYTES: usize = 4 * 1024;

/// How much of a large document is shown with the call.
const PREFIX_BYTES: usize = 1_000;

text_enum! {
    /// The kind of a call's document.
    CallDocument {
        Arguments = "arguments",
        Result = "result",
    }
}

impl CallDocument {
    /// The document's name in messages.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Arguments => "Arguments of the call",
            Self::Result => "Result of the call",
        }
    }

    /// The longest JSON that is kept in the row.
    const fn max_inline(self) -> usize {
        match self {
            Self::Arguments => 64 * 1024,
            Self::Result => 256 * 1024,
        }
    }
}

/// The description of a large document in the row.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct BlobDescription {
    pub sha256: String,
    pub size: u32,
    pub prefix: String,
}

text_enum! {
    /// Why a document was not kept.
    NotKeptReason {
        /// The call was refused, and its arguments were long.
        Refused = "refused",
        /// The workspace's quota was used up.
        Quota = "quota",
    }
}

/// The description of a document that was not kept.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct NotKept {
    pub sha256: String,
    pub size: u32,
    pub prefix: String,
    pub not_kept: NotKeptReason,
}

impl NotKept {
    /// The reason in words, for a message.
    pub const fn why(&self) -> &'static str {
        match self.not_kept {
            NotKeptReason::Refused => "a refused call keeps only the hash, size and beginning of long arguments",
            NotKeptReason::Quota => "it was not kept, because the workspace's quota was used up when the call ended",
        }
    }
}

/// The description of a document that a list leaves out because it is not small.
#[derive(Debug, PartialEq, Deserialize)]
pub struct LeftOut {
    pub size: u32,
    pub prefix: String,
}

/// The contents of a column.
#[derive(Debug, PartialEq)]
pub enum StoredDocument<'a> {
    Inline(&'a str),
    Blob(BlobDescription),
    LeftOut(LeftOut),
    NotKept(NotKept),
}

impl<'a> StoredDocument<'a> {
    pub fn read(column: &'a str) -> Result<Self> {
        let broken = |cause| Error::Internal(format!("a call's document is badly described: {cause}"));
        if let Some(description) = column.strip_prefix(BLOB_MARK) {
            return serde_json::from_str(description).map(Self::Blob).map_err(broken);
        }
        if let Some(description) = column.strip_prefix(LEFT_OUT_MARK) {
            return serde_json::from_str(description).map(Self::LeftOut).map_err(broken);
        }
        if let Some(description) = column.strip_prefix(NOT_KEPT_MARK) {
            return serde_json::from_str(description).map(Self::NotKept).map_err(broken);
        }
        Ok(Self::Inline(column))
    }

    /// Whether a response shows a description instead of the document.
    pub const fn is_shortened(&self) -> bool {
        match self {
            Self::Inline(_) => false,
            Self::Blob(_) | Self::LeftOut(_) | Self::NotKept(_) => true,
        }
    }

    /// The document for a response: the document itself, or its description with the URL of the whole document. A document
    /// that was not kept has no URL, but the reason.
    pub fn shown(self, call_id: &str, kind: CallDocument) -> Result<Box<RawValue>> {
        let url = format!("/api/tool-calls/{call_id}/{kind}");
        let shown = match self {
            Self::Inline(text) => RawValue::from_string(text.to_owned()),
            Self::Blob(BlobDescription { sha256, size, prefix }) => {
                to_raw_value(&json!({"truncated": true, "sha256": sha256, "size": size, "prefix": prefix, "url": url}))
            }
            Self::LeftOut(LeftOut { size, prefix }) => {
                to_raw_value(&json!({"truncated": true, "size": size, "prefix": prefix, "url": url}))
            }
            Self::NotKept(NotKept { sha256, size, prefix, not_kept }) => to_raw_value(
                &json!({"truncated": true, "sha256": sha256, "size": size, "prefix": prefix, "not_kept": not_kept}),
            ),
        };
        shown.map_err(|cause| Error::Internal(format!("the call {call_id} has broken {kind}: {cause}")))
    }
}

/// A document that will be written to the record.
pub struct RecordedDocument {
    pub column: String,
    pub blob: Option<Blob>,
}

impl RecordedDocument {
    pub fn new(kind: CallDocument, json: String) -> Result<Self> {
        if json.len() <= kind.max_inline() {
            return Ok(Self { column: json, blob: None });
        }
        let prefix = prefix_of(&json);
        let blob = Blob::text(json);
        let payload = BlobDescription { sha256: blob.sha256().to_owned(), size: blob.size(), prefix };
        Ok(Self { column: described(BLOB_MARK, &payload)?, blob: Some(blob) })
    }

    /// The arguments of a call that was refused.
    pub fn of_refused(json: String) -> Result<Self> {
        if json.len() <= MAX_REFUSED_BYTES {
            return Ok(Self { column: json, blob: None });
        }
        let prefix = prefix_of(&json);
        let (sha256, size) = digest(json);
        Self::not_kept(NotKept { sha256, size, prefix, not_kept: NotKeptReason::Refused })
    }

    /// The same document as its hash and size alone, for a workspace whose quota is used up.
    pub fn without_value(&self) -> Result<Self> {
        let (sha256, size) = match StoredDocument::read(&self.column)? {
            StoredDocument::Inline(text) => digest(text.to_owned()),
            StoredDocument::Blob(it) => (it.sha256, it.size),
            StoredDocument::NotKept(it) => (it.sha256, it.size),
            StoredDocument::LeftOut(_) => return Err(Error::Internal("a call was read as for a list".into())),
        };
        Self::not_kept(NotKept { sha256, size, prefix: String::new(), not_kept: NotKeptReason::Quota })
    }

    pub fn is_kept(&self) -> bool {
        !self.column.starts_with(NOT_KEPT_MARK)
    }

    fn not_kept(description: NotKept) -> Result<Self> {
        Ok(Self { column: described(NOT_KEPT_MARK, &description)?, blob: None })
    }
}

/// The SHA-256 and the size of a document.
fn digest(json: String) -> (String, u32) {
    let blob = Blob::text(json);
    (blob.sha256().to_owned(), blob.size())
}

/// The beginning of a document.
fn prefix_of(json: &str) -> String {
    json[..json.floor_char_boundary(PREFIX_BYTES)].to_owned()
}

/// A description as a column holds it.
fn described(mark: char, description: &impl Serialize) -> Result<String> {
    let description = serde_json::to_string(description)
        .map_err(|cause| Error::Internal(format!("a payload is not JSON: {cause}")))?;
    Ok(format!("{mark}{description}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_document_stays_in_the_row() {
        let json = format!("\"{}\"", "x".repeat(64 * 1024 - 2));
        let recorded = RecordedDocument::new(CallDocument::Arguments, json.clone()).unwrap();
        assert!(recorded.blob.is_none());
        assert_eq!(StoredDocument::read(&recorded.column).unwrap(), StoredDocument::Inline(&json));
    }

    #[test]
    fn a_large_one_is_a_blob_with_its_hash_size_and_beginning() {
        let json = format!("\"{}\"", "ä".repeat(33_000));
        let recorded = RecordedDocument::new(CallDocument::Arguments, json.clone()).unwrap();
        let StoredDocument::Blob(payload) = StoredDocument::read(&recorded.column).unwrap() else {
            unreachable!("it is large")
        };
        assert_eq!(payload.size as usize, json.len());
        assert!(json.starts_with(&payload.prefix) && payload.prefix.len() <= PREFIX_BYTES);
        assert_eq!(payload.sha256, recorded.blob.unwrap().sha256());
        assert!(RecordedDocument::new(CallDocument::Result, json).unwrap().blob.is_none());
    }

    #[test]
    fn a_refused_call_keeps_at_most_four_kilobytes_of_its_arguments() {
        let small = format!("\"{}\"", "x".repeat(4_094));
        assert_eq!(RecordedDocument::of_refused(small.clone()).unwrap().column, small);
        // A backslash takes two bytes in JSON, and four in JSON within JSON.
        let json = format!("\"{}\"", "\\\\".repeat(500_000));
        let recorded = RecordedDocument::of_refused(json.clone()).unwrap();
        assert!(recorded.column.len() <= MAX_REFUSED_BYTES && recorded.blob.is_none(), "{}", recorded.column.len());
        let StoredDocument::NotKept(it) = StoredDocument::read(&recorded.column).unwrap() else {
            unreachable!("it is large")
        };
        assert_eq!((it.size as usize, it.not_kept), (json.len(), NotKeptReason::Refused));
        assert!(json.starts_with(&it.prefix) && it.prefix.len() == PREFIX_BYTES);
    }

    #[test]
    fn without_its_value_a_document_is_its_hash_and_size() {
        let json = format!("\"{}\"", "x".repeat(70_000));
        let documents = [
            RecordedDocument::new(CallDocument::Arguments, json.clone()).unwrap(),
            RecordedDocument::new(CallDocument::Result, json.clone()).unwrap(),
            RecordedDocument::of_refused(json.clone()).unwrap(),
        ];
        for document in documents {
            let without = document.without_value().unwrap();
            let StoredDocument::NotKept(it) = StoredDocument::read(&without.column).unwrap() else {
                unreachable!("its value is gone")
            };
            assert_eq!((it.sha256.as_str(), it.size as usize), (Blob::text(json.clone()).sha256(), json.len()));
            assert_eq!((it.prefix.as_str(), it.not_kept, without.blob.is_none()), ("", NotKeptReason::Quota, true));
        }
    }
}
