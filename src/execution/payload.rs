//! Arguments and results in the record. A small document is JSON in the call's row. A large document is a blob, and the
//! row holds its hash, its size and its beginning.

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
        Ok(Self::Inline(column))
    }

    /// The document for a response: the document itself, or its description with the URL of the whole document.
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
        let prefix = json[..json.floor_char_boundary(PREFIX_BYTES)].to_owned();
        let blob = Blob::text(json);
        let payload = BlobDescription { sha256: blob.sha256().to_owned(), size: blob.size(), prefix };
        let description = serde_json::to_string(&payload)
            .map_err(|cause| Error::Internal(format!("a payload is not JSON: {cause}")))?;
        Ok(Self { column: format!("{BLOB_MARK}{description}"), blob: Some(blob) })
    }
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
}
