//! RFC 822 as it occurs in the corpus. `mail-parser` does most of the work; this module handles the rest.
//!
//! A few messages have headers in Latin-1. A few subjects hold a raw line break, so that a line of the header has no
//! name. Lines end in CRLF, in LF, or in one of them in the header and in the other in the body.

use crate::mail::{Mail, Unusable};
use mail_parser::{Address, DateTime, HeaderName, Message, MessageParser};
use std::borrow::Cow;

pub struct Parser(MessageParser);

impl Parser {
    pub fn new() -> Self {
        let parser = MessageParser::new().with_mime_headers().header_text(HeaderName::Subject);
        let parser = parser.header_id(HeaderName::MessageId).header_date(HeaderName::Date);
        let people = [HeaderName::From, HeaderName::To, HeaderName::Cc, HeaderName::Bcc];
        Self(people.into_iter().fold(parser, MessageParser::header_address))
    }

    /// Parses the bytes of one message, as a file holds them.
    pub fn parse(&self, raw: &[u8]) -> Result<Mail, Unusable> {
        if raw.trim_ascii().is_empty() {
            return Err(Unusable::Empty);
        }
        let (header, body) = split(raw);
        let named = with_named_lines(header);
        let whole = match (utf8(&named), &named, missing_end(header)) {
            // The header is fine, as in all but about ten messages of a hundred thousand.
            (Cow::Borrowed(_), Cow::Borrowed(_), b"") => Cow::Borrowed(raw),
            (mended, _, end) => Cow::Owned([mended.as_bytes(), end, body].concat()),
        };
        let message = self.0.parse(whole.as_ref()).ok_or(Unusable::NoMessageId)?;
        read(&message, body).checked()
    }
}

fn read(message: &Message, raw_body: &[u8]) -> Mail {
    let recipients = [message.to(), message.cc(), message.bcc()].into_iter().flatten();
    let mut text = message.body_text(0).unwrap_or_default();
    // The header has another code page under the name of ASCII. Any reading keeps the words around; this one keeps
    // Latin-1's letters.
    if text.contains('\u{fffd}') && std::str::from_utf8(raw_body).is_err() && message.text_body_count() == 1 {
        text = utf8(raw_body);
    }
    Mail {
        message_id: message.message_id().map(bracketed).unwrap_or_default(),
        subject: message.subject().unwrap_or_default().to_owned(),
        sender: message.from().and_then(|from| addresses(from).next()).unwrap_or_default(),
        recipients: recipients.flat_map(addresses).collect(),
        date: message.date().and_then(utc),
        body: if text.contains('\r') { text.replace("\r\n", "\n") } else { text.into_owned() },
    }
}

/// The header with the empty line that ends it, and the rest. The first empty line counts, with either line end.
fn split(raw: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    for line in raw.split_inclusive(|&byte| byte == b'\n') {
        at += line.len();
        if line == b"\n" || line == b"\r\n" {
            break;
        }
    }
    raw.split_at(at)
}

/// The missing end of a header if the file ends inside it: a last line counts only if it is ended.
fn missing_end(header: &[u8]) -> &'static [u8] {
    match header.split_inclusive(|&byte| byte == b'\n').next_back() {
        Some(b"\n" | b"\r\n") => b"",
        Some(line) if line.ends_with(b"\n") => b"\n",
        _ => b"\n\n",
    }
}

/// A header line without a name continues the previous line, which an indentation marks.
fn with_named_lines(header: &[u8]) -> Cow<'_, [u8]> {
    let lines = || header.split_inclusive(|&byte| byte == b'\n');
    if lines().all(is_well_formed) {
        return Cow::Borrowed(header);
    }
    let mut mended = Vec::with_capacity(header.len() + 8);
    for line in lines() {
        if !is_well_formed(line) {
            mended.push(b' ');
        }
        mended.extend_from_slice(line);
    }
    Cow::Owned(mended)
}

fn is_well_formed(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.is_empty() || matches!(line[0], b' ' | b'\t') || {
        let name = line.iter().take_while(|byte| matches!(byte, 33..=57 | 59..=126)).count();
        name > 0 && line[name..].trim_ascii_start().starts_with(b":")
    }
}

/// Reads text that is not UTF-8 as Latin-1. This is right for most of the corpus, and never fails.
fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

fn addresses(header: &Address) -> impl Iterator<Item = String> {
    // Without an address, the name is used, so that the message can be found by it.
    header.iter().filter_map(|each| each.address().or(each.name()).map(|text| text.trim_ascii().to_owned()))
}

fn bracketed(message_id: &str) -> String {
    format!("<{}>", message_id.trim_start_matches('<').trim_end_matches('>'))
}

fn utc(date: &DateTime) -> Option<String> {
    date.is_valid().then(|| date_of(date.to_timestamp()))
}

/// Seconds since 1970, in the database's format.
pub fn date_of(timestamp: i64) -> String {
    DateTime::from_timestamp(timestamp).to_rfc3339()
}

#[cfg(test)]
mod tests;
