//! A message as it is loaded, and the reasons why a message cannot be loaded.

use std::fmt;

/// D1 stores no row over 2,000,000 bytes. The columns besides the texts take far less than the rest.
const ROW_BYTES: usize = 1_990_000;
/// Message-IDs, addresses, inboxes and files are names, which are sent in one statement: D1 takes 100,000 bytes of SQL.
pub const NAME_BYTES: usize = 10_000;

/// One message with decoded texts, without the place where it was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mail {
    /// With its angle brackets, as in ART-E's data.
    pub message_id: String,
    pub subject: String,
    /// The address of the first From; '' if there is none.
    pub sender: String,
    /// The addresses of To, Cc and Bcc, each once: in the corpus Bcc repeats Cc.
    pub recipients: Vec<String>,
    /// In UTC, `YYYY-MM-DDTHH:MM:SSZ`.
    pub date: Option<String>,
    pub body: String,
}

/// Why a message is not loaded.
#[derive(Clone, Debug, PartialEq)]
pub enum Unusable {
    Unreadable(String),
    Empty,
    NoMessageId,
    TooLarge(u64),
    Duplicate(String),
}

impl Mail {
    /// The last check of a message from any source. It removes characters that a text in D1 cannot hold, and refuses a
    /// message that D1 cannot hold at all. So every local database can be uploaded.
    pub fn checked(mut self) -> Result<Self, Unusable> {
        for text in [&mut self.message_id, &mut self.subject, &mut self.sender, &mut self.body] {
            // Readers would take a NUL for the end of the text.
            if text.contains('\0') {
                text.retain(|each| each != '\0');
            }
        }
        let mut seen = std::collections::HashSet::new();
        self.recipients.retain(|each| !each.is_empty() && seen.insert(each.to_ascii_lowercase()));
        if self.message_id.is_empty() {
            return Err(Unusable::NoMessageId);
        }
        let recipients: usize = self.recipients.iter().map(|each| each.len() + 3).sum();
        let bytes = self.message_id.len() + self.subject.len() + self.sender.len() + recipients + self.body.len();
        let longest_name = self.recipients.iter().map(String::len).max().unwrap_or(0);
        let names = [self.message_id.len(), self.sender.len(), longest_name];
        if bytes > ROW_BYTES || names.into_iter().any(|each| each > NAME_BYTES) {
            return Err(Unusable::TooLarge(bytes as u64));
        }
        Ok(self)
    }
}

impl Unusable {
    /// The name under which the summary counts the reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::Empty => "empty",
            Self::NoMessageId => "no Message-ID",
            Self::TooLarge(_) => "too large for D1",
            Self::Duplicate(_) => "duplicate Message-ID",
        }
    }
}

/// The detail that the report adds to the reason.
impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(cause) => f.write_str(cause),
            Self::Empty | Self::NoMessageId => Ok(()),
            Self::TooLarge(bytes) => write!(f, "{bytes} bytes"),
            Self::Duplicate(message_id) => f.write_str(message_id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail() -> Mail {
        Mail { message_id: "<1@x>".into(), ..Mail::default() }
    }

    #[test]
    fn recipients_are_there_once_however_they_are_spelt() {
        // Only the case of ASCII letters is ignored, as in a search.
        let recipients = ["a@x", "B@x", "a@x", "", "b@x", "É@x", "é@x"].map(String::from).to_vec();
        let checked = Mail { recipients, ..mail() }.checked().unwrap();
        assert_eq!(checked.recipients, ["a@x", "B@x", "É@x", "é@x"]);
    }

    #[test]
    fn a_nul_is_taken_out() {
        let checked = Mail { body: "a\0b".into(), ..mail() }.checked().unwrap();
        assert_eq!(checked.body, "ab");
    }

    #[test]
    fn what_d1_cannot_hold_is_refused() {
        assert_eq!(Mail { message_id: String::new(), ..mail() }.checked(), Err(Unusable::NoMessageId));
        let body = "x".repeat(2_000_000);
        assert_eq!(Mail { body, ..mail() }.checked(), Err(Unusable::TooLarge(2_000_005)));
        assert!(matches!(Mail { sender: "x".repeat(10_001), ..mail() }.checked(), Err(Unusable::TooLarge(_))));
        assert!(Mail { body: "x".repeat(1_900_000), ..mail() }.checked().is_ok());
    }
}
