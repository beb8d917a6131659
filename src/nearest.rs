//! The known name that is nearest to a misspelt one, for the messages of refusals.

/// The longest name that is compared. The work grows with the square of the length.
const MAX_CHARS: usize = 64;

/// The known name with the fewest edits from the sought one, if these are at most a third of its letters. An edit is a
/// letter that is added, left out or replaced, or two neighbours that are swapped. Upper and lower case are the same. The
/// first of several names that are equally near. If none is near, a name whose first part is: `tool` for `tool_id`.
pub fn nearest<'a>(sought: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(sought, &known.into_iter().collect::<Vec<_>>())
}

/// The part that does not depend on a type is in the bundle once.
fn nearest_of<'a>(sought: &str, known: &[&'a str]) -> Option<&'a str> {
    let from = letters(sought)?;
    let by = |part: fn(&str) -> Option<&str>| {
        let near = known.iter().filter_map(|name| {
            let to = letters(part(name)?)?;
            let edits = edits(&from, &to);
            (edits * 3 <= from.len().max(to.len())).then_some((edits, *name))
        });
        near.min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
    };
    let first_part: fn(&str) -> Option<&str> = |name| name.split_once('_').map(|(first, _)| first);
    by(|name| Some(name)).or_else(|| if sought.contains('_') { None } else { by(first_part) })
}

/// A sentence that suggests the name, to be appended to a message. Empty without a name.
pub fn did_you_mean(name: Option<&str>) -> String {
    name.map(|it| format!(". Did you mean {it}?")).unwrap_or_default()
}

fn letters(name: &str) -> Option<Vec<char>> {
    let letters = name.chars().flat_map(char::to_lowercase).take(MAX_CHARS + 1).collect::<Vec<_>>();
    (1..=MAX_CHARS).contains(&letters.len()).then_some(letters)
}

/// How many edits turn one word into the other.
fn edits(from: &[char], to: &[char]) -> usize {
    // Row `i` of the table holds the edits between the first `i` letters of `from` and every beginning of `to`. Only
    // the last three rows are needed.
    let mut before_last = vec![0; to.len() + 1];
    let mut last = (0..=to.len()).collect::<Vec<_>>();
    for i in 0..from.len() {
        let mut row = vec![i + 1; to.len() + 1];
        for j in 0..to.len() {
            let replaced = last[j] + usize::from(from[i] != to[j]);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j] {
                row[j + 1] = row[j + 1].min(before_last[j - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_of_a_name_stands_for_it() {
        let known = ["config", "tool_id", "session_id"];
        assert_eq!(nearest("tool", known), Some("tool_id"));
        assert_eq!(nearest("sesion", known), Some("session_id"));
        assert_eq!(nearest("tool_x", ["tool_abcdefgh"]), None);
        assert_eq!(nearest("x", known), None);
    }

    #[test]
    fn edits_are_counted() {
        let count = |from: &str, to: &str| edits(&letters(from).unwrap(), &letters(to).unwrap());
        for (from, to, expected) in [
            ("name", "name", 0),
            ("nmae", "name", 1),
            ("nam", "name", 1),
            ("namee", "name", 1),
            ("fame", "name", 1),
            ("kitten", "sitting", 3),
            ("abcd", "badc", 2),
            ("ä", "a", 1),
        ] {
            assert_eq!((count(from, to), count(to, from)), (expected, expected), "{from} {to}");
        }
    }

    #[test]
    fn the_nearest_name_is_suggested_and_no_far_one() {
        let tools = ["read_file", "write_file", "email_search", "email_get"];
        for (sought, expected) in [
            ("raed_file", Some("read_file")),
            ("Email_Search", Some("email_search")),
            ("email-get", Some("email_get")),
            ("writefile", Some("write_file")),
            ("calculator", None),
            ("", None),
            ("x", None),
            ("read_file", Some("read_file")),
        ] {
            assert_eq!(nearest(sought, tools), expected, "{sought}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), tools), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(did_you_mean(Some("limit")), ". Did you mean limit?");
        assert_eq!(did_you_mean(None), "");
    }
}
