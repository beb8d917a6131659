//! Which of several names a misspelt name is meant to be.

/// The candidate with the fewest different letters, if these are few enough: a third of the name's letters, and at least
/// one. The first of several that are equally near.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.chars().collect::<Vec<_>>();
    let mut most = (name.len() / 3).max(1);
    let mut nearest = None;
    for candidate in candidates {
        let other = candidate.chars().collect::<Vec<_>>();
        // The difference of the lengths is a lower bound, and costs nothing.
        if name.len().abs_diff(other.len()) > most {
            continue;
        }
        let distance = distance(&name, &other);
        if distance < most || distance == most && nearest.is_none() {
            (nearest, most) = (Some(candidate), distance);
        }
    }
    nearest
}

/// How many letters must be added, removed or replaced to make one text of the other.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row = (0..=other.len()).collect::<Vec<_>>();
    for (at, letter) in one.iter().enumerate() {
        let mut diagonal = at;
        row[0] = at + 1;
        for (place, against) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != against);
            diagonal = row[place + 1];
            row[place + 1] = replaced.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_several_is_meant() {
        let names = ["matt.motley", "mark.taylor", "jeff.dasovich", "jeff.skilling"];
        for (given, expected) in [
            ("matt.motly", Some("matt.motley")),
            ("jef.dasovitch", Some("jeff.dasovich")),
            ("mark.taylor", Some("mark.taylor")),
            ("kenneth.lay", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, names), expected, "{given}");
        }
        assert_eq!(nearest("ab", ["ac", "ad"]), Some("ac"));
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn letters_are_added_removed_and_replaced() {
        let count =
            |one: &str, other: &str| distance(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>());
        assert_eq!(
            [count("", ""), count("abc", ""), count("kitten", "sitting"), count("\u{e9}t\u{e9}", "ete")],
            [0, 3, 3, 2]
        );
    }
}
