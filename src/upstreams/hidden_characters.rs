//! Characters that a reader does not see, and that a model reads all the same. Strangers write the texts of upstreams'
//! tools, and an admin who accepts a tool must see the whole text.

/// Whether a text holds control characters (other than line breaks and tabs), characters that change the direction of
/// writing, or tag characters.
pub fn has_hidden(text: &str) -> bool {
    text.chars().any(is_hidden)
}

/// The text without its hidden characters.
pub fn without_hidden(text: &str) -> String {
    text.chars().filter(|it| !is_hidden(*it)).collect()
}

fn is_hidden(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of the direction.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Tags, which repeat ASCII invisibly.
        '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_for_people_pass() {
        for text in ["", "Zwei\nZeilen\tund ein Tab", "äöü €", "日本語", "עברית", "👩‍👩‍👧 ❤️", "a\u{200b}b"]
        {
            assert!(!has_hidden(text), "{text}");
        }
    }

    #[test]
    fn hidden_characters_are_found() {
        for hidden in [
            '\0',
            '\r',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{61c}',
            '\u{200e}',
            '\u{202e}',
            '\u{2066}',
            '\u{2069}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e007f}',
        ] {
            assert!(has_hidden(&format!("a{hidden}b")), "{hidden:?}");
            assert_eq!(without_hidden(&format!("a{hidden}b\n")), "ab\n");
        }
    }
}
