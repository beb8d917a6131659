//! The stored row of a call.

use super::details::CallDetails;
use super::outcome::{CallFailure, Code, Status, ToolResult, cut, shown_content};
use super::payload::{BlobDescription, CallDocument, NotKept, StoredDocument};
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::files;
use crate::ids::{CallId, SessionId};
use crate::time::Timestamp;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub struct CallRow {
    /// The number of the row in the database. It orders calls of the same millisecond.
    pub key: u64,
    pub id: String,
    pub tool_name: String,
    pub version: Option<String>,
    pub agent_id: Option<String>,
    pub user_id: Option<String>,
    pub session_id: Option<String>,
    pub message_id: Option<String>,
    pub operator: String,
    pub status: Status,
    pub duration_ms: Option<u32>,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    pub pre_manifest_id: Option<String>,
    pub post_manifest_id: Option<String>,
    pub max_result_bytes: Option<u32>,
    pub error: Option<String>,
    pub render_plan: Option<String>,
    pub arguments: Option<String>,
    pub result: Option<String>,
    pub details: Option<String>,
}

impl CallRow {
    pub fn call_id(&self) -> Result<CallId> {
        self.part("id", CallId::parse(&self.id))
    }

    pub fn session(&self) -> Result<SessionId> {
        self.part("session_id", self.session_id.as_deref().and_then(SessionId::parse))
    }

    fn part<T>(&self, name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| Error::Internal(format!("the call {} has a broken {name}", self.id)))
    }

    fn document(&self, kind: CallDocument) -> Result<Option<StoredDocument<'_>>> {
        let column = match kind {
            CallDocument::Arguments => &self.arguments,
            CallDocument::Result => &self.result,
        };
        column.as_deref().map(StoredDocument::read).transpose()
    }

    /// Whether a document is too large for the row.
    pub fn is_blob(&self, kind: CallDocument) -> Result<bool> {
        Ok(matches!(self.document(kind)?, Some(StoredDocument::Blob(_))))
    }

    /// A document as the record shows it.
    pub fn shown(&self, kind: CallDocument) -> Result<Option<Box<RawValue>>> {
        self.document(kind)?.map(|it| it.shown(&self.id, kind)).transpose()
    }

    /// Those of the documents that [`Self::shown`] describes. A document may itself have the fields of a description, so
    /// only this list tells a description from a document.
    pub fn shortened(&self, kinds: &[CallDocument]) -> Result<Vec<CallDocument>> {
        let mut shortened = Vec::new();
        for kind in kinds {
            if self.document(*kind)?.is_some_and(|it| it.is_shortened()) {
                shortened.push(*kind);
            }
        }
        Ok(shortened)
    }

    /// The description of the result, if the result was not kept.
    fn result_not_kept(&self) -> Option<NotKept> {
        match self.document(CallDocument::Result) {
            Ok(Some(StoredDocument::NotKept(it))) => Some(it),
            _ => None,
        }
    }

    /// The failure of a response that cannot repeat the result.
    fn result_is_lost(&self, it: &NotKept) -> CallFailure {
        let message = "The call succeeded and is not run again, but its result is not here: it was not kept, because the \
            workspace's quota was used up when the call ended";
        let (sha256, size) = (&it.sha256, it.size);
        CallFailure::new(Code::Conflict, message)
            .with(json!({"call_id": self.id, "status": self.status, "sha256": sha256, "size": size}))
    }

    pub fn failure(&self) -> Result<Option<CallFailure>> {
        self.error.as_deref().map(|it| self.json("error", it)).transpose()
    }

    pub fn plan(&self) -> Result<Option<Box<RawValue>>> {
        self.render_plan.as_deref().map(|it| self.json("render_plan", it)).transpose()
    }

    pub fn details(&self) -> Result<Option<CallDetails>> {
        self.details.as_deref().map(|it| self.json("details", it)).transpose()
    }

    fn json<T: serde::de::DeserializeOwned>(&self, name: &str, text: &str) -> Result<T> {
        serde_json::from_str(text)
            .map_err(|cause| Error::Internal(format!("the call {} has a broken {name}: {cause}", self.id)))
    }

    /// The whole JSON of a document, from the row itself or from its blob.
    pub async fn whole(&self, scope: &Scope, kind: CallDocument) -> Result<Option<Box<RawValue>>> {
        let broken = |cause: serde_json::Error| Error::Internal(format!("a call has broken JSON: {cause}"));
        let text = match self.document(kind)? {
            None => return Ok(None),
            Some(StoredDocument::NotKept(it)) => {
                return Err(Error::not_found(kind.title(), format!("{} ({})", self.id, it.why())));
            }
            Some(StoredDocument::Inline(text)) => text.to_owned(),
            Some(StoredDocument::LeftOut(_)) => return Err(Error::Internal("a call was read as for a list".into())),
            Some(StoredDocument::Blob(BlobDescription { sha256, .. })) => match files::read_blob(scope, &sha256).await?
            {
                Some(content) => String::from_utf8(content.into_bytes()?)
                    .map_err(|cause| Error::Internal(format!("a call has a broken blob: {cause}")))?,
                None => return Err(Error::Internal(format!("the blob {sha256} of a call is gone"))),
            },
        };
        RawValue::from_string(text).map(Some).map_err(broken)
    }

    /// The response that the call had when it ended, as far as the row records it. If the call succeeded and its result
    /// was not kept, the response is a failure that says so. Any other result could be taken for the tool's own.
    pub async fn answer(mut self, scope: &Scope) -> Result<ToolResult> {
        let lost = self.result_not_kept().map(|it| self.result_is_lost(&it));
        let result = match lost {
            Some(_) => None,
            None => self.whole(scope, CallDocument::Result).await?,
        };
        if lost.is_some() {
            self.status = Status::Error;
        }
        let id = self.call_id()?;
        let content = self.details()?.and_then(|it| it.content(result.as_deref()));
        Ok(ToolResult {
            content: shown_content(content, self.max_result_bytes),
            success: self.status == Status::Success,
            result: result.map(|it| cut(it, self.max_result_bytes, &id)),
            error: lost.map_or_else(|| self.failure(), |it| Ok(Some(it)))?,
            render_plan: self.plan()?,
            call_id: self.id,
            tool_name: self.tool_name,
            version: self.version,
            status: self.status,
            duration_ms: self.duration_ms.unwrap_or(0),
            pre_manifest_id: self.pre_manifest_id,
            post_manifest_id: self.post_manifest_id,
            // The row does not tell whether a call that failed has run.
            never_ran: false,
            returns: None,
        })
    }
}
