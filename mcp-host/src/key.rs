//! The name under which the Worker knows a server.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerKey(String);

const MAX_BYTES: usize = 200;

impl ServerKey {
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        let good = (1..=MAX_BYTES).contains(&text.len()) && text.bytes().all(fits);
        good.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_plain_words() {
        for good in ["a", "ws_1:time", "A.b-c:9", &"k".repeat(200)] {
            assert!(ServerKey::parse(good).is_some(), "{good}");
        }
        for bad in ["", "a b", "a/b", "ä", "a\n", &"k".repeat(201)] {
            assert!(ServerKey::parse(bad).is_none(), "{bad}");
        }
    }
}
