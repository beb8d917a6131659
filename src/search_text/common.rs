//! Common words, which occur in every request and say nothing about its subject.

use super::SearchTerm;

const COMMON: &str = "a about an and any are as at be been by can could did do does for from had has have how i if \
    in into is it its me my need of on or our please should so some that the their them then there these they \
    this those to want was we were what when where which who why will with would you your";

/// More of them, which a question about mail may have. (A request for a tool may mean them: `get`, `up`.)
const COMMON_IN_QUESTIONS: &str = "after again all also am because before being between both but each ever get gets \
    give gives got he her here him his just let many may might more most much must no not now off only other out over \
    own per said same say says shall she still such tell than too under until up us very whether while whom whose yes \
    yet";

pub fn is_common(term: &SearchTerm) -> bool {
    is_in(COMMON, term)
}

/// Whether the word tells nothing about the mail that a question is about.
pub fn says_nothing(term: &SearchTerm) -> bool {
    is_in(COMMON, term) || is_in(COMMON_IN_QUESTIONS, term)
}

fn is_in(list: &str, term: &SearchTerm) -> bool {
    let word = term.text.trim_matches(|it: char| !it.is_alphanumeric());
    list.split(' ').any(|it| it.eq_ignore_ascii_case(word))
}
