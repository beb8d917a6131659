//! Bounds for the words that FTS5 finds in a text: the largest number of words, and the fewest letters of the last
//! word.

/// Ranges of characters that FTS5 certainly treats as letters or digits, in the most common scripts. A test checks this
/// with FTS5.
const SURE: &[(char, char)] = &[
    ('0', '9'),
    ('A', 'Z'),
    ('a', 'z'),
    ('\u{c0}', '\u{d6}'),
    ('\u{d8}', '\u{f6}'),
    ('\u{f8}', '\u{2af}'),
    ('\u{388}', '\u{38a}'),
    ('\u{38e}', '\u{3a1}'),
    ('\u{3a3}', '\u{3f5}'),
    ('\u{400}', '\u{481}'),
    ('\u{48a}', '\u{523}'),
    ('\u{5d0}', '\u{5ea}'),
    ('\u{621}', '\u{64a}'),
    ('\u{660}', '\u{669}'),
    ('\u{1e00}', '\u{1f15}'),
    ('\u{3041}', '\u{3096}'),
    ('\u{30a1}', '\u{30fa}'),
    ('\u{4e00}', '\u{9fa5}'),
    ('\u{ac00}', '\u{d7a3}'),
];

/// How many words the text has: never fewer than FTS5 finds. FTS5's tables of letters are older than Rust's, and FTS5
/// treats marks as gaps between words. So a character outside the ranges of [`SURE`] counts as a word of its own, if
/// FTS5 may treat it as a part of a word.
pub fn words(text: &str) -> usize {
    let mut words = 0;
    let mut inside = false;
    for it in text.chars() {
        let sure = is_sure(it);
        words += usize::from(if sure { !inside } else { may_be_word(it) });
        inside = sure;
    }
    words
}

/// How many letters the last word has: never more than FTS5 finds in it.
pub fn last_letters(text: &str) -> usize {
    let text = text.trim_end_matches(|it| !may_be_word(it));
    text.chars().rev().take_while(|it| is_sure(*it)).count().max(usize::from(!text.is_empty()))
}

fn is_sure(it: char) -> bool {
    SURE.iter().any(|(first, last)| (*first..=*last).contains(&it))
}

/// Whether FTS5 may treat a character as a part of a word. FTS5 treats private use characters as letters.
fn may_be_word(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use rusqlite::Connection;

    /// How many words FTS5 finds in each text.
    fn made(texts: &[String]) -> Vec<usize> {
        let database = Connection::open_in_memory().unwrap();
        database
            .execute_batch(
                "CREATE VIRTUAL TABLE texts USING fts5 (text); CREATE VIRTUAL TABLE words USING fts5vocab(texts, instance);
                 BEGIN",
            )
            .unwrap();
        let mut insert = database.prepare("INSERT INTO texts (rowid, text) VALUES (?1, ?2)").unwrap();
        for (row, text) in texts.iter().enumerate() {
            insert.execute((row as i64, text)).unwrap();
        }
        let mut counts = vec![0; texts.len()];
        let mut select = database.prepare("SELECT doc, count(*) FROM words GROUP BY doc").unwrap();
        let rows = select.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))).unwrap();
        for (row, count) in rows.map(Result::unwrap) {
            counts[row as usize] = count as usize;
        }
        counts
    }

    #[track_caller]
    fn check_never_fewer(texts: &[String]) {
        for (text, made) in texts.iter().zip(made(texts)) {
            assert!(words(text) >= made, "{text:?} is {made} words to FTS5, and {} here", words(text));
        }
    }

    #[test]
    fn words_are_counted() {
        for (text, expected) in [
            ("", 0),
            ("gas", 1),
            ("gas price", 2),
            ("a.b-c", 3),
            ("\u{e9}t\u{e9}", 1),
            ("日本", 1),
            ("!?", 0),
            ("Ⓐ", 1),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn letters_of_the_last_word_are_counted() {
        for (text, expected) in
            [("", 0), ("!", 0), ("gas", 3), ("price gas.", 3), ("gas\u{903}a", 1), ("gas\u{903}", 1)]
        {
            assert_eq!(last_letters(text), expected, "{text:?}");
        }
    }

    #[test]
    fn no_character_makes_more_words_than_are_counted() {
        // The planes from U+20000 on hold few kinds of letters, so a sample of their characters is enough.
        let all = (0..0x2_0000).chain((0x2_0000..=0x10_ffff).step_by(251));
        let texts = all.filter_map(char::from_u32).filter(|it| *it != '\0');
        check_never_fewer(&texts.map(|it| format!("a{it}a{it}{it} {it}")).collect::<Vec<_>>());
    }

    #[test]
    fn no_text_makes_more_words_than_are_counted() {
        let mut dice = Dice(1);
        let pieces =
            ['a', 'é', ' ', '.', '日', '\u{903}', '\u{301}', 'Ⓐ', '\u{e000}', '²', '\u{1e900}', 'ก', '\u{e33}'];
        let text = |dice: &mut Dice| (0..dice.below(12)).map(|_| dice.pick(&pieces)).collect::<String>();
        check_never_fewer(&(0..5_000).map(|_| text(&mut dice)).collect::<Vec<_>>());
    }
}
