//! Why a batch failed, told by the messages of D1 and of Durable Objects.

use crate::error::Error;

/// Why a batch failed. A failed batch changes nothing, unless it is [`DbFailure::Lost`].
#[derive(Debug, PartialEq)]
pub enum DbFailure {
    /// A row with the same key exists already.
    Duplicate,
    /// A row that the batch refers to does not exist.
    MissingReference,
    /// A rule of the schema refused a row. The message is the rule's own, for the room that knows the rule.
    Refused(String),
    /// The migrations have not been applied.
    NotMigrated,
    /// The workspace was to get a database of its own, but its rows are in the one that all workspaces share.
    Elsewhere,
    /// The rows of the workspace are in an object, but `STORAGE` says `d1`.
    InObject,
    /// The batch is longer than what an object takes. It did not run.
    TooLong,
    /// The answer of the batch is longer than what an object gives. The batch was undone.
    AnswerTooLong,
    /// The database had no time for the batch, and did not begin to run it.
    Busy(String),
    /// The connection to the database broke, or the database restarted. Nobody knows whether the batch has run.
    Lost(String),
    Other(String),
}

/// Parts of the messages of faults that pass: <https://developers.cloudflare.com/d1/observability/debug-d1/> and
/// <https://developers.cloudflare.com/durable-objects/observability/troubleshooting/>. These faults are met before the
/// database begins to run the batch.
const BUSY: [&str; 9] = [
    "D1 DB is overloaded",
    "Durable Object is overloaded",
    "Too many requests queued",
    "Too much data queued",
    "Internal error while starting up D1 DB storage",
    "Internal error while starting up Durable Object storage",
    "Cannot resolve D1 DB due to transient issue",
    "Cannot resolve Durable Object due to transient issue",
    "Currently processing a long-running export",
];

/// These faults may be met after the database has run the batch.
const LOST: [&str; 10] = [
    "Network connection lost",
    "caused object to be reset",
    "reset because its code was updated",
    "exceeded its memory limit and was reset",
    "exceeded its CPU time limit and was reset",
    "this version can no longer access storage",
    "object has moved to a different machine",
    "exceeded its allowed execution time",
    "due to an internal error",
    "internal error; reference",
];

/// What an object says that finds rows of its workspace in D1 (`workspace.js`).
const STILL_IN_D1: &str = "the rows of the workspace are in D1";

/// What SQLite's message says if a look for an object has found one.
pub const HAS_OBJECT: &str = "the workspace has an object";

/// A call of an object carries 32 MiB. The runtime's message begins so. It is about the batch, because an object measures its
/// answer itself (`workspace.js`).
const OBJECT_BATCH_BYTES: u64 = 32 * 1024 * 1024;
const TOO_LONG: &str = "Serialized RPC arguments or return values are limited to";

/// What an object says whose answer is too long (`workspace.js`).
const ANSWER_TOO_LONG: &str = "the answer is longer than a call of an object may carry";

impl DbFailure {
    /// Only the text of the message distinguishes failures.
    pub(super) fn from_message(message: String) -> Self {
        if message.contains("UNIQUE constraint failed") {
            Self::Duplicate
        } else if message.contains("FOREIGN KEY constraint failed") {
            Self::MissingReference
        } else if message.contains("D1_ERROR: no such table") {
            // An object applies its migrations itself, so a table that is missing there is a fault of the Worker.
            Self::NotMigrated
        } else if message.contains(STILL_IN_D1) {
            Self::Elsewhere
        } else if message.contains(HAS_OBJECT) {
            Self::InObject
        } else if message.contains(TOO_LONG) {
            Self::TooLong
        } else if message.contains(ANSWER_TOO_LONG) {
            Self::AnswerTooLong
        } else if message.contains("SQLITE_CONSTRAINT") {
            Self::Refused(message)
        } else if BUSY.iter().any(|it| message.contains(it)) {
            Self::Busy(message)
        } else if LOST.iter().any(|it| message.contains(it)) {
            Self::Lost(message)
        } else {
            Self::Other(message)
        }
    }

    /// Whether the batch may be sent again. `repeatable` says whether the batch may run twice.
    pub(super) const fn may_be_retried(&self, repeatable: bool) -> bool {
        match self {
            Self::Busy(_) => true,
            Self::Lost(_) => repeatable,
            Self::Duplicate
            | Self::MissingReference
            | Self::Refused(_)
            | Self::NotMigrated
            | Self::Elsewhere
            | Self::InObject
            | Self::TooLong
            | Self::AnswerTooLong
            | Self::Other(_) => false,
        }
    }
}

impl From<DbFailure> for Error {
    fn from(failure: DbFailure) -> Self {
        match failure {
            DbFailure::Duplicate => Self::Internal("a unique constraint failed where none should".into()),
            DbFailure::MissingReference => Self::Internal("a foreign key constraint failed where none should".into()),
            DbFailure::NotMigrated => {
                Self::Unavailable("The database has no tables yet: run wrangler d1 migrations apply DB")
            }
            DbFailure::Elsewhere => Self::Unavailable(
                "The data of this workspace is in D1, but STORAGE says \"objects\": see docs/scale.md",
            ),
            DbFailure::InObject => Self::Unavailable(
                "The data of this workspace is in an object, but STORAGE says \"d1\": see docs/scale.md",
            ),
            DbFailure::TooLong => Self::NoRoom {
                message:
                    "The request makes a batch of more than 32 MiB, which the object of a workspace does not take: \
                          send less at once; a backup can be restored as JSON Lines"
                        .into(),
                limit_bytes: OBJECT_BATCH_BYTES,
            },
            DbFailure::AnswerTooLong => Self::NoRoom {
                message: "The answer would take more than 32 MiB, which the object of a workspace does not give, and nothing \
                          was changed: ask for less at once; a backup can be fetched as JSON Lines"
                    .into(),
                limit_bytes: OBJECT_BATCH_BYTES,
            },
            DbFailure::Busy(_) => Self::TryAgain("The database is busy, and nothing was changed: try again"),
            DbFailure::Lost(_) => Self::TryAgain(
                "The connection to the database was lost: try again. A change may have been made all the same, so look \
                 before you repeat it, or repeat it with an idempotency key",
            ),
            DbFailure::Refused(cause) | DbFailure::Other(cause) => Self::Internal(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraint_failures_are_told_apart() {
        let check = |message: &str, expected| assert_eq!(DbFailure::from_message(message.into()), expected);
        check("D1_ERROR: UNIQUE constraint failed: agent_tools.workspace_id: SQLITE_CONSTRAINT", DbFailure::Duplicate);
        check("D1_ERROR: FOREIGN KEY constraint failed: SQLITE_CONSTRAINT", DbFailure::MissingReference);
        check("D1_ERROR: no such table: tools: SQLITE_ERROR", DbFailure::NotMigrated);
        // An object's messages lack the prefix.
        let missing = "no such table: tools: SQLITE_ERROR";
        check(missing, DbFailure::Other(missing.into()));
        check("UNIQUE constraint failed: agent_tools.workspace_id: SQLITE_CONSTRAINT", DbFailure::Duplicate);
        let rule = "D1_ERROR: no more of these: SQLITE_CONSTRAINT";
        check(rule, DbFailure::Refused(rule.into()));
        check("D1_ERROR: bad JSON path: 'the workspace has an object': SQLITE_ERROR", DbFailure::InObject);
        check("the rows of the workspace are in D1", DbFailure::Elsewhere);
        let too_long =
            "Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was 1.";
        check(too_long, DbFailure::TooLong);
        check("Error: the answer is longer than a call of an object may carry", DbFailure::AnswerTooLong);
        let unknown = "D1_ERROR: near \"SELEC\": syntax error: SQLITE_ERROR";
        check(unknown, DbFailure::Other(unknown.into()));
    }

    #[test]
    fn faults_that_pass_are_told_by_whether_the_batch_may_have_run() {
        for message in [
            "D1_ERROR: D1 DB is overloaded. Requests queued for too long.",
            "D1_ERROR: D1 DB is overloaded. Too many requests queued.",
            "D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.",
            "D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.",
            "Durable Object is overloaded. Too much data queued.",
            "Durable Object is overloaded. Requests queued for too long.",
            "Internal error while starting up Durable Object storage caused object to be reset.",
            "Cannot resolve Durable Object due to transient issue on remote node.",
        ] {
            let failure = DbFailure::from_message(message.into());
            assert_eq!(failure, DbFailure::Busy(message.into()));
            assert!(failure.may_be_retried(false), "{message}");
        }
        for message in [
            "D1_ERROR: Network connection lost.",
            "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
            "D1_ERROR: Internal error in D1 DB storage caused object to be reset.",
            "D1_ERROR: D1 DB reset because its code was updated.",
            "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.",
            "D1_ERROR: internal error; reference = nvs8qpkqmrjdk2qlftcini97",
            "Durable Object storage operation exceeded timeout which caused object to be reset.",
            "Durable Object reset because its code was updated.",
            "Durable Object's isolate exceeded its memory limit and was reset.",
            "Durable Object exceeded its CPU time limit and was reset.",
            "The Durable Object's code has been updated, this version can no longer access storage.",
            "Cannot access storage because object has moved to a different machine",
            "Alarm exceeded its allowed execution time",
        ] {
            let failure = DbFailure::from_message(message.into());
            assert_eq!(failure, DbFailure::Lost(message.into()));
            assert!(failure.may_be_retried(true) && !failure.may_be_retried(false), "{message}");
        }
        for failure in [DbFailure::Duplicate, DbFailure::NotMigrated, DbFailure::Other("?".into())] {
            assert!(!failure.may_be_retried(true));
        }
    }

    #[test]
    fn an_unforeseen_failure_is_internal() {
        assert_eq!(Error::from(DbFailure::Duplicate).code(), "INTERNAL");
        for failure in [DbFailure::NotMigrated, DbFailure::Busy("?".into()), DbFailure::Lost("?".into())] {
            assert_eq!(Error::from(failure).code(), "UNAVAILABLE");
        }
    }
}
