//! Builds an object for which some facts are true.

use super::claims::{Claim, FALSE, Fact, STRING, include};
use super::search::{DocumentSearch, SearchAnswer, TriedWays};
use super::text;
use serde_json::{Map, Value};
use std::rc::Rc;

/// How many fields are added to an object that has too few.
const MAX_ADDED: usize = 500;

/// How many new names are tried for a field whose name is free. Without patterns, one name stands for all.
const MAX_NEW_NAMES: usize = 12;

#[derive(Default)]
struct ObjectShape {
    least: u64,
    most: u64,
    /// All names that a fact mentions, sorted.
    names: Vec<String>,
    required: Vec<String>,
    fields: Vec<(String, Claim)>,
    matching: Vec<(String, Claim)>,
    others: Vec<OtherFields>,
    named: Vec<Claim>,
    somewhere: Vec<WantedField>,
    /// Whether names are told apart by a pattern or another claim, and not only by a list.
    has_patterns: bool,
}

struct OtherFields {
    names: Vec<String>,
    patterns: Vec<String>,
    claim: Claim,
}

/// A field that must exist, under any suitable name.
enum WantedField {
    Matching(String, Claim),
    Other(OtherFields),
    /// A field whose name fulfils a claim.
    Named(Claim),
}

impl WantedField {
    /// The claim that the field must fulfil.
    fn claim(&self) -> Option<Claim> {
        match self {
            Self::Matching(_, claim) => Some(*claim),
            Self::Other(others) => Some(others.claim),
            Self::Named(_) => None,
        }
    }
}

/// Fields that exist, and the claims about them that are not in the shape.
type PlacedFields = Vec<(String, Option<Claim>)>;

impl DocumentSearch {
    pub fn object(&mut self, facts: &[Claim]) -> SearchAnswer {
        let shape = self.shape(facts);
        self.arrange(&shape, 0, &PlacedFields::new())
    }

    fn shape(&self, facts: &[Claim]) -> ObjectShape {
        let (least, most) = self.sizes(facts);
        let mut shape = ObjectShape { least, most, ..ObjectShape::default() };
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
                        shape.somewhere.push(WantedField::Matching(pattern.clone(), !*it));
                    } else {
                        shape.matching.push((pattern.clone(), *it));
                    }
                }
                Some(Fact::Others { names, patterns, claim }) => {
                    shape.has_patterns |= !patterns.is_empty();
                    for name in names {
                        include(&mut shape.names, name.clone());
                    }
                    let others = OtherFields { names: names.clone(), patterns: patterns.clone(), claim: turned(claim) };
                    if denied {
                        shape.somewhere.push(WantedField::Other(others));
                    } else {
                        shape.others.push(others);
                    }
                }
                Some(Fact::Names(it)) => {
                    shape.has_patterns = true;
                    if denied {
                        shape.somewhere.push(WantedField::Named(!*it));
                    } else {
                        shape.named.push(*it);
                    }
                }
                _ => {}
            }
        }
        shape
    }

    /// A value for the field with a name, by all claims about it.
    fn field(&mut self, shape: &ObjectShape, placed: &PlacedFields, name: &str) -> SearchAnswer {
        match self.claims_of(shape, placed, name) {
            Some(claims) => self.find(&claims),
            None => SearchAnswer::Unknown,
        }
    }

    /// All claims about the field with a name. None if it cannot be decided which patterns the name fits.
    fn claims_of(&mut self, shape: &ObjectShape, placed: &PlacedFields, name: &str) -> Option<Vec<Claim>> {
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

    /// Finds a name for each wanted field: the name of an existing field, a name that a fact mentions, or a new name.
    fn arrange(&mut self, shape: &ObjectShape, next: usize, placed: &PlacedFields) -> SearchAnswer {
        let Some(wanted) = shape.somewhere.get(next) else { return self.fields(shape, placed) };
        let mut ways = TriedWays::new();
        let mut names = Vec::new();
        for name in placed.iter().map(|it| &it.0).chain(&shape.names) {
            add_name(&mut names, Some(name));
        }
        let known = names.len();
        self.add_new_names(shape, wanted, &mut names, &mut ways);
        for (index, name) in names.iter().enumerate() {
            if !self.spend(1) {
                return SearchAnswer::Unknown;
            }
            match self.qualifies(wanted, name) {
                Some(true) => {
                    let mut placed = placed.clone();
                    placed.push((name.clone(), wanted.claim()));
                    let answer = self.arrange(shape, next + 1, &placed);
                    if let Some(document) = ways.document(answer) {
                        return SearchAnswer::Document(document);
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

    fn qualifies(&mut self, wanted: &WantedField, name: &str) -> Option<bool> {
        match wanted {
            WantedField::Matching(pattern, _) => self.patterns.fits(pattern, name),
            WantedField::Other(others) => self.patterns.names(&others.names, &others.patterns, name).map(|it| !it),
            WantedField::Named(claim) => self.holds(*claim, &Value::from(name)),
        }
    }

    /// Adds new names, unless no value could fulfil the claims about the wanted field under a new name.
    fn add_new_names(
        &mut self,
        shape: &ObjectShape,
        wanted: &WantedField,
        names: &mut Vec<String>,
        ways: &mut TriedWays,
    ) {
        let mut surely = Vec::new();
        surely.extend(wanted.claim());
        let excluded = match wanted {
            WantedField::Other(others) => others.patterns.as_slice(),
            WantedField::Matching(..) | WantedField::Named(_) => &[],
        };
        for others in &shape.others {
            if others.patterns.iter().all(|it| excluded.contains(it)) {
                surely.push(others.claim);
            }
        }
        if let WantedField::Matching(wanted, _) = wanted {
            for (pattern, claim) in &shape.matching {
                if pattern == wanted {
                    surely.push(*claim);
                }
            }
        }
        match self.find(&surely) {
            SearchAnswer::Nothing => return,
            SearchAnswer::Unknown => ways.doubt(),
            SearchAnswer::Document(_) => {}
        }
        if let WantedField::Named(claim) = wanted {
            match self.name(shape, Some(*claim)) {
                SearchAnswer::Nothing => return,
                SearchAnswer::Unknown => ways.doubt(),
                SearchAnswer::Document(name) => add_name(names, name.as_str()),
            }
        }
        self.add_unused_names(shape, names, if shape.has_patterns { MAX_NEW_NAMES } else { 1 });
    }

    /// Finds a name that a field may have.
    fn name(&mut self, shape: &ObjectShape, claim: Option<Claim>) -> SearchAnswer {
        let mut goal = shape.named.clone();
        goal.extend(claim);
        goal.push(self.claims.kind(STRING));
        self.find(&goal)
    }

    /// Adds `count` new names, and some names that may fit the patterns.
    fn add_unused_names(&mut self, shape: &ObjectShape, names: &mut Vec<String>, count: usize) {
        let end = names.len() + count;
        if shape.has_patterns {
            if let SearchAnswer::Document(name) = self.name(shape, None) {
                add_name(names, name.as_str());
            }
            let mut guesses = Vec::new();
            for (pattern, _) in &shape.matching {
                text::guess(pattern, &mut guesses);
            }
            for wanted in &shape.somewhere {
                if let WantedField::Matching(pattern, _) = wanted {
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

    /// Builds the object from the placed and required fields, and from as many others as it needs.
    fn fields(&mut self, shape: &ObjectShape, placed: &PlacedFields) -> SearchAnswer {
        let mut names = Vec::new();
        for name in placed.iter().map(|it| &it.0).chain(&shape.required) {
            add_name(&mut names, Some(name));
        }
        let present = names.len();
        if present as u64 > shape.most {
            return SearchAnswer::Nothing;
        }
        if shape.least > present as u64 {
            for name in &shape.names {
                add_name(&mut names, Some(name));
            }
            if shape.least > (names.len() + MAX_ADDED) as u64 {
                return SearchAnswer::Unknown;
            }
            self.add_unused_names(shape, &mut names, shape.least as usize);
        }
        self.spend(names.len());
        let (mut ways, mut fields) = (TriedWays::new(), Map::new());
        for (index, name) in names.iter().enumerate() {
            if index >= present && fields.len() as u64 >= shape.least {
                break;
            }
            match self.field(shape, placed, name) {
                SearchAnswer::Document(field) => drop(fields.insert(name.clone(), (*field).clone())),
                SearchAnswer::Nothing if index < present => return SearchAnswer::Nothing,
                SearchAnswer::Nothing => {}
                SearchAnswer::Unknown => ways.doubt(),
            }
        }
        if (fields.len() as u64) < shape.least.max(present as u64) {
            // Other new names might fit other patterns.
            return if shape.has_patterns { SearchAnswer::Unknown } else { ways.exhausted() };
        }
        SearchAnswer::Document(Rc::new(Value::Object(fields)))
    }
}

fn add_name(names: &mut Vec<String>, name: Option<&str>) {
    if let Some(name) = name
        && !names.iter().any(|it| it == name)
    {
        names.push(name.to_owned());
    }
}
