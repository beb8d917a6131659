//! Reads that are sent together with the look-up of a call, so that the call saves a round trip. Only a built-in that
//! reads from D1 and changes nothing has an early read.
//!
//! The look-up runs before the caller is known to be allowed to read. So the rows stay unread until the call has passed
//! every check. The arguments may also change until then: the runner uses the rows only if they are about its own path.

use super::files::FileVerb;
use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::error::{Error, Result};
use crate::files::{self, FilePath};
use crate::ids::SessionId;
use crate::registry::Builtin;
use crate::text_enum::TextEnum;
use serde_json::{Map, Value};

/// The read that a call would begin with, as far as its name and its arguments tell.
pub enum EarlyRead {
    File(FilePath),
    Directory(FilePath),
}

impl EarlyRead {
    /// None, if calls of this tool with these arguments begin with no such read.
    pub fn of(tool_name: &str, arguments: &Map<String, Value>) -> Option<Self> {
        let verb = match Builtin::parse(tool_name)? {
            Builtin::ReadFile => FileVerb::Read,
            Builtin::ListFiles => FileVerb::List,
            Builtin::WriteFile | Builtin::ExecutePython | Builtin::EmailSearch | Builtin::EmailGet => return None,
        };
        let path = super::files::path_of(verb, arguments.get("path")).ok()?;
        Some(if verb == FileVerb::Read { Self::File(path) } else { Self::Directory(path) })
    }

    pub fn statements(&self, scope: &Scope, session: &SessionId) -> Vec<Statement> {
        match self {
            Self::File(path) => vec![files::find_file(scope, session, None, path)],
            Self::Directory(path) => files::find_dir(scope, session, None, path).into(),
        }
    }

    /// Takes the answers to the statements from the answers to a batch.
    pub fn answered(self, rows: &mut impl Iterator<Item = Rows>) -> Result<EarlyRows> {
        let mut next = || rows.next().ok_or_else(|| Error::Internal("D1 left a statement unanswered".into()));
        Ok(match self {
            Self::File(path) => EarlyRows::File(path, next()?),
            Self::Directory(path) => EarlyRows::Directory(path, [next()?, next()?]),
        })
    }
}

/// The answers to an early read.
pub enum EarlyRows {
    File(FilePath, Rows),
    Directory(FilePath, [Rows; 2]),
}

impl EarlyRows {
    /// The answer about the file at this path.
    pub fn of_file(&self, path: &FilePath) -> Option<&Rows> {
        match self {
            Self::File(read, rows) if read == path => Some(rows),
            Self::File(..) | Self::Directory(..) => None,
        }
    }

    /// The answers about the directory at this path.
    pub fn of_directory(&self, path: &FilePath) -> Option<&[Rows; 2]> {
        match self {
            Self::Directory(read, rows) if read == path => Some(rows),
            Self::File(..) | Self::Directory(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_built_ins_that_read_files_are_read_early() {
        let read = |tool_name, arguments: Value| EarlyRead::of(tool_name, arguments.as_object().unwrap());
        assert!(
            matches!(read("read_file", json!({"path": "a//b"})), Some(EarlyRead::File(it)) if it.as_str() == "/a/b")
        );
        assert!(matches!(read("list_files", json!({})), Some(EarlyRead::Directory(it)) if it.is_root()));
        for (tool_name, arguments) in [
            ("read_file", json!({})),
            ("read_file", json!({"path": "/.."})),
            ("read_file", json!({"path": 1})),
            ("list_files", json!({"path": ["/"]})),
            ("write_file", json!({"path": "/a", "content": ""})),
            ("email_get", json!({"path": "/a"})),
            ("notes", json!({"path": "/a"})),
        ] {
            assert!(read(tool_name, arguments.clone()).is_none(), "{tool_name} {arguments}");
        }
    }
}
