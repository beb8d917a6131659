//! Texts that are too large for one value of a database, in pieces. Pure.

/// The text in pieces of at most `max_bytes`, cut between characters. An empty text is one piece.
pub fn pieces(mut text: &str, max_bytes: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    while text.len() > max_bytes {
        let (piece, rest) = text.split_at(text.floor_char_boundary(max_bytes));
        pieces.push(piece);
        text = rest;
    }
    pieces.push(text);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fit_and_are_the_whole_text_together() {
        for text in ["", "a", "abcd", "abcde", "ää\u{1f600}ö", "\u{1f600}\u{1f600}"] {
            let pieces = pieces(text, 4);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|it| it.len() <= 4), "{pieces:?}");
        }
        assert_eq!(pieces("", 4), [""]);
        assert_eq!(pieces("abcdefghi", 4), ["abcd", "efgh", "i"]);
    }
}
