//! Characters that a person does not see and a model reads: a description with such characters may hide instructions.

/// Whether the text has a control character other than a line feed, a carriage return or a tab, or a bidirectional or tag
/// character.
pub fn has_hidden(text: &str) -> bool {
    text.chars().any(|it| match it {
        '\n' | '\r' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        it => it.is_control(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_has_nothing_hidden() {
        assert!(!has_hidden("Größe\n\tin cm: שלום, 日本語, 👩‍👩‍👧"));
        for hidden in ["a\u{0}", "a\u{1b}[31m", "a\u{202e}b", "a\u{2066}b", "a\u{e0041}"] {
            assert!(has_hidden(hidden), "{hidden:?}");
        }
    }
}
