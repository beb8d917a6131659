//! The output of a call. All of it is read, so that the child does not block, and the beginning is kept.

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;

/// How much of stdout and of stderr is kept.
pub const KEPT_BYTES: usize = 64 << 10;
/// A stream that is longer than this counts as a flood, and is read no further.
pub const FLOOD_BYTES: usize = 8 << 20;

#[derive(Debug, Default, PartialEq)]
pub struct Captured {
    pub bytes: Vec<u8>,
    /// Whether the stream had more bytes.
    pub cut: bool,
}

impl Captured {
    /// Output that is lost completely.
    pub fn lost() -> Self {
        Self { bytes: Vec::new(), cut: true }
    }
}

/// Reads to the end, or to a flood, which it reports to `flooded`. Output that cannot be read counts as cut, like
/// output that is too long.
pub async fn capture(mut pipe: impl AsyncRead + Unpin, kept: usize, flooded: &Notify) -> Captured {
    let mut captured = Captured::default();
    let mut buffer = vec![0; 16 << 10];
    let mut seen = 0;
    loop {
        let read = match pipe.read(&mut buffer).await {
            Ok(0) => return captured,
            Ok(read) => read,
            Err(_) => {
                captured.cut = true;
                return captured;
            }
        };
        let room = kept - captured.bytes.len();
        captured.bytes.extend_from_slice(&buffer[..read.min(room)]);
        captured.cut |= read > room;
        seen += read;
        if seen > FLOOD_BYTES {
            flooded.notify_one();
            return captured;
        }
    }
}

/// The output as text, not longer than the limit, and whether something is missing.
pub fn text(captured: &Captured) -> (String, bool) {
    let mut bytes = &captured.bytes[..];
    if captured.cut {
        // A character that was cut in the middle is dropped, not shown as a broken character.
        let whole =
            bytes.utf8_chunks().last().filter(|chunk| is_begun(chunk.invalid())).map(|chunk| chunk.invalid().len());
        bytes = &bytes[..bytes.len() - whole.unwrap_or(0)];
    }
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    // Each broken byte has become three bytes.
    let longest = text.floor_char_boundary(KEPT_BYTES);
    let cut = captured.cut || longest < text.len();
    text.truncate(longest);
    (text, cut)
}

/// Tells whether the bytes could be the beginning of a character.
fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::ReadBuf;

    async fn captured(bytes: &[u8], kept: usize) -> Captured {
        capture(bytes, kept, &Notify::new()).await
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_missing() {
        struct Broken;

        impl AsyncRead for Broken {
            fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
                Poll::Ready(Err(std::io::ErrorKind::Other.into()))
            }
        }

        let captured = capture((&b"abc"[..]).chain(Broken), KEPT_BYTES, &Notify::new()).await;
        assert_eq!(captured, Captured { bytes: b"abc".into(), cut: true });
    }

    #[tokio::test]
    async fn the_beginning_is_kept() {
        assert_eq!(captured(b"abc", 3).await, Captured { bytes: b"abc".into(), cut: false });
        assert_eq!(captured(b"abcd", 3).await, Captured { bytes: b"abc".into(), cut: true });
        assert_eq!(captured(b"", 3).await, Captured::default());
    }

    #[tokio::test]
    async fn a_flood_is_told() {
        let flooded = Notify::new();
        let captured = capture(tokio::io::repeat(b'x'), KEPT_BYTES, &flooded).await;
        assert!(captured.cut);
        assert_eq!(captured.bytes.len(), KEPT_BYTES);
        flooded.notified().await;
    }

    #[test]
    fn text_is_whole_characters() {
        let cut = |bytes: &[u8]| text(&Captured { bytes: bytes.into(), cut: true });
        let whole = |bytes: &[u8]| text(&Captured { bytes: bytes.into(), cut: false });
        assert_eq!(whole("é".as_bytes()), ("é".into(), false));
        assert_eq!(cut(&"aé".as_bytes()[..2]), ("a".into(), true));
        assert_eq!(cut("aé".as_bytes()), ("aé".into(), true));
        assert_eq!(whole(b"a\xff"), ("a\u{fffd}".into(), false));
        assert_eq!(whole(&"aé".as_bytes()[..2]), ("a\u{fffd}".into(), false));
        let (text, cut) = whole(&[0xff; KEPT_BYTES]);
        assert!(text.len() <= KEPT_BYTES && cut);
    }
}
