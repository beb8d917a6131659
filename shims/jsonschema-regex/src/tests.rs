//! What is expected is what Node's `RegExp` answers with its flag `u`, where it takes the pattern.

use super::*;

/// Whether the pattern fits somewhere in the text, or `None` if it is refused.
fn fits(pattern: &str, text: &str) -> Option<bool> {
    let translated = to_rust_regex(pattern).ok()?;
    regex::Regex::new(&translated).ok().map(|it| it.is_match(text))
}

#[track_caller]
fn check(cases: &[(&str, &[&str], &[&str])]) {
    for (pattern, matching, others) in cases {
        for text in *matching {
            assert_eq!(fits(pattern, text), Some(true), "{pattern} should match {text:?}");
        }
        for text in *others {
            assert_eq!(fits(pattern, text), Some(false), "{pattern} should not match {text:?}");
        }
        assert!(is_valid_ecma_regex(pattern), "{pattern} is valid");
    }
}

#[test]
fn plain_syntax_means_what_it_does() {
    check(&[
        ("", &["", "a"], &[]),
        ("b", &["abc"], &["ac", "B"]),
        ("^ab?c+$", &["ac", "abccc"], &["ab", "abbc", "ac\n"]),
        ("^(a|bc)*$", &["", "abca"], &["b"]),
        ("a|", &["b"], &[]),
        ("^(?:a){2}$", &["aa"], &["a", "aaa"]),
        ("^a{2,}$", &["aa", "aaaa"], &["a"]),
        ("^a{1,2}$", &["a", "aa"], &["", "aaa"]),
        ("^a{0}$", &[""], &["a"]),
        ("^a+?b*?c??$", &["aabbc"], &["b"]),
        ("^a{2}?$", &["aa"], &["a"]),
        ("^<(?<tag>[a-z]+)>$", &["<b>"], &["<>"]),
        ("(?<$a1>x)", &["x"], &["y"]),
        ("^a/b-c_d e,f:g;h'i\"j@k#l%m&n!o=p~q`r<s>t$", &["a/b-c_d e,f:g;h'i\"j@k#l%m&n!o=p~q`r<s>t"], &["a"]),
        ("^é漢😀$", &["é漢😀"], &["e"]),
    ]);
}

#[test]
fn anchors_are_of_the_whole_text() {
    check(&[
        ("^b", &["b"], &["a\nb"]),
        ("a$", &["a", "ba"], &["a\nb", "a\n"]),
        ("(?m:^b$)", &["a\nb\nc"], &["ab"]),
        (r"\bcat\b", &["a cat!", "cat", "écaté"], &["cats", "_cat"]),
        (r"\Bcat", &["scat"], &["cat", "a cat", "écat"]),
    ]);
}

#[test]
fn a_dot_is_anything_but_a_new_line() {
    check(&[
        // To the standard, the last three are line ends too.
        ("^.$", &["a", "é", "😀", "\t", "\u{85}", "\r", "\u{2028}", "\u{2029}"], &["", "\n", "ab"]),
        ("^.{1,2000}$", &["a"], &[""]),
        ("^(?s:.)$", &["\n", "\u{2028}", "a"], &["", "ab"]),
        ("^(?s:.(?-s:.))$", &["\na"], &["\n\n", "a\n"]),
    ]);
}

#[test]
fn short_classes_are_of_ascii_but_for_spaces() {
    check(&[
        (r"^\d$", &["0", "9"], &["a", "٣", "²", ""]),
        (r"^\D$", &["a", "٣", "\n"], &["0", "9", ""]),
        (r"^\w$", &["a", "Z", "0", "_"], &["é", "-", "ſ", " "]),
        (r"^\W$", &["é", "-", "😀", "\n"], &["a", "_", "5"]),
        (
            r"^\s$",
            &[
                "\t", "\n", "\u{b}", "\u{c}", "\r", " ", "\u{a0}", "\u{1680}", "\u{2000}", "\u{200a}", "\u{2028}",
                "\u{2029}", "\u{202f}", "\u{205f}", "\u{3000}", "\u{feff}",
            ],
            &["a", "", "\u{85}", "\u{180e}", "\u{200b}", "\u{1f}"],
        ),
        (r"^\S$", &["a", "\u{85}", "\u{200b}", "😀"], &[" ", "\n", "\u{feff}", "\u{3000}"]),
        (r"^[\d\s-]+$", &["1 -\u{a0}"], &["a"]),
        (r"^[^\d\s]+$", &["a-é"], &["1", " "]),
        (r"^[\D]$", &["a"], &["1"]),
        (r"^[^\D]$", &["1"], &["a"]),
        (r"^[\S\n]$", &["a", "\n"], &[" "]),
        (r"^[\s\S]*$", &["", "a\nb 😀"], &[]),
        (r"^[\w.+-]+@[\w-]+\.[\w.-]+$", &["a.b+c@d-e.org"], &["a@b", "@b.c"]),
    ]);
}

#[test]
fn escapes_stand_for_one_character() {
    check(&[
        (r"^\/\-\_$", &["/-_"], &[]),
        (r"^\^\$\\\.\*\+\?\(\)\[\]\{\}\|$", &[r"^$\.*+?()[]{}|"], &["a"]),
        (r"^\<\>\%\@\ $", &["<>%@ "], &[""]),
        (r"^\cA\cj\cZ$", &["\u{1}\n\u{1a}"], &["cA"]),
        (r"^\0$", &["\0"], &["0", ""]),
        (r"^\t\n\v\f\r$", &["\t\n\u{b}\u{c}\r"], &["tnvfr"]),
        (r"^\x41\x7e$", &["A~"], &["x41"]),
        (r"^\u0041\u00e9\u20AC$", &["Aé€"], &["u0041"]),
        (r"^\ud83d\ude00$", &["😀"], &["\u{fffd}"]),
        (r"^\u{1F600}\u{61}$", &["😀a"], &["u"]),
        (r"^[\ud83d\ude00-\ud83d\ude02]$", &["😀", "😁", "😂"], &["😃", "a"]),
        (r"^[\u{1F600}-\u{1F602}]$", &["😁"], &["😃"]),
        (r"\ud83d", &[], &["😀", "d83d"]),
        (r"^\ud83da?$", &[], &["a", ""]),
        (r"^[\ud800-\udfff]$", &[], &["a", "😀", ""]),
        (r"^[^\ud800-\udfff]$", &["a", "😀"], &["", "aa"]),
        (r"^[\u0000-\ud900]$", &["a", "\u{d7ff}"], &["\u{e000}"]),
        (r"^[\udc00-\uffff]$", &["\u{e000}", "\u{ffff}"], &["a", "\u{d7ff}", "😀"]),
    ]);
}

#[test]
fn a_class_knows_nothing_of_sets() {
    check(&[
        ("^[abc]$", &["a", "c"], &["d", "ab", ""]),
        ("^[^abc]$", &["d", "é", "\n"], &["a", ""]),
        ("^[a-c0-9]$", &["b", "5"], &["d", "-"]),
        ("^[-a]$", &["-", "a"], &["b"]),
        ("^[a-]$", &["-", "a"], &["b"]),
        ("^[a-c-e]$", &["b", "-", "e"], &["d"]),
        (r"^[a\-c]$", &["-", "c"], &["b"]),
        (r"^[\]\\^]$", &["]", "\\", "^"], &["["]),
        ("^[a^]$", &["a", "^"], &["b"]),
        ("^[[a]$", &["[", "a"], &["]"]),
        ("^[[]$", &["["], &["]"]),
        (r"^[[:alpha:\]]$", &["[", ":", "a", "]"], &["b"]),
        ("^[a&&b]$", &["a", "&", "b"], &["c", ""]),
        ("^[a-z&&^b]$", &["b", "&", "^"], &["B"]),
        ("^[+--]$", &["+", ",", "-"], &["."]),
        ("^[--/]$", &["-", ".", "/"], &["0"]),
        ("^[a~~b]$", &["a", "~", "b"], &["c"]),
        ("^[ #]$", &[" ", "#"], &["a"]),
        ("^[.*+?(){}|$/]$", &[".", "*", "+", "?", "(", ")", "{", "}", "|", "$", "/"], &["a", "\\"]),
        ("^[]$", &[], &["", "a", "]"]),
        ("a[]", &[], &["a", "a]"]),
        ("^[^]$", &["a", "\n", "😀"], &["", "ab"]),
        (r"^[\b]$", &["\u{8}"], &["b"]),
        (r"^[\0\x41\u0042\cA]$", &["\0", "A", "B", "\u{1}"], &["0", "x"]),
        ("^[à-ü]$", &["é"], &["e"]),
        ("^[😀-😂]$", &["😁"], &["😃"]),
        (r"^[!-\/:-@[-`{-~]$", &["!", "/", ":", "@", "[", "\\", "`", "{", "~"], &["a", "0", " "]),
    ]);
}

#[test]
fn categories_and_scripts_are_known() {
    check(&[
        (r"^\p{L}+$", &["aé漢ж"], &["1", "-", ""]),
        (r"^\p{Letter}$", &["é"], &["1"]),
        (r"^\p{gc=L}$", &["é"], &["1"]),
        (r"^\p{General_Category=Letter}$", &["é"], &["1"]),
        (r"^\p{Lu}\p{Ll}$", &["Éé"], &["éÉ"]),
        (r"^\p{N}\p{Nd}$", &["²٣"], &["a1"]),
        (r"^\P{L}$", &["1"], &["a"]),
        (r"^[\p{L}\p{M}\d'-]+$", &["Zoë-d'1"], &["a b"]),
        (r"^[^\p{L}]$", &["1"], &["é"]),
        (r"^[\P{L}a]$", &["1", "a"], &["b"]),
        (r"^\p{Script=Greek}$", &["λ"], &["l", "ж"]),
        (r"^\p{sc=Grek}$", &["λ"], &["l"]),
        (r"^\p{Script_Extensions=Han}$", &["漢"], &["a"]),
        (r"^\p{sc=Cyrillic}\p{Script=Han}$", &["ж漢"], &["漢ж"]),
        (r"^\p{ASCII}\p{Any}$", &["aé"], &["éa"]),
        (r"^\p{Zs}\p{Sc}\p{Pd}$", &["\u{a0}€–"], &["abc"]),
    ]);
}

#[test]
fn either_case_where_asked_for() {
    check(&[
        ("^(?i:straße)$", &["STRAßE", "Straße"], &["STRASSE"]),
        ("^(?i:a)a$", &["Aa", "aa"], &["AA"]),
        ("^(?i:[b-d])$", &["C", "c"], &["a", "E"]),
        ("^(?i:[^b-d])$", &["a"], &["C", "c"]),
        ("^(?i:éж)$", &["ÉЖ"], &["eЖ"]),
        ("^(?i:[а-я]+)$", &["ПриВет"], &["Hi"]),
        ("^(?i:a(?-i:b))$", &["Ab"], &["AB"]),
        ("^(?i:[_-a])$", &["A", "_", "`"], &["b"]),
    ]);
}

/// No browser takes these, or none with the flag `u`.
#[test]
fn more_is_taken_than_the_standard_asks_for() {
    check(&[
        ("(?i)^ab|cd$", &["AB", "CD"], &["b"]),
        ("^(x(?i)y)z$", &["xYz"], &["xyZ", "Xyz"]),
        ("(?s)^.$", &["\n"], &[""]),
        ("^(?P<year>[0-9]{4})$", &["2024"], &["24"]),
        (r"\Aab\z", &["ab"], &["ab\n", "xab"]),
        (r"^\x{41}\pL\PL$", &["Ab1"], &["A1b"]),
        ("^{a}$", &["{a}"], &["a"]),
        ("^a{b$", &["a{b"], &["ab"]),
        ("^x{}$", &["x{}"], &["x"]),
        ("^${a}]$", &[], &["a"]),
        ("^a]}$", &["a]}"], &["a"]),
        (r"^\é$", &["é"], &[]),
        (r"^[\w-.]+$", &["a-.b"], &["a/b"]),
        (r"^[\w--z]$", &["-", "z"], &["."]),
        (r"^[+-\d]$", &["+", "-", "7"], &[","]),
        ("^a**$", &["aa"], &["b"]),
    ]);
}

#[test]
fn what_is_no_pattern_is_refused() {
    for pattern in [
        "(",
        ")",
        "(a",
        "a)",
        "[",
        "[a",
        "[a-",
        r"[\",
        r"\",
        "*",
        "+a",
        "?",
        "a|*",
        "(*a)",
        "{1}",
        "a|{1,2}",
        "(?i)*",
        "[b-a]",
        r"[\u0062-a]",
        "a{2,1}",
        "a{,3}",
        "a{99999999999}",
        "(?",
        "(?)",
        "(?a)",
        "(?i",
        "(?i-",
        "(?-)",
        "(?x:a)",
        "(?<>a)",
        "(?<1>a)",
        "(?<a b>c)",
        "(?<a",
        r"\a",
        r"\e",
        r"\Z",
        r"\G",
        r"\Q",
        r"\h",
        r"\c",
        r"\c1",
        r"\x4",
        r"\xg1",
        r"\x+1",
        r"\u",
        r"\u12",
        r"\u+123",
        r"\u{}",
        r"\u{110000}",
        r"\u{+1}",
        r"\00",
        r"\k",
        r"\k<",
        r"[\1]",
        r"[\B]",
        r"[\k<a>]",
        r"\p",
        r"\p{",
        r"\p{}",
        r"\p{L",
        r"\p{^L}",
        r"\p{L&&N}",
        r"\u00é",
    ] {
        assert!(!is_valid_ecma_regex(pattern), "{pattern} is not valid");
        assert_eq!(to_rust_regex(pattern), Err(()), "{pattern} is refused");
    }
}

#[test]
fn what_the_engine_cannot_run_is_refused() {
    for pattern in [
        "(?=a)b",
        "a(?!b)",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\1",
        r"(a)\12*",
        r"(?<n>a)\k<n>",
        "^(?=.*[0-9])(?=.*[a-z]).{8,}$",
    ] {
        assert!(is_valid_ecma_regex(pattern), "{pattern} is valid");
        assert_eq!(to_rust_regex(pattern), Err(()), "{pattern} is refused");
    }
}

/// Their tables are not part of the engine.
#[test]
fn other_properties_are_refused() {
    for name in [
        "Emoji",
        "Alphabetic",
        "Uppercase",
        "ID_Start",
        "White_Space",
        "Age=6.0",
        "age=6.0",
        "Line_Break=BK",
        "sb=Lower",
        "wb=Extend",
        "gcb=CR",
        "Nonsense",
        "gc=Nonsense",
        "sc=Nonsense",
        "sc=",
        "=",
        "=L",
    ] {
        for pattern in [format!(r"\p{{{name}}}"), format!(r"[\P{{{name}}}a]")] {
            assert_eq!(fits(&pattern, "a"), None, "{pattern} is refused");
        }
    }
}

#[test]
fn a_simple_pattern_needs_no_engine() {
    use PatternAnalysis::{Alternation, Exact, NoWhitespace, Prefix};
    let alternation = |texts: &[&str]| Some(Alternation(texts.iter().map(|it| (*it).to_owned()).collect()));
    for (pattern, expected) in [
        ("^foo", Some(Prefix("foo".into()))),
        ("^x-", Some(Prefix("x-".into()))),
        (r"^https:\/\/a\.b", Some(Prefix("https://a.b".into()))),
        (r"^a\$", Some(Prefix("a$".into()))),
        ("^", Some(Prefix("".into()))),
        ("^foo$", Some(Exact("foo".into()))),
        (r"^\$ref$", Some(Exact("$ref".into()))),
        ("^$", Some(Exact("".into()))),
        ("^(put|get)$", alternation(&["get", "put"])),
        (r"^(a\.b|)$", alternation(&["", "a.b"])),
        (r"^\S*$", Some(NoWhitespace)),
        ("foo", None),
        ("^foo.*", None),
        ("^foo|bar", None),
        ("^a{2}", None),
        ("^[a-z]", None),
        (r"^foo\d", None),
        (r"^a\n", None),
        ("^a\\", None),
        ("^(a)b(c)$", None),
        ("^(a|b*)$", None),
        ("^(a|(b))$", None),
        (r"^(a\|b)$", None),
        ("^(?:a)$", None),
        ("^a$b", None),
    ] {
        assert_eq!(analyze_pattern(pattern), expected, "{pattern}");
    }
}

/// Every character, so that nothing depends on what Rust and ECMA-262 each call a space.
#[test]
fn spaces_are_those_of_the_class() {
    let class = regex::Regex::new(&to_rust_regex(r"\s").unwrap()).unwrap();
    for point in (0..=0xffff).filter_map(char::from_u32) {
        let text = point.to_string();
        assert_eq!(contains_ecma_whitespace(&text), class.is_match(&text), "{point:?}");
    }
}
