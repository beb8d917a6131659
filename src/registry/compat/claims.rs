//! The meaning of a schema as claims about a value. A claim is a fact, or all of several claims, or the opposite of one
//! of these. So `anyOf`, `oneOf`, `not` and `if` need no form of their own. Claims with the same meaning are stored
//! once. That is how the common parts of two schemas are recognised, whatever their descriptions are.

use super::numbers;
use serde_json::{Number, Value};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

/// A set of kinds of values, one bit for each kind. Whole numbers are a kind of their own, because `1.0` is an integer.
pub type Kinds = u8;
pub const NULL: Kinds = 1;
pub const BOOLEAN: Kinds = 2;
pub const WHOLE: Kinds = 4;
pub const FRACTION: Kinds = 8;
pub const STRING: Kinds = 16;
pub const ARRAY: Kinds = 32;
pub const OBJECT: Kinds = 64;
pub const NUMBER: Kinds = WHOLE | FRACTION;
pub const ALL: Kinds = 127;
pub const EACH_KIND: [Kinds; 7] = [NULL, BOOLEAN, WHOLE, FRACTION, STRING, ARRAY, OBJECT];

pub fn kind_of(value: &Value) -> Kinds {
    match value {
        Value::Null => NULL,
        Value::Bool(_) => BOOLEAN,
        Value::Number(number) if numbers::is_whole(number) => WHOLE,
        Value::Number(_) => FRACTION,
        Value::String(_) => STRING,
        Value::Array(_) => ARRAY,
        Value::Object(_) => OBJECT,
    }
}

/// The number of a claim. An odd number is the opposite of the even number before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Claim(u32);

/// The claim that is always true: all of no claims.
pub const TRUE: Claim = Claim(0);
pub const FALSE: Claim = Claim(1);

impl Claim {
    fn index(self) -> usize {
        (self.0 / 2) as usize
    }

    /// A number that differs for a claim and its opposite.
    pub fn number(self) -> usize {
        self.0 as usize
    }

    pub fn is_denied(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::ops::Not for Claim {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

#[derive(PartialEq, Eq, Hash)]
pub enum ClaimNode {
    All(Vec<Claim>),
    Fact(Fact),
    /// The claim that the schema at an address is fulfilled. [`Claims::meaning`] gives its meaning. Only a schema that
    /// refers to itself keeps this form.
    Schema(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoundSide {
    Least,
    Most,
}

/// The meaning of one keyword. A fact is always true of values of other kinds than its own.
#[derive(PartialEq, Eq, Hash)]
pub enum Fact {
    Kind(Kinds),
    OneOf(DistinctValues),
    /// A bound of a number. An `open` bound excludes the limit itself.
    Bound {
        side: BoundSide,
        open: bool,
        limit: Number,
    },
    MultipleOf(Number),
    /// The length of a text, or the number of elements or fields.
    Size {
        of: Kinds,
        side: BoundSide,
        limit: u64,
    },
    Pattern(String),
    Unique,
    /// The element at an index fulfils a claim, if it exists.
    Item(usize, Claim),
    /// Every element from an index on fulfils a claim.
    Items(usize, Claim),
    Contains {
        claim: Claim,
        least: u64,
        most: u64,
    },
    Required(String),
    /// The field with a name fulfils a claim, if it exists.
    Field(String, Claim),
    /// Every field whose name fits a pattern fulfils a claim.
    Matching(String, Claim),
    /// Every field that neither is named here nor fits a pattern fulfils a claim.
    Others {
        names: Vec<String>,
        patterns: Vec<String>,
        claim: Claim,
    },
    Names(Claim),
    /// A keyword that is not understood, and a text that distinguishes it from other such keywords.
    Opaque(String, String),
}

/// Values in a form in which equal values have equal texts.
#[derive(PartialEq, Eq)]
pub struct DistinctValues(Vec<Value>);

impl Hash for DistinctValues {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for value in &self.0 {
            state.write(value.to_string().as_bytes());
        }
    }
}

impl Deref for DistinctValues {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl Fact {
    /// The kinds of values that the fact restricts.
    fn about(&self) -> Kinds {
        match self {
            Self::Kind(_) | Self::OneOf(_) | Self::Opaque(..) => ALL,
            Self::Bound { .. } | Self::MultipleOf(_) => NUMBER,
            Self::Size { of, .. } => *of,
            Self::Pattern(_) => STRING,
            Self::Unique | Self::Item(..) | Self::Items(..) | Self::Contains { .. } => ARRAY,
            Self::Required(_) | Self::Field(..) | Self::Matching(..) | Self::Others { .. } | Self::Names(_) => OBJECT,
        }
    }
}

/// How many excluded values are merged into one list.
const MAX_EXCLUDED: usize = 64;

/// A claim, with two sets of kinds: `may` are the kinds that may have a value for which the claim is true, and `must`
/// are the kinds all of whose values make it true.
struct ClaimRecord {
    node: Rc<ClaimNode>,
    may: Kinds,
    must: Kinds,
    reading: SchemaReading,
}

/// The state of reading a schema.
#[derive(Clone, Copy)]
pub enum SchemaReading {
    Unread,
    Underway,
    Read(Claim),
}

pub struct Claims {
    claims: Vec<ClaimRecord>,
    numbers: HashMap<Rc<ClaimNode>, Claim>,
}

impl Claims {
    pub fn new() -> Self {
        let mut claims = Self { claims: Vec::new(), numbers: HashMap::new() };
        claims.intern(ClaimNode::All(Vec::new()), ALL, ALL);
        claims
    }

    pub fn len(&self) -> usize {
        self.claims.len()
    }

    pub fn node(&self, claim: Claim) -> &Rc<ClaimNode> {
        &self.claims[claim.index()].node
    }

    /// The fact that a claim claims or denies. None if the claim is not a single fact.
    pub fn as_fact(&self, claim: Claim) -> Option<&Fact> {
        match &**self.node(claim) {
            ClaimNode::Fact(fact) => Some(fact),
            ClaimNode::All(_) | ClaimNode::Schema(_) => None,
        }
    }

    /// The kinds that may have a value for which the claim is true.
    pub fn may(&self, claim: Claim) -> Kinds {
        let known = &self.claims[claim.index()];
        if claim.is_denied() { ALL & !known.must } else { known.may }
    }

    /// The kinds all of whose values make the claim true.
    pub fn must(&self, claim: Claim) -> Kinds {
        ALL & !self.may(!claim)
    }

    pub fn kind(&mut self, kinds: Kinds) -> Claim {
        match kinds & ALL {
            ALL => TRUE,
            0 => FALSE,
            kinds => self.intern(ClaimNode::Fact(Fact::Kind(kinds)), kinds, kinds),
        }
    }

    /// The claim that a value is one of these. Equal values count once, and their order does not matter.
    pub fn one_of(&mut self, values: &[Value]) -> Claim {
        let (mut texts, mut sorted, mut may) = (Vec::new(), Vec::new(), 0);
        for value in values {
            let text = value.to_string();
            if let Err(place) = texts.binary_search(&text) {
                texts.insert(place, text);
                sorted.insert(place, value.clone());
                may |= kind_of(value);
            }
        }
        let both = sorted.contains(&Value::Bool(true)) && sorted.contains(&Value::Bool(false));
        let must = (may & NULL) | if both { BOOLEAN } else { 0 };
        if may == must {
            self.kind(may)
        } else {
            self.intern(ClaimNode::Fact(Fact::OneOf(DistinctValues(sorted))), may, must)
        }
    }

    pub fn fact(&mut self, fact: Fact) -> Claim {
        match &fact {
            Fact::Field(_, TRUE) | Fact::Matching(_, TRUE) | Fact::Item(_, TRUE) | Fact::Items(_, TRUE) => TRUE,
            Fact::Others { claim: TRUE, .. } | Fact::Names(TRUE) => TRUE,
            Fact::Size { side: BoundSide::Least, limit: 0, .. } => TRUE,
            _ => {
                let must = ALL & !fact.about();
                self.intern(ClaimNode::Fact(fact), ALL, must)
            }
        }
    }

    pub fn all(&mut self, claims: &[Claim]) -> Claim {
        let mut left = claims.to_vec();
        let (mut parts, mut kinds) = (Vec::new(), ALL);
        let (mut excluding, mut excluded) = (Vec::new(), Vec::new());
        while let Some(claim) = left.pop() {
            match (&**self.node(claim), claim.is_denied()) {
                (ClaimNode::All(inner), false) => left.extend_from_slice(inner),
                (ClaimNode::Fact(Fact::Kind(it)), denied) => kinds &= if denied { !it } else { *it },
                (ClaimNode::Fact(Fact::OneOf(values)), true) if values.len() + excluded.len() <= MAX_EXCLUDED => {
                    excluding.push(claim);
                    excluded.extend_from_slice(values);
                }
                _ => {
                    include(&mut parts, claim);
                }
            }
        }
        match excluding[..] {
            [] => {}
            [only] => {
                include(&mut parts, only);
            }
            _ => {
                let excluded = self.one_of(&excluded);
                include(&mut parts, !excluded);
            }
        }
        if kinds & ALL != ALL {
            let kinds = self.kind(kinds);
            include(&mut parts, kinds);
        }
        let (mut may, mut must) = (ALL, ALL);
        for part in &parts {
            may &= self.may(*part);
            must &= self.must(*part);
            if parts.binary_search(&!*part).is_ok() {
                may = 0;
            }
        }
        match parts[..] {
            _ if may == 0 => FALSE,
            [only] => only,
            _ => self.intern(ClaimNode::All(parts), may, must),
        }
    }

    pub fn any(&mut self, claims: &[Claim]) -> Claim {
        let mut denied = claims.to_vec();
        for claim in &mut denied {
            *claim = !*claim;
        }
        !self.all(&denied)
    }

    /// The claim that a schema is fulfilled, before its meaning is known.
    pub fn schema(&mut self, schema: &Value) -> Claim {
        self.intern(ClaimNode::Schema(std::ptr::from_ref(schema).addr()), ALL, 0)
    }

    pub fn reading(&mut self, schema: Claim) -> &mut SchemaReading {
        &mut self.claims[schema.index()].reading
    }

    /// The meaning of the claim that a schema is fulfilled, or of its opposite.
    pub fn meaning(&self, schema: Claim) -> Claim {
        match self.claims[schema.index()].reading {
            SchemaReading::Read(claim) if schema.is_denied() => !claim,
            SchemaReading::Read(claim) => claim,
            SchemaReading::Unread | SchemaReading::Underway => schema,
        }
    }

    /// Whether the meaning of a claim depends on itself. Such a claim means nothing.
    pub fn has_cycle(&self) -> bool {
        let mut open = vec![true; self.len()];
        let mut path: Vec<(usize, usize)> = Vec::new();
        for start in 0..self.len() {
            path.push((start, 0));
            while let Some((index, next)) = path.last_mut() {
                let part = match &*self.claims[*index].node {
                    ClaimNode::All(parts) => parts.get(*next).copied(),
                    ClaimNode::Schema(_) if *next == 0 => match self.claims[*index].reading {
                        SchemaReading::Read(claim) => Some(claim),
                        SchemaReading::Unread | SchemaReading::Underway => None,
                    },
                    ClaimNode::Schema(_) | ClaimNode::Fact(_) => None,
                };
                *next += 1;
                let index = *index;
                match part.map(Claim::index) {
                    Some(part) if path.iter().any(|it| it.0 == part) => return true,
                    Some(part) if open[part] => path.push((part, 0)),
                    Some(_) => {}
                    None => {
                        open[index] = false;
                        path.pop();
                    }
                }
            }
        }
        false
    }

    fn intern(&mut self, node: ClaimNode, may: Kinds, must: Kinds) -> Claim {
        let node = Rc::new(node);
        let next = Claim(self.claims.len() as u32 * 2);
        let claim = *self.numbers.entry(node.clone()).or_insert(next);
        if claim == next {
            self.claims.push(ClaimRecord { node, may, must, reading: SchemaReading::Unread });
        }
        claim
    }
}

/// Inserts an item into a sorted list. Returns false if the list has the item already.
pub fn include<T: Ord>(list: &mut Vec<T>, item: T) -> bool {
    match list.binary_search(&item) {
        Ok(_) => false,
        Err(place) => {
            list.insert(place, item);
            true
        }
    }
}
