//! The end of what a server wrote to its stderr, and of what the bridge notes about its output.

use std::collections::VecDeque;

pub const MAX_BYTES: usize = 16 * 1024;

#[derive(Default)]
pub struct StderrTail(VecDeque<u8>);

impl StderrTail {
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(MAX_BYTES)..];
        let excess = (self.0.len() + bytes.len()).saturating_sub(MAX_BYTES);
        self.0.drain(..excess);
        self.0.extend(bytes);
    }

    /// A line of the bridge's own.
    pub fn note(&mut self, line: &str) {
        self.push(format!("pegboard-mcp-host: {line}\n").as_bytes());
    }

    /// The last bytes as text.
    pub fn text(&self, max_bytes: usize) -> String {
        let (first, second) = self.0.as_slices();
        let bytes = [first, second].concat();
        String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(max_bytes)..]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = StderrTail::default();
        tail.push(b"begin");
        tail.push(&[b'x'; MAX_BYTES - 2]);
        assert!(tail.text(MAX_BYTES).starts_with("inx"));
        tail.push(&[b'y'; 3 * MAX_BYTES]);
        tail.push(b"end");
        assert_eq!((tail.text(MAX_BYTES).len(), tail.text(5).as_str()), (MAX_BYTES, "yyend"));
        tail.note("skipped");
        assert!(tail.text(100).ends_with("endpegboard-mcp-host: skipped\n"));
    }
}
