//! The other regular forms of an English word: plural and singular, present and past. The forms take the place of an
//! index of stems, which would be as large as the index of words (docs/mail.md has the figures). Some of the forms are no
//! words, and find nothing.

/// The other forms of a word, without the word itself. There are none for a text with anything but ASCII letters, because
/// names with digits, addresses and other languages have other forms.
pub fn other_forms(text: &str) -> Vec<String> {
    let text = text.trim_matches(|it: char| !it.is_alphanumeric()).to_ascii_lowercase();
    let (word, is_possessive) = match text.strip_suffix("'s").or_else(|| text.strip_suffix("\u{2019}s")) {
        Some(owner) => (owner, true),
        None => (text.as_str(), false),
    };
    if word.len() < 4 || !word.bytes().all(|it| it.is_ascii_lowercase()) {
        return if is_possessive { vec![word.to_owned()] } else { Vec::new() };
    }
    let bases = bases(word);
    let mut forms = Vec::new();
    for base in if bases.is_empty() { vec![word.to_owned()] } else { bases } {
        let endings = with_endings(&base);
        for form in std::iter::once(base).chain(endings) {
            if form != text && !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// The words of which this one may be a plural or a tense. `planed` may be of `plane` and of `plan`.
fn bases(word: &str) -> Vec<String> {
    let mut bases = Vec::new();
    if let Some(stem) = word.strip_suffix("ies").or_else(|| word.strip_suffix("ied")) {
        bases.push(format!("{stem}y"));
    } else if let Some(stem) = word.strip_suffix("es").filter(|it| hisses(it)) {
        bases.push(stem.to_owned());
        bases.push(format!("{stem}e"));
    } else if let Some(stem) = word.strip_suffix('s').filter(|it| !it.ends_with(['s', 'u', 'i'])) {
        bases.push(stem.to_owned());
    } else if let Some(stem) =
        word.strip_suffix("ed").or_else(|| word.strip_suffix("ing")).filter(|it| it.contains(is_vowel))
    {
        bases.push(stem.to_owned());
        bases.push(format!("{stem}e"));
        bases.extend(without_double(stem));
    }
    bases.retain(|it| it.len() > 2);
    bases
}

/// Plural, past and participle.
fn with_endings(base: &str) -> Vec<String> {
    if let Some(stem) = base.strip_suffix('y').filter(|it| !it.ends_with(is_vowel)) {
        return vec![format!("{stem}ies"), format!("{stem}ied"), format!("{base}ing")];
    }
    let plural = if hisses(base) { "es" } else { "s" };
    let stem = base.strip_suffix('e').unwrap_or(base);
    let mut forms = vec![format!("{base}{plural}"), format!("{stem}ed"), format!("{stem}ing")];
    if let Some(last) = doubled(base) {
        forms.extend([format!("{base}{last}ed"), format!("{base}{last}ing")]);
    }
    forms
}

/// Whether a plural ends in `es`.
fn hisses(stem: &str) -> bool {
    ["s", "x", "z", "ch", "sh"].iter().any(|it| stem.ends_with(it))
}

/// The last letter, if an ending may double it: plan, planned.
fn doubled(base: &str) -> Option<char> {
    let [.., before, vowel, last] = base.as_bytes() else { return None };
    let fits = !is_vowel(char::from(*before)) && is_vowel(char::from(*vowel)) && b"bdgklmnprt".contains(last);
    fits.then(|| char::from(*last))
}

fn without_double(stem: &str) -> Option<String> {
    let [.., before, last] = stem.as_bytes() else { return None };
    (before == last && !is_vowel(char::from(*last))).then(|| stem[..stem.len() - 1].to_owned())
}

fn is_vowel(letter: char) -> bool {
    "aeiou".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_and_tenses_find_each_other() {
        let families: [&[&str]; 9] = [
            &["flight", "flights"],
            &["sell", "sells", "selling"],
            &["offer", "offers", "offered", "offering"],
            &["price", "prices", "priced", "pricing"],
            &["policy", "policies"],
            &["carry", "carries", "carried", "carrying"],
            &["plan", "plans", "planned", "planning"],
            &["switch", "switches", "switched", "switching"],
            &["address", "addresses", "addressed"],
        ];
        for family in families {
            for word in family {
                let forms = other_forms(word);
                let missing = family.iter().filter(|it| *it != word && !forms.iter().any(|form| form == *it));
                assert_eq!(missing.collect::<Vec<_>>(), [] as [&&str; 0], "{word}: {forms:?}");
                assert!(!forms.iter().any(|it| it == word) && forms.len() <= 12, "{word}: {forms:?}");
            }
        }
    }

    #[test]
    fn what_has_no_regular_forms_has_none() {
        for word in ["gas", "2001", "ssarr2", "tim@enron.com", "a-b-c-d", "\u{e9}t\u{e9}s", "", "???"] {
            assert_eq!(other_forms(word), [] as [&str; 0], "{word}");
        }
        assert_eq!(other_forms("Bob's"), ["bob"]);
        assert_eq!(other_forms("(Plates)"), ["plate", "plated", "plating"]);
        assert!(other_forms("Belden's").contains(&"belden".to_owned()));
        assert!(!other_forms("string").contains(&"str".to_owned()));
        assert!(!other_forms("status").contains(&"statu".to_owned()));
    }
}
