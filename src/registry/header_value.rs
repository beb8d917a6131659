//! The values of the headers in a handler. A literal value may be a secret, so the database and backups hold it sealed.
//! A value that only names credentials holds no secret, and stays readable.

use crate::error::Result;
use crate::outgoing::is_literal;
use crate::seal::Sealer;
use serde::{Deserialize, Serialize};

/// What is wrong with a value of a backup that [`HeaderValue::open`] does not open.
pub const NOT_OPENED: &str = "was sealed with another SECRET_KEY, or for another URL: give the value again";

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HeaderValue {
    Plain(String),
    Sealed { sealed: String },
}

impl HeaderValue {
    /// The value, if it is not sealed.
    pub fn plain(&self) -> Option<&str> {
        match self {
            Self::Plain(value) => Some(value),
            Self::Sealed { .. } => None,
        }
    }

    /// Whether the value must be sealed before it is stored.
    pub fn needs_seal(&self) -> bool {
        self.plain().is_some_and(is_literal)
    }

    /// The value as it is stored.
    pub fn sealed(&self, sealer: &Sealer, name: &str, url: &str) -> Result<Self> {
        match self {
            Self::Plain(value) if is_literal(value) => {
                Ok(Self::Sealed { sealed: sealer.seal(value, &about(name, url))? })
            }
            Self::Plain(_) | Self::Sealed { .. } => Ok(self.clone()),
        }
    }

    /// The value as it was given. None, if it was sealed with another key, or for another header or URL.
    pub fn open(&self, sealer: Option<&Sealer>, name: &str, url: &str) -> Option<String> {
        match self {
            Self::Plain(value) => Some(value.clone()),
            Self::Sealed { sealed } => sealer?.open(sealed, &about(name, url)),
        }
    }
}

/// A value is sealed for one header of requests to one URL. So a person who has only a backup cannot have the value
/// sent to a server of their own.
fn about(name: &str, url: &str) -> String {
    format!("header/{name}/{url}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://a.example/x";

    #[test]
    fn a_literal_value_is_sealed_for_its_header_and_url() {
        let (sealer, value) = (Sealer::new("k"), HeaderValue::Plain("hunter2".into()));
        let sealed = value.sealed(&sealer, "X-Key", URL).unwrap();
        assert!(value.needs_seal() && !sealed.needs_seal() && sealed.plain().is_none());
        assert!(!serde_json::to_string(&sealed).unwrap().contains("hunter2"));
        assert_eq!(sealed.open(Some(&sealer), "X-Key", URL).as_deref(), Some("hunter2"));
        for (sealer, name, url) in [
            (Some(&sealer), "X-Key", "https://b.example/x"),
            (Some(&sealer), "X-Other", URL),
            (Some(&Sealer::new("other")), "X-Key", URL),
            (None, "X-Key", URL),
        ] {
            assert_eq!(sealed.open(sealer, name, url), None);
        }
        assert_eq!(sealed.sealed(&sealer, "X-Key", URL).unwrap(), sealed, "a sealed value is not sealed again");
    }

    #[test]
    fn a_value_that_only_names_credentials_stays_readable() {
        let value = HeaderValue::Plain("Bearer ${KEY}".into());
        assert_eq!(value.sealed(&Sealer::new("k"), "Authorization", URL).unwrap(), value);
        assert_eq!(serde_json::to_string(&value).unwrap(), r#""Bearer ${KEY}""#);
    }
}
