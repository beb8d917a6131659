//! Splits a body that comes in pieces into its lines.

use crate::error::{Error, Result};
use futures_util::stream::{Stream, StreamExt};
use std::pin::Pin;

/// The longest line of a toolset, whose files and tools become many rows.
const MAX_LINE_BYTES: usize = 4_000_000;

/// The longest line of any other record. D1 stores no value of more than two million bytes.
pub const MAX_RECORD_BYTES: usize = 2_000_000;

/// How many bytes of a refused body are read on. A client that is still sending when the response comes sees a broken
/// connection instead of the response.
const MAX_DRAINED_BYTES: usize = 64 * 1024 * 1024;

pub struct BodyLines<S> {
    pieces: Pin<Box<S>>,
    /// The bytes that were received and not yet returned. The lines before `start` were returned.
    bytes: Vec<u8>,
    start: usize,
    /// How far `bytes` is known to have no line break after `start`.
    searched: usize,
    /// The number of the line that was returned last, counted from 1.
    number: usize,
    ended: bool,
}

impl<S: Stream<Item = Result<Vec<u8>>>> BodyLines<S> {
    pub fn new(pieces: S) -> Self {
        Self { pieces: Box::pin(pieces), bytes: Vec::new(), start: 0, searched: 0, number: 0, ended: false }
    }

    /// The next line that is not blank, with its number.
    pub async fn next(&mut self) -> Result<Option<(usize, &[u8])>> {
        loop {
            let rest = self.bytes.get(self.searched..).unwrap_or_default();
            let end = match rest.iter().position(|it| *it == b'\n') {
                Some(at) => Some(self.searched + at),
                None if self.ended && self.start < self.bytes.len() => Some(self.bytes.len()),
                None => None,
            };
            let Some(end) = end else {
                if self.ended {
                    return Ok(None);
                }
                self.receive().await?;
                continue;
            };
            let line = self.start..end;
            self.start = (end + 1).min(self.bytes.len());
            self.searched = self.start;
            self.number += 1;
            let blank = self.bytes.get(line.clone()).unwrap_or_default().trim_ascii().is_empty();
            if !blank {
                return Ok(Some((self.number, self.bytes.get(line).unwrap_or_default())));
            }
        }
    }

    async fn receive(&mut self) -> Result<()> {
        self.bytes.drain(..self.start);
        (self.start, self.searched) = (0, self.bytes.len());
        if self.bytes.len() > MAX_LINE_BYTES {
            let message = format!("is longer than the {MAX_LINE_BYTES} bytes that a line may have");
            return Err(Error::body(format!("/{}", self.number + 1), message));
        }
        match self.pieces.next().await.transpose()? {
            Some(piece) => self.bytes.extend_from_slice(&piece),
            None => self.ended = true,
        }
        Ok(())
    }

    /// Reads the rest of the body, up to a limit, and throws it away.
    pub async fn drain(mut self) {
        let mut drained = 0;
        while drained <= MAX_DRAINED_BYTES
            && let Some(Ok(piece)) = self.pieces.next().await
        {
            drained += piece.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{FutureExt, stream};

    fn lines_of(pieces: &[&str]) -> Result<Vec<(usize, String)>> {
        let pieces = pieces.iter().map(|it| Ok(it.as_bytes().to_vec())).collect::<Vec<_>>();
        let mut lines = BodyLines::new(stream::iter(pieces));
        let mut found = Vec::new();
        while let Some((number, line)) = lines.next().now_or_never().expect("all pieces are there")? {
            found.push((number, String::from_utf8(line.to_vec()).unwrap()));
        }
        Ok(found)
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces() {
        let expected = [(1, "one".to_owned()), (3, "three\r".to_owned()), (5, "five".to_owned())];
        let text = "one\n\nthree\r\n  \nfive";
        assert_eq!(lines_of(&[text]).unwrap(), expected);
        let letters = text.chars().map(String::from).collect::<Vec<_>>();
        assert_eq!(lines_of(&letters.iter().map(String::as_str).collect::<Vec<_>>()).unwrap(), expected);
        assert_eq!(lines_of(&[]).unwrap(), []);
        assert_eq!(lines_of(&["\n", ""]).unwrap(), []);
        assert_eq!(lines_of(&["a\n"]).unwrap(), [(1, "a".to_owned())]);
    }

    #[test]
    fn a_line_that_never_ends_is_refused() {
        let long = "x".repeat(1_500_000);
        assert!(lines_of(&["a\n", &long]).is_ok());
        let Err(Error::Invalid(problems)) = lines_of(&["a\n", &long, &long, &long]) else { unreachable!("too long") };
        assert_eq!(problems[0].path, "/2");
    }
}
