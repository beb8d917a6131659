//! From ECMA-262's syntax (with its `u` flag) to the engine's, in one pass.
//!
//! Where browsers are kinder than the flag allows (`{` and `]` as they stand, `[\w-.]`, `\<`), so is this; and the
//! engine's own `(?i)`, `(?P<name>`, `\A`, `\z` and `\x{41}` go through, for many write them.

use std::fmt::Write;

/// What the engine's syntax has no short form for, or one that needs Unicode's tables.
const DIGIT: &str = "[0-9]";
const NOT_DIGIT: &str = "[^0-9]";
const WORD: &str = "[0-9A-Za-z_]";
const NOT_WORD: &str = "[^0-9A-Za-z_]";
const SPACE: &str = r"[\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]";
const NOT_SPACE: &str = r"[^\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]";
const ANYTHING: &str = r"[\x{0}-\x{10ffff}]";
const NOTHING: &str = r"[^\x{0}-\x{10ffff}]";

/// Up to here a range's letters are looked at for their other case: Latin, Greek, Cyrillic, Armenian.
const LAST_CASED: u32 = 0x58f;

pub struct Translated {
    pub text: String,
    /// Whether it is without what only a backtracking engine could run.
    pub can_run: bool,
}

/// A text that is no pattern.
#[derive(Debug)]
pub struct Invalid;

pub fn translate(pattern: &str) -> Result<Translated, Invalid> {
    Translator {
        rest: pattern,
        out: String::with_capacity(pattern.len() * 2),
        flags: Flags::default(),
        outer: Vec::new(),
        repeatable: false,
        can_run: true,
    }
    .run()
}

#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
}

struct Translator<'a> {
    rest: &'a str,
    out: String,
    flags: Flags,
    /// The flags of the groups around this one.
    outer: Vec<Flags>,
    /// Whether there is something before `rest` that a quantifier can be for.
    repeatable: bool,
    can_run: bool,
}

/// What stands in a class, between brackets.
enum Member {
    /// A code point, which may be half of a surrogate pair.
    Point(u32),
    /// A set, in the engine's syntax.
    Set(String),
}

impl Translator<'_> {
    fn run(mut self) -> Result<Translated, Invalid> {
        while let Some(next) = self.next() {
            match next {
                '(' => self.open_group()?,
                ')' => {
                    self.flags = self.outer.pop().ok_or(Invalid)?;
                    self.item(")");
                }
                '|' => {
                    self.out.push('|');
                    self.repeatable = false;
                }
                '^' => self.item(if self.flags.multi_line { "(?m:^)" } else { "^" }),
                '$' => self.item(if self.flags.multi_line { "(?m:$)" } else { "$" }),
                // Of four line ends the engine's `.` knows one. A class without all four would be a quarter larger, and
                // with it each `.{1,2000}`, which may not grow beyond what fits.
                '.' => self.item(if self.flags.dot_all { ANYTHING } else { "." }),
                '*' | '+' | '?' if self.repeatable => self.out.push(next),
                '*' | '+' | '?' => return Err(Invalid),
                '{' => self.brace()?,
                '[' => self.class()?,
                '\\' => self.escape()?,
                literal => self.literal(literal.into()),
            }
        }
        if !self.outer.is_empty() {
            return Err(Invalid);
        }
        Ok(Translated { text: self.out, can_run: self.can_run })
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// What stands before `end`, which is left behind with it.
    fn up_to(&mut self, end: char) -> Result<&str, Invalid> {
        let (text, rest) = self.rest.split_once(end).ok_or(Invalid)?;
        self.rest = rest;
        Ok(text)
    }

    /// Something that can be repeated.
    fn item(&mut self, text: &str) {
        self.out.push_str(text);
        self.repeatable = true;
    }

    fn cannot_run(&mut self) {
        self.can_run = false;
        self.repeatable = true;
    }

    fn literal(&mut self, point: u32) {
        match char::from_u32(point) {
            Some(it) if self.flags.ignore_case && other_cases(it).next().is_some() => {
                let mut set = String::new();
                self.push_range(&mut set, point, point);
                self.item(&format!("[{set}]"));
            }
            Some(it) => {
                push_char(&mut self.out, it);
                self.repeatable = true;
            }
            None => self.item(NOTHING),
        }
    }

    /// What follows `(`. Nobody asks what a group matched, so that none has a name or a number.
    fn open_group(&mut self) -> Result<(), Invalid> {
        self.outer.push(self.flags);
        self.repeatable = false;
        if self.eat("?") && !self.eat(":") {
            if self.eat("=") || self.eat("!") || self.eat("<=") || self.eat("<!") {
                self.can_run = false;
            } else if self.eat("<") || self.eat("P<") {
                self.name()?;
            } else if !self.flags()? {
                // `(?i)` opens no group, and is for the rest of the one that it stands in.
                self.outer.pop();
                return Ok(());
            }
        }
        self.out.push_str("(?:");
        Ok(())
    }

    fn name(&mut self) -> Result<(), Invalid> {
        let name = self.up_to('>')?;
        let fits = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$');
        let begins_well = name.starts_with(|it: char| fits(it) && !it.is_numeric());
        if begins_well && name.chars().all(fits) { Ok(()) } else { Err(Invalid) }
    }

    /// `ims-ims:` or `ims-ims)`. Gives whether a group follows.
    fn flags(&mut self) -> Result<bool, Invalid> {
        let (mut on, mut any) = (true, false);
        loop {
            match self.next().ok_or(Invalid)? {
                'i' => self.flags.ignore_case = on,
                'm' => self.flags.multi_line = on,
                's' => self.flags.dot_all = on,
                '-' if on => {
                    on = false;
                    continue;
                }
                ':' if any => return Ok(true),
                ')' if any => return Ok(false),
                _ => return Err(Invalid),
            }
            any = true;
        }
    }

    /// What follows `{`: a quantifier, or else it stands for itself.
    fn brace(&mut self) -> Result<(), Invalid> {
        let digits = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
        let quantifier = self.rest.split_once('}').and_then(|(text, rest)| {
            let (least, most) = text.split_once(',').unwrap_or((text, text));
            (!text.is_empty() && text != "," && digits(least) && digits(most)).then_some((least, most, text, rest))
        });
        let Some((least, most, text, rest)) = quantifier else {
            self.literal('{'.into());
            return Ok(());
        };
        // `{,3}` is none here, and one elsewhere: whoever writes it means something else than these four characters.
        let least = least.parse::<u32>().map_err(|_| Invalid)?;
        let most = if most.is_empty() { u32::MAX } else { most.parse().map_err(|_| Invalid)? };
        if !self.repeatable || most < least {
            return Err(Invalid);
        }
        self.rest = rest;
        self.out.push('{');
        self.out.push_str(text);
        self.out.push('}');
        Ok(())
    }

    /// What follows `\` outside of a class.
    fn escape(&mut self) -> Result<(), Invalid> {
        let next = self.next().ok_or(Invalid)?;
        match next {
            'b' => self.item(r"(?-u:\b)"),
            'B' => self.item(r"(?-u:\B)"),
            'A' => self.item(r"\A"),
            'z' => self.item(r"\z"),
            '1'..='9' => {
                self.rest = self.rest.trim_start_matches(|it: char| it.is_ascii_digit());
                self.cannot_run();
            }
            'k' if self.eat("<") => {
                self.name()?;
                self.cannot_run();
            }
            _ => match self.escaped(next)? {
                Member::Point(point) => self.literal(point),
                Member::Set(set) => self.item(&set),
            },
        }
        Ok(())
    }

    /// What follows `[`.
    fn class(&mut self) -> Result<(), Invalid> {
        let negated = self.eat("^");
        let mut set = String::new();
        while let Some(first) = self.member()? {
            if !self.rest.starts_with('-') || self.rest.starts_with("-]") {
                self.push_member(&mut set, first);
                continue;
            }
            self.next();
            match (first, self.member()?.ok_or(Invalid)?) {
                (Member::Point(low), Member::Point(high)) if low <= high => self.push_range(&mut set, low, high),
                (Member::Point(_), Member::Point(_)) => return Err(Invalid),
                // `[\w-.]` is no range: all three are in it.
                (first, last) => {
                    for member in [first, Member::Point('-'.into()), last] {
                        self.push_member(&mut set, member);
                    }
                }
            }
        }
        match (set.is_empty(), negated) {
            (true, false) => self.item(NOTHING),
            (true, true) => self.item(ANYTHING),
            (false, false) => self.item(&format!("[{set}]")),
            (false, true) => self.item(&format!("[^{set}]")),
        }
        Ok(())
    }

    /// The next of a class, if it does not end here.
    fn member(&mut self) -> Result<Option<Member>, Invalid> {
        Ok(match self.next().ok_or(Invalid)? {
            ']' => None,
            '\\' if self.eat("b") => Some(Member::Point(8)),
            '\\' => {
                let next = self.next().ok_or(Invalid)?;
                Some(self.escaped(next)?)
            }
            literal => Some(Member::Point(literal.into())),
        })
    }

    fn push_member(&self, set: &mut String, member: Member) {
        match member {
            Member::Point(point) => self.push_range(set, point, point),
            Member::Set(other) => set.push_str(&other),
        }
    }

    /// Code points from `low` to `high`, without those that no text has.
    fn push_range(&self, set: &mut String, low: u32, high: u32) {
        let first = char::from_u32(low).unwrap_or('\u{e000}');
        let last = char::from_u32(high).unwrap_or('\u{d7ff}');
        if first > last {
            return;
        }
        push_char(set, first);
        if first < last {
            set.push('-');
            push_char(set, last);
        }
        if !self.flags.ignore_case {
            return;
        }
        let range = first..=last;
        let cased = (low..=high.min(low.max(LAST_CASED))).filter_map(char::from_u32);
        for other in cased.flat_map(other_cases).filter(|it| !range.contains(it)) {
            push_char(set, other);
        }
    }

    /// What follows `\`, in a class and outside of one.
    fn escaped(&mut self, next: char) -> Result<Member, Invalid> {
        let set = match next {
            'd' => DIGIT,
            'D' => NOT_DIGIT,
            'w' => WORD,
            'W' => NOT_WORD,
            's' => SPACE,
            'S' => NOT_SPACE,
            'p' | 'P' => return self.property(next).map(Member::Set),
            _ => return self.point(next).map(Member::Point),
        };
        Ok(Member::Set(set.to_owned()))
    }

    /// `{L}` or `{Script=Greek}`: whether there is such a property is for the engine to say.
    fn property(&mut self, letter: char) -> Result<String, Invalid> {
        if self.eat("{") {
            let name = self.up_to('}')?;
            let fits = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'=');
            if name.is_empty() || !name.bytes().all(fits) {
                return Err(Invalid);
            }
            return Ok(format!("\\{letter}{{{name}}}"));
        }
        let name = self.next().filter(char::is_ascii_alphabetic).ok_or(Invalid)?;
        Ok(format!("\\{letter}{name}"))
    }

    /// A code point by its escape. What is no letter or digit stands for itself.
    fn point(&mut self, next: char) -> Result<u32, Invalid> {
        Ok(match next {
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            '0' if !self.rest.starts_with(|it: char| it.is_ascii_digit()) => 0,
            'c' => u32::from(self.next().filter(char::is_ascii_alphabetic).ok_or(Invalid)?) % 32,
            'x' | 'u' if self.eat("{") => hexadecimal(self.up_to('}')?).filter(|it| *it <= 0x10_ffff).ok_or(Invalid)?,
            'x' => self.digits(2)?,
            'u' => self.utf16()?,
            other if other.is_ascii_alphanumeric() => return Err(Invalid),
            other => other.into(),
        })
    }

    /// What follows `\u`, together with a second half.
    fn utf16(&mut self) -> Result<u32, Invalid> {
        let first = self.digits(4)?;
        let before = self.rest;
        if (0xd800..0xdc00).contains(&first) && self.eat("\\u") {
            match self.digits(4) {
                Ok(second) if (0xdc00..0xe000).contains(&second) => {
                    return Ok(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
                }
                _ => self.rest = before,
            }
        }
        Ok(first)
    }

    fn digits(&mut self, count: usize) -> Result<u32, Invalid> {
        let (digits, rest) = self.rest.split_at_checked(count).ok_or(Invalid)?;
        self.rest = rest;
        hexadecimal(digits).ok_or(Invalid)
    }
}

/// Without the sign that a number may have elsewhere.
fn hexadecimal(digits: &str) -> Option<u32> {
    let fits = digits.bytes().all(|it| it.is_ascii_hexdigit());
    if fits { u32::from_str_radix(digits, 16).ok() } else { None }
}

/// A letter in its other case, where that is one letter.
fn other_cases(letter: char) -> impl Iterator<Item = char> {
    let lower = Some(letter.to_lowercase()).filter(|it| it.len() == 1);
    let upper = Some(letter.to_uppercase()).filter(|it| it.len() == 1);
    lower.into_iter().flatten().chain(upper.into_iter().flatten()).filter(move |it| *it != letter)
}

/// As a code where it could mean anything else than itself.
fn push_char(out: &mut String, it: char) {
    if it.is_ascii_alphanumeric() || !it.is_ascii() {
        out.push(it);
    } else {
        // Writing to a text does not fail.
        let _ = write!(out, "\\x{{{:x}}}", u32::from(it));
    }
}
