//! An object of which some facts are so.

use super::claims::{Claim, FALSE, Fact, STRING, include};
use super::search::{Answer, Search, Ways};
use super::text;
use serde_json::{Map, Value};
use std::rc::Rc;

/// How many fields are added to an object that has too few.
const MAX_ADDED: usize = 500;

/// How many names are tried for a field that nobody has named. Without patterns, one stands for all.
const MAX_NEW_NAMES: usize = 12;

#[derive(Default)]
struct Shape {
    least: u64,
    most: u64,
    /// Names that any fact mentions, sorted.
    names: Vec<String>,
    required: Vec<String>,
    fields: Vec<(String, Claim)>,
    matching: Vec<(String, Claim)>,
    others: Vec<Others>,
    named: Vec<Claim>,
    somewhere: Vec<Somewhere>,
    /// Whether some names are told from others by more than a list.
    has_patterns: bool,
}

struct Others {
    names: Vec<String>,
    patterns: Vec<String>,
    claim: Claim,
}

/// A field that must be there, under one name or another.
enum Somewhere {
    Matching(String, Claim),
    Other(Others),
    /// A name of which a claim is so.
    Named(Claim),
}

impl Somewhere {
    /// What is so of the field.
    fn claim(&self) -> Option<Claim> {
        match self {
            Self::Matching(_, claim) => Some(*claim),
            Self::Other(others) => Some(others.claim),
            Self::Named(_) => None,
        }
    }
}

/// Fields that are there, and what is claimed of them beyond what the shape says.
type Placed = Vec<(String, Option<Claim>)>;

impl Search {
    pub fn object(&mut self, facts: &[Claim]) -> Answer {
        let shape = self.shape(facts);
        self.arrange(&shape, 0, &Placed::new())
    }

    fn shape(&self, facts: &[Claim]) -> Shape {
        let (least, most) = self.sizes(facts);
        let mut shape = Shape { least, most, ..Shape::default() };
        for claim in facts {
            let denied = claim.is_denied();
            let turned = |it: &Claim| if denied { !*it } else { *it };
            match self.claims.as_fact(*claim) {
                Some(Fact::Required(name)) => {
                    include(&mut shape.names, name.clone());
                    if denied {
                        shape.fields.push((name.clone(), FALSE));
                    } else {
                        include(&mut shape.required, name.clone());
                    }
                }
                Some(Fact::Field(name, it)) => {
                    include(&mut shape.names, name.clone());
                    shape.fields.push((name.clone(), turned(it)));
                    if denied {
                        include(&mut shape.required, name.clone());
                    }
                }
                Some(Fact::Matching(pattern, it)) => {
                    shape.has_patterns = true;
                    if denied {
                        shape.somewhere.push(Somewhere::Matching(pattern.clone(), !*it));
                    } else {
                        shape.matching.push((pattern.clone(), *it));
                    }
                }
                Some(Fact::Others { names, patterns, claim }) => {
                    shape.has_patterns |= !patterns.is_empty();
                    for name in names {
                        include(&mut shape.names, name.clone());
                    }
                    let others = Others { names: names.clone(), patterns: patterns.clone(), claim: turned(claim) };
                    if denied {
                        shape.somewhere.push(Somewhere::Other(others));
                    } else {
                        shape.others.push(others);
                    }
                }
                Some(Fact::Names(it)) => {
                    shape.has_patterns = true;
                    if denied {
                        shape.somewhere.push(Somewhere::Named(!*it));
                    } else {
                        shape.named.push(*it);
                    }
                }
                _ => {}
            }
        }
        shape
    }

    /// A value for the field of a name, with all that is claimed of it.
    fn field(&mut self, shape: &Shape, placed: &Placed, name: &str) -> Answer {
        match self.claims_of(shape, placed, name) {
            Some(claims) => self.find(&claims),
            None => Answer::Unknown,
        }
    }

    /// All that is claimed of the field of a name; none, if it cannot be told which patterns that fits.
    fn claims_of(&mut self, shape: &Shape, placed: &Placed, name: &str) -> Option<Vec<Claim>> {
        let mut claims = Vec::new();
        for (it, claim) in placed {
            if it == name {
                claims.extend(*claim);
            }
        }
        for (it, claim) in &shape.fields {
            if it == name {
                claims.push(*claim);
            }
        }
        for (pattern, claim) in &shape.matching {
            self.spend(4 + name.len() / 64);
            if self.patterns.fits(pattern, name)? {
                claims.push(*claim);
            }
        }
        for others in &shape.others {
            self.spend(others.patterns.len() * (4 + name.len() / 64));
            if !self.patterns.names(&others.names, &others.patterns, name)? {
                claims.push(others.claim);
            }
        }
        for claim in &shape.named {
            if !self.holds(*claim, &Value::from(name))? {
                claims.push(FALSE);
            }
        }
        Some(claims)
    }

    /// Finds a name for each field that must be somewhere: one that is there already, one that is mentioned, or a new one.
    fn arrange(&mut self, shape: &Shape, next: usize, placed: &Placed) -> Answer {
        let Some(wanted) = shape.somewhere.get(next) else { return self.fields(shape, placed) };
        let mut ways = Ways::new();
        let mut names = Vec::new();
        for name in placed.iter().map(|it| &it.0).chain(&shape.names) {
            add_name(&mut names, Some(name));
        }
        let known = names.len();
        self.add_new_names(shape, wanted, &mut names, &mut ways);
        for (index, name) in names.iter().enumerate() {
            if !self.spend(1) {
                return Answer::Unknown;
            }
            match self.qualifies(wanted, name) {
                Some(true) => {
                    let mut placed = placed.clone();
                    placed.push((name.clone(), wanted.claim()));
                    let answer = self.arrange(shape, next + 1, &placed);
                    if let Some(document) = ways.document(answer) {
                        return Answer::Document(document);
                    }
                }
                Some(false) => {}
                None => ways.doubt(),
            }
            // Another new name might fit other patterns.
            if index >= known && shape.has_patterns {
                ways.doubt();
            }
        }
        ways.exhausted()
    }

    fn qualifies(&mut self, wanted: &Somewhere, name: &str) -> Option<bool> {
        match wanted {
            Somewhere::Matching(pattern, _) => self.patterns.fits(pattern, name),
            Somewhere::Other(others) => self.patterns.names(&others.names, &others.patterns, name).map(|it| !it),
            Somewhere::Named(claim) => self.holds(*claim, &Value::from(name)),
        }
    }

    /// Adds names that nobody has mentioned, unless no field of such a name could be as it is wanted.
    fn add_new_names(&mut self, shape: &Shape, wanted: &Somewhere, names: &mut Vec<String>, ways: &mut Ways) {
        let mut surely = Vec::new();
        surely.extend(wanted.claim());
        let excluded = match wanted {
            Somewhere::Other(others) => others.patterns.as_slice(),
            Somewhere::Matching(..) | Somewhere::Named(_) => &[],
        };
        for others in &shape.others {
            if others.patterns.iter().all(|it| excluded.contains(it)) {
                surely.push(others.claim);
            }
        }
        if let Somewhere::Matching(wanted, _) = wanted {
            for (pattern, claim) in &shape.matching {
                if pattern == wanted {
                    surely.push(*claim);
                }
            }
        }
        match self.find(&surely) {
            Answer::Nothing => return,
            Answer::Unknown => ways.doubt(),
            Answer::Document(_) => {}
        }
        if let Somewhere::Named(claim) = wanted {
            match self.name(shape, Some(*claim)) {
                Answer::Nothing => return,
                Answer::Unknown => ways.doubt(),
                Answer::Document(name) => add_name(names, name.as_str()),
            }
        }
        self.add_unused_names(shape, names, if shape.has_patterns { MAX_NEW_NAMES } else { 1 });
    }

    /// A name that fields may have.
    fn name(&mut self, shape: &Shape, claim: Option<Claim>) -> Answer {
        let mut goal = shape.named.clone();
        goal.extend(claim);
        goal.push(self.claims.kind(STRING));
        self.find(&goal)
    }

    /// Adds so many names that are not among the given ones, and some that may fit the patterns.
    fn add_unused_names(&mut self, shape: &Shape, names: &mut Vec<String>, count: usize) {
        let end = names.len() + count;
        if shape.has_patterns {
            if let Answer::Document(name) = self.name(shape, None) {
                add_name(names, name.as_str());
            }
            let mut guesses = Vec::new();
            for (pattern, _) in &shape.matching {
                text::guess(pattern, &mut guesses);
            }
            for wanted in &shape.somewhere {
                if let Somewhere::Matching(pattern, _) = wanted {
                    text::guess(pattern, &mut guesses);
                }
            }
            for guess in guesses.iter().take(MAX_NEW_NAMES) {
                add_name(names, Some(guess));
            }
        }
        let mut index = 0;
        while names.len() < end {
            let letter = ["x", "a", "Z", "0", "_", "é"][index % 6];
            add_name(names, Some(&letter.repeat(1 + index / 6)));
            index += 1;
        }
    }

    /// The object of the fields that are placed and required, and of as many others as it needs.
    fn fields(&mut self, shape: &Shape, placed: &Placed) -> Answer {
        let mut names = Vec::new();
        for name in placed.iter().map(|it| &it.0).chain(&shape.required) {
            add_name(&mut names, Some(name));
        }
        let present = names.len();
        if present as u64 > shape.most {
            return Answer::Nothing;
        }
        if shape.least > present as u64 {
            for name in &shape.names {
                add_name(&mut names, Some(name));
            }
            if shape.least > (names.len() + MAX_ADDED) as u64 {
                return Answer::Unknown;
            }
            self.add_unused_names(shape, &mut names, shape.least as usize);
        }
        self.spend(names.len());
        let (mut ways, mut fields) = (Ways::new(), Map::new());
        for (index, name) in names.iter().enumerate() {
            if index >= present && fields.len() as u64 >= shape.least {
                break;
            }
            match self.field(shape, placed, name) {
                Answer::Document(field) => drop(fields.insert(name.clone(), (*field).clone())),
                Answer::Nothing if index < present => return Answer::Nothing,
                Answer::Nothing => {}
                Answer::Unknown => ways.doubt(),
            }
        }
        if (fields.len() as u64) < shape.least.max(present as u64) {
            // Other new names might fit other patterns.
            return if shape.has_patterns { Answer::Unknown } else { ways.exhausted() };
        }
        Answer::Document(Rc::new(Value::Object(fields)))
    }
}

fn add_name(names: &mut Vec<String>, name: Option<&str>) {
    if let Some(name) = name
        && !names.iter().any(|it| it == name)
    {
        names.push(name.to_owned());
    }
}
