//! Reads lines of a bounded length from a pipe.

use tokio::io::{AsyncRead, AsyncReadExt};

/// The longest line that a server may write.
pub const MAX_BYTES: usize = 10 * 1024 * 1024;
const PIECE_BYTES: usize = 64 * 1024;

pub struct BoundedLines<R> {
    input: R,
    /// What has been read and not yet returned.
    buffer: Vec<u8>,
    /// How much of the buffer is known to have no line break.
    searched: usize,
    max_bytes: usize,
}

#[derive(Debug, PartialEq)]
pub enum Line {
    /// Without its line break.
    Whole(Vec<u8>),
    /// A line grew beyond the bound. What follows cannot be read as lines any more.
    TooLong,
    /// Nothing more comes. A last line without a line break is dropped.
    End,
}

impl<R: AsyncRead + Unpin> BoundedLines<R> {
    pub fn new(input: R, max_bytes: usize) -> Self {
        Self { input, buffer: Vec::new(), searched: 0, max_bytes }
    }

    pub async fn next(&mut self) -> Line {
        loop {
            if let Some(found) = self.buffer[self.searched..].iter().position(|&byte| byte == b'\n') {
                let rest = self.buffer.split_off(self.searched + found + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                self.searched = 0;
                line.pop();
                return if line.len() > self.max_bytes { Line::TooLong } else { Line::Whole(line) };
            }
            self.searched = self.buffer.len();
            if self.searched > self.max_bytes {
                return Line::TooLong;
            }
            self.buffer.reserve(PIECE_BYTES);
            match self.input.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return Line::End,
                Ok(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], max_bytes: usize) -> Vec<Line> {
        let mut lines = BoundedLines::new(input, max_bytes);
        let mut found = Vec::new();
        loop {
            found.push(lines.next().await);
            if !matches!(found.last(), Some(Line::Whole(_))) {
                return found;
            }
        }
    }

    #[tokio::test]
    async fn lines_are_whole_and_bounded() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(lines(b"ab\n\ncd\nrest", 4).await, [whole("ab"), whole(""), whole("cd"), Line::End]);
        assert_eq!(lines(b"abcd\nabcde\n", 4).await, [whole("abcd"), Line::TooLong]);
        let long = vec![b'x'; 1 << 20];
        assert_eq!(lines(&long, 1000).await, [Line::TooLong]);
    }
}
