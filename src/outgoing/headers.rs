//! Headers of requests: which headers may be sent, and how the values of credentials get into them. A header's value
//! names a credential as `${NAME}`.

use std::collections::BTreeMap;

const MAX_NAME_BYTES: usize = 256;
const MAX_VALUE_BYTES: usize = 4_096;

/// Headers about the transfer of the request. Only the client sets them.
const SET_BY_CLIENT: [&str; 10] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Parts of header names whose values are likely to be secrets.
const SENSITIVE: [&str; 7] = ["auth", "cookie", "key", "password", "secret", "signature", "token"];

/// The reason why a header cannot be sent, if it cannot. The text continues a sentence that begins with the header's
/// name.
pub fn fault_of_header(name: &str, value: &str) -> Option<&'static str> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(token) {
        Some("is not the name of a header")
    } else if SET_BY_CLIENT.iter().any(|it| name.eq_ignore_ascii_case(it)) {
        Some("is set by the one who sends")
    } else if value.len() > MAX_VALUE_BYTES || !value.bytes().all(|it| it == b'\t' || (b' '..=b'~').contains(&it)) {
        Some("must have a value of visible ASCII characters, 4096 at the most")
    } else {
        None
    }
}

/// Whether a header's value is likely to be a secret, although the value does not come from a credential.
pub fn is_sensitive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SENSITIVE.iter().any(|it| name.contains(it))
}

/// The names of the credentials in a header's value.
pub fn credentials_in(value: &str) -> impl Iterator<Item = &str> {
    pieces(value).into_iter().filter_map(|it| match it {
        Piece::Text(_) => None,
        Piece::Credential(name) => Some(name),
    })
}

/// The words before a credential that say how the credential is to be used.
const SCHEMES: [&str; 6] = ["apikey", "basic", "bearer", "bot", "key", "token"];

/// Whether a header's value holds text of its own, which may be a secret. The scheme before a credential and the
/// punctuation around a credential are no such text.
pub fn is_literal(value: &str) -> bool {
    let mut texts = Vec::new();
    let mut names_credential = false;
    for piece in pieces(value) {
        match piece {
            Piece::Text(text) => texts.push(text),
            Piece::Credential(_) => names_credential = true,
        }
    }
    if !names_credential {
        return !value.is_empty();
    }
    if let Some(first) = texts.first_mut()
        && let Some((scheme, rest)) = first.split_once(' ')
        && SCHEMES.iter().any(|it| scheme.eq_ignore_ascii_case(it))
    {
        *first = rest;
    }
    texts.iter().any(|it| it.bytes().any(|byte| byte.is_ascii_alphanumeric()))
}

/// The headers with the values of their credentials, or the name of a credential that has no value.
pub fn fill_in(
    headers: &BTreeMap<String, String>,
    mut credential: impl FnMut(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut filled = BTreeMap::new();
    for (name, value) in headers {
        let mut whole = String::new();
        for piece in pieces(value) {
            match piece {
                Piece::Text(text) => whole.push_str(text),
                Piece::Credential(id) => whole.push_str(&credential(id).ok_or_else(|| id.to_owned())?),
            }
        }
        filled.insert(name.clone(), whole);
    }
    Ok(filled)
}

/// A part of a header's value.
enum Piece<'a> {
    Text(&'a str),
    Credential(&'a str),
}

fn pieces(value: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${")
        && let Some((name, after)) = after.split_once('}')
    {
        found.extend([Piece::Text(before), Piece::Credential(name)]);
        rest = after;
    }
    found.push(Piece::Text(rest));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_get_the_values_of_their_credentials() {
        let credential = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
        let headers = |value: &str| BTreeMap::from([("X".to_owned(), value.to_owned())]);
        let filled = |value: &str| fill_in(&headers(value), credential).map(|it| it["X"].clone());
        assert_eq!(filled("Bearer ${KEY}!"), Ok("Bearer s3cret!".to_owned()));
        assert_eq!(filled("$KEY {KEY} ${"), Ok("$KEY {KEY} ${".to_owned()));
        assert_eq!(filled("${KEY} ${OTHER}"), Err("OTHER".to_owned()));
    }

    #[test]
    fn credentials_are_found_where_a_value_names_them() {
        let found = |value| credentials_in(value).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found("${TWO}${THREE} ${"), ["TWO", "THREE"]);
        assert_eq!(found("$ONE {TWO}"), Vec::<String>::new());
    }

    #[test]
    fn headers_are_held_to_what_can_be_sent() {
        for (name, value) in [("X-Key", "abc"), ("Authorization", "Bearer ${API_KEY}"), ("x", "")] {
            assert_eq!(fault_of_header(name, value), None, "{name}: {value}");
        }
        for (name, value) in
            [("", "x"), ("a b", "x"), ("Host", "x"), ("content-type", "x"), ("x", "a\r\nb"), ("x", "ä")]
        {
            assert!(fault_of_header(name, value).is_some(), "{name}: {value}");
        }
    }

    #[test]
    fn only_a_scheme_and_punctuation_may_stand_beside_a_credential() {
        for value in ["", "${KEY}", "Bearer ${KEY}", "bearer ${KEY}", "${USER}:${PASSWORD}", "Token ${KEY}; ${OTHER}"] {
            assert!(!is_literal(value), "{value}");
        }
        for value in ["x", "Bearer s3cret", "s3cret ${KEY}", "${KEY}s3cret", "Bearer s3cret ${KEY}", "${", "$KEY"] {
            assert!(is_literal(value), "{value}");
        }
    }

    #[test]
    fn likely_secrets_are_told_by_the_name() {
        assert!(is_sensitive("Authorization") && is_sensitive("X-API-Key"));
        assert!(!is_sensitive("Accept"));
    }
}
