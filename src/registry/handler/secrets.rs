//! The header values of handlers at rest: literal values are stored sealed.

use super::{Handler, header_problem};
use crate::error::{Error, Problem, Result};
use crate::registry::header_value::{HeaderValue, NOT_OPENED};
use crate::seal::Sealer;

const NO_KEY: &str = "has a literal value, which is stored sealed, and no SECRET_KEY is configured: \
    npx wrangler secret put SECRET_KEY, or name a credential as ${NAME}";

impl Handler {
    /// The handler as it is stored: every literal header value is sealed. Fails if a value must be sealed and the
    /// deployment has no key for it.
    pub fn sealed(&self, sealer: Option<&Sealer>) -> Result<Self> {
        let mut stored = self.clone();
        let Some((url, headers)) = stored.server_mut() else { return Ok(stored) };
        let Some(sealer) = sealer else {
            let literal = headers.iter().filter(|(_, value)| value.needs_seal());
            let problems = literal.map(|(name, _)| header_problem(name, NO_KEY)).collect::<Vec<_>>();
            return if problems.is_empty() { Ok(stored) } else { Err(Error::Invalid(problems)) };
        };
        for (name, value) in headers {
            *value = value.sealed(sealer, name, url)?;
        }
        Ok(stored)
    }

    /// The handler with its header values as they were given. A value that cannot be opened stays sealed.
    pub fn opened(&self, sealer: Option<&Sealer>) -> Self {
        let mut opened = self.clone();
        let Some((url, headers)) = opened.server_mut() else { return opened };
        for (name, value) in headers {
            if let Some(given) = value.open(sealer, name, url) {
                *value = HeaderValue::Plain(given);
            }
        }
        opened
    }

    /// A problem for each header whose value is still sealed after [`Self::opened`].
    pub fn unopened(&self) -> Vec<Problem> {
        let headers = self.server().into_iter().flat_map(|(_, headers)| headers);
        headers.filter(|(_, value)| value.plain().is_none()).map(|(name, _)| header_problem(name, NOT_OPENED)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RestHandler, headers};
    use super::*;
    use serde_json::json;

    /// Both kinds that have headers.
    fn with(values: &[(&str, &str)]) -> [Handler; 2] {
        let url = "https://a.example".to_owned();
        let rest = RestHandler { headers: headers(values), ..RestHandler::get(&url) };
        [Handler::Http { url, headers: headers(values) }, Handler::Rest(rest)]
    }

    #[test]
    fn literal_values_are_stored_sealed_and_open_with_the_same_key() {
        for handler in with(&[("A", "Bearer ${ONE}"), ("B", "s3cret")]) {
            let sealer = Sealer::new("k");
            let sealed = handler.sealed(Some(&sealer)).unwrap();
            assert!(!json!(sealed).to_string().contains("s3cret") && json!(sealed).to_string().contains("${ONE}"));
            assert_eq!(Handler::read_backup(&json!(sealed)).unwrap(), sealed);
            assert!(Handler::read(&json!(sealed)).is_err(), "a registrant gives values as they are");
            assert_eq!(sealed.opened(Some(&sealer)), handler);
            let unopened = sealed.opened(Some(&Sealer::new("other"))).unopened();
            assert_eq!(unopened.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["/handler/headers/B"]);
            assert!(handler.unopened().is_empty());
        }
    }

    #[test]
    fn without_a_key_a_literal_value_is_refused() {
        for handler in with(&[("A", "s3cret")]) {
            let Err(Error::Invalid(problems)) = handler.sealed(None) else { unreachable!("it has no key") };
            assert_eq!(problems[0].path, "/handler/headers/A");
            assert!(problems[0].message.contains("wrangler secret put SECRET_KEY"));
        }
        for handler in with(&[("A", "Bearer ${KEY}")]) {
            assert!(handler.sealed(None).is_ok());
        }
    }
}
