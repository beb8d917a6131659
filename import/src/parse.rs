//! RFC 822 as it is found in the corpus. `mail-parser` does the work; here is what it must be helped with.
//!
//! Headers are in Latin-1 in a few messages, and in a few a subject with a line break in it was written as it was, so
//! that a line of the header has no name. Lines end in CRLF, in LF, or the header's in one and the body's in the other.

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

    /// One message's bytes, as a file has them.
    pub fn parse(&self, raw: &[u8]) -> Result<Mail, Unusable> {
        if raw.trim_ascii().is_empty() {
            return Err(Unusable::Empty);
        }
        let (header, body) = split(raw);
        let named = with_named_lines(header);
        let whole = match (utf8(&named), &named, missing_end(header)) {
            // Nothing is wrong with it: so it is with all but some ten messages of a hundred thousand.
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
    // Some other code page, under the name of ASCII. Any reading keeps the words around it; this one keeps Latin-1's.
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

/// The header with the empty line that ends it, and the rest. The first empty line counts, whichever way lines end.
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

/// What a header lacks that the file ends in: its last line is only one once something ends it.
fn missing_end(header: &[u8]) -> &'static [u8] {
    match header.split_inclusive(|&byte| byte == b'\n').next_back() {
        Some(b"\n" | b"\r\n") => b"",
        Some(line) if line.ends_with(b"\n") => b"\n",
        _ => b"\n\n",
    }
}

/// Header lines that have no name continue the line before them: an indentation says so.
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

/// Text that is not UTF-8 is read as Latin-1: right for most of the corpus, and it never fails.
fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

fn addresses(header: &Address) -> impl Iterator<Item = String> {
    // Where there is no address the name is what there is to find the message by.
    header.iter().filter_map(|each| each.address().or(each.name()).map(|text| text.trim_ascii().to_owned()))
}

fn bracketed(message_id: &str) -> String {
    format!("<{}>", message_id.trim_start_matches('<').trim_end_matches('>'))
}

fn utc(date: &DateTime) -> Option<String> {
    date.is_valid().then(|| date_of(date.to_timestamp()))
}

/// Seconds since 1970 as the database writes them.
pub fn date_of(timestamp: i64) -> String {
    DateTime::from_timestamp(timestamp).to_rfc3339()
}

#[cfg(test)]
mod tests;
