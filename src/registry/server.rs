//! The server behind a tool or a module: its checked URL, and its headers with the values of their credentials.

use super::header_value::HeaderValue;
use super::redact::scrub;
use crate::callers::Scope;
use crate::outgoing::{check_url, credentials_in, fill_in, is_literal, is_sensitive, may_carry_credentials};
use std::collections::BTreeMap;

/// Headers as they are stored, and the URL that their literal values were sealed for.
#[derive(Clone, Copy)]
pub struct StoredHeaders<'a> {
    pub values: &'a BTreeMap<String, HeaderValue>,
    pub url: &'a str,
}

/// A URL and headers that may be sent.
pub struct Server {
    pub url: String,
    pub headers: BTreeMap<String, String>,
    /// The secrets in the headers.
    lent: Vec<String>,
}

impl Server {
    /// Opens the headers, checks the URL, and fills in the credentials that the workspace may send to the URL's host. Of
    /// two headers with the same name, the later one counts. Fails with the reason, in words that may be shown to every
    /// caller: only admins see URLs and headers.
    pub fn of(scope: &Scope, url: &str, headers: &[StoredHeaders<'_>]) -> Result<Self, String> {
        let settings = scope.app().settings();
        let mut opened = BTreeMap::new();
        for group in headers {
            for (name, value) in group.values {
                let value = value.open(settings.sealer.as_ref(), name, group.url).ok_or(OTHER_KEY)?;
                opened.insert(name.clone(), value);
            }
        }
        let url = check_url(url, scope.app().url_rules()).map_err(|fault| format!("its URL {fault}"))?;
        let asks = opened.values().any(|it| credentials_in(it).next().is_some());
        if asks && !may_carry_credentials(&url, settings.open) {
            return Err("its credentials are sent over https only".to_owned());
        }
        let host = url.host();
        let mut lent = opened.iter().flat_map(|(name, value)| secrets_in(name, value)).collect::<Vec<_>>();
        let filled = fill_in(&opened, |name| {
            let value = scope.app().credential(scope.workspace(), name, &host);
            lent.extend(value.clone());
            value
        });
        // The same words for a secret that does not exist and for one that is not lent, so that no caller learns which
        // secrets there are.
        let headers = filled.map_err(|missing| {
            format!(
                "the credential {missing} has no value here; wrangler secret put sets one, and CREDENTIAL_WORKSPACES lends \
                 it to a workspace and a host"
            )
        })?;
        Ok(Self { url: url.href(), headers, lent })
    }

    /// A server that is reached by a way of its own, with the secrets that it gets.
    pub const fn with_secrets(url: String, headers: BTreeMap<String, String>, lent: Vec<String>) -> Self {
        Self { url, headers, lent }
    }

    /// The text of a response without the secrets of the request. A server may repeat the headers of the request, and
    /// the caller must not see the credentials in them.
    pub fn scrub(&self, text: String) -> String {
        scrub(&self.lent, text)
    }
}

const OTHER_KEY: &str = "a header was sealed with another SECRET_KEY; give the header's value again";

/// The shortest literal value of a header that counts as a secret whatever the header is called. A shorter one, such as
/// the name of a region, occurs in responses by chance.
const MIN_LITERAL_BYTES: usize = 8;

/// Headers that hold no secret, and whose values are frequent in responses.
const PUBLIC: [&str; 5] = ["accept", "accept-encoding", "accept-language", "cache-control", "user-agent"];

/// The texts of a header that may be secrets: the value, and each long word of it, because a server may repeat a token
/// without the scheme before it.
fn secrets_in(name: &str, value: &str) -> Vec<String> {
    if !is_literal(value) || PUBLIC.iter().any(|it| it.eq_ignore_ascii_case(name)) {
        return Vec::new();
    }
    let is_long = |it: &&str| it.len() >= MIN_LITERAL_BYTES;
    let whole = Some(value).filter(|it| is_sensitive(name) || is_long(it));
    let words = value.split(' ').filter(is_long);
    whole.into_iter().chain(words).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_values_are_secrets_whatever_the_header_is_called() {
        let check =
            |name: &str, value: &str, expected: &[&str]| assert_eq!(secrets_in(name, value), expected, "{name}");
        check("X-Foo", "otherkey99", &["otherkey99", "otherkey99"]);
        check("X-Region", "eu", &[]);
        check("Accept", "application/json", &[]);
        check("X-Token", "abcde", &["abcde"]);
        check("Authorization", "Bearer s3cret-token", &["Bearer s3cret-token", "s3cret-token"]);
        check("Authorization", "Bearer ${KEY}", &[]);
    }
}
