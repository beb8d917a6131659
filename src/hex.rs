//! Hexadecimal digits. They are used for digests, for cursors and search facets, where any text must become one plain
//! word, and for the parts of URLs.

use data_encoding::HEXLOWER;
use std::fmt::Write;

pub fn encode(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// The text that `digits` encode. None if they do not encode a text.
pub fn decode_text(digits: &str) -> Option<String> {
    String::from_utf8(decode(digits)?).ok()
}

/// The SHA-256 that `digits` encode. None if they do not encode one.
pub fn decode_digest(digits: &str) -> Option<[u8; 32]> {
    decode(digits)?.try_into().ok()
}

/// Decodes a text whose bytes may be written as `%` and two digits. None if the result is not a text.
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The text as a part of a URL: every byte but letters, digits, `-`, `.`, `_` and `~` is `%` and two digits.
pub fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

pub fn decode(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |it: u8| char::from(it).to_digit(16);
    digits.chunks_exact(2).map(|pair| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives() {
        for text in ["", "a", "module.tool", "søk", "a:b\u{0}"] {
            assert_eq!(decode_text(&encode(text.as_bytes())).as_deref(), Some(text));
        }
    }

    #[test]
    fn a_part_of_a_url_has_no_character_with_a_meaning() {
        assert_eq!(percent_encoded("a-b_c.d~9"), "a-b_c.d~9");
        assert_eq!(percent_encoded("a b/ä?&=%+\r"), "a%20b%2F%C3%A4%3F%26%3D%25%2B%0D");
        assert_eq!(percent_decoded(&percent_encoded("ä /%")).as_deref(), Some("ä /%"));
    }

    #[test]
    fn what_is_not_hex_of_text_is_nothing() {
        for digits in ["a", "zz", "ff", "6g", "é"] {
            assert_eq!(decode_text(digits), None, "{digits}");
        }
    }
}
