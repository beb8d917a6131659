//! Common words, which occur in every request and say nothing about its subject.

use super::SearchTerm;

const COMMON: &str = "a about an and any are as at be been by can could did do does for from had has have how i if \
    in into is it its me my need of on or our please should so some that the their them then there these they \
    this those to want was we were what when where which who why will with would you your";

pub fn is_common(term: &SearchTerm) -> bool {
    let word = term.text.trim_matches(|it: char| !it.is_alphanumeric());
    COMMON.split(' ').any(|it| it.eq_ignore_ascii_case(word))
}
