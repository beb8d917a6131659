//! What a schema says, as claims about a value. A claim is a fact, or all of several claims, or the opposite of either;
//! so `anyOf`, `oneOf`, `not` and `if` need no words of their own. Claims that say the same are the same: that is how two
//! schemas' common parts are recognised, whatever their descriptions.

use super::numbers;
use serde_json::{Number, Value};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

/// A set of kinds of values, one bit each. Whole numbers are a kind of their own, for `1.0` is an integer.
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

/// A claim's number; the odd one is the even one's opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Claim(u32);

/// The claim that is always so: all of no claims.
pub const TRUE: Claim = Claim(0);
pub const FALSE: Claim = Claim(1);

impl Claim {
    fn index(self) -> usize {
        (self.0 / 2) as usize
    }

    /// A number for each claim and for its opposite.
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
pub enum Node {
    All(Vec<Claim>),
    Fact(Fact),
    /// What the schema at an address says: found in [`Claims::meaning`]. Only a schema that refers to itself is left so.
    Schema(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    Least,
    Most,
}

/// What one keyword says. Of values of another kind than its own it is always so.
#[derive(PartialEq, Eq, Hash)]
pub enum Fact {
    Kind(Kinds),
    OneOf(Values),
    /// A number's bound; the limit itself is not within an `open` one.
    Bound {
        side: Side,
        open: bool,
        limit: Number,
    },
    MultipleOf(Number),
    /// How long a text, how many the elements or fields.
    Size {
        of: Kinds,
        side: Side,
        limit: u64,
    },
    Pattern(String),
    Unique,
    /// The element at an index, if there is one.
    Item(usize, Claim),
    /// Every element from an index on.
    Items(usize, Claim),
    Contains {
        claim: Claim,
        least: u64,
        most: u64,
    },
    Required(String),
    /// The field of a name, if there is one.
    Field(String, Claim),
    /// Every field whose name fits a pattern.
    Matching(String, Claim),
    /// Every field that is neither named nor fits a pattern.
    Others {
        names: Vec<String>,
        patterns: Vec<String>,
        claim: Claim,
    },
    Names(Claim),
    /// What is not understood, and what tells it apart from others.
    Opaque(String, String),
}

/// Values that are written alike where they are equal.
#[derive(PartialEq, Eq)]
pub struct Values(Vec<Value>);

impl Hash for Values {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for value in &self.0 {
            state.write(value.to_string().as_bytes());
        }
    }
}

impl Deref for Values {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl Fact {
    /// The kinds that it says anything about.
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

/// How many values are merged into one list of what a value is not.
const MAX_EXCLUDED: usize = 64;

/// A claim, of which kinds there may be values for which it is so, and for which kinds it is so of all values.
struct Known {
    node: Rc<Node>,
    may: Kinds,
    must: Kinds,
    reading: SchemaReading,
}

/// How far a schema is read.
#[derive(Clone, Copy)]
pub enum SchemaReading {
    Unread,
    Underway,
    Read(Claim),
}

pub struct Claims {
    claims: Vec<Known>,
    numbers: HashMap<Rc<Node>, Claim>,
}

impl Claims {
    pub fn new() -> Self {
        let mut claims = Self { claims: Vec::new(), numbers: HashMap::new() };
        claims.intern(Node::All(Vec::new()), ALL, ALL);
        claims
    }

    pub fn len(&self) -> usize {
        self.claims.len()
    }

    pub fn node(&self, claim: Claim) -> &Rc<Node> {
        &self.claims[claim.index()].node
    }

    /// The fact that is claimed or denied, if it is one.
    pub fn as_fact(&self, claim: Claim) -> Option<&Fact> {
        match &**self.node(claim) {
            Node::Fact(fact) => Some(fact),
            Node::All(_) | Node::Schema(_) => None,
        }
    }

    /// The kinds of which there may be values for which the claim is so.
    pub fn may(&self, claim: Claim) -> Kinds {
        let known = &self.claims[claim.index()];
        if claim.is_denied() { ALL & !known.must } else { known.may }
    }

    /// The kinds all of whose values make the claim so.
    pub fn must(&self, claim: Claim) -> Kinds {
        ALL & !self.may(!claim)
    }

    pub fn kind(&mut self, kinds: Kinds) -> Claim {
        match kinds & ALL {
            ALL => TRUE,
            0 => FALSE,
            kinds => self.intern(Node::Fact(Fact::Kind(kinds)), kinds, kinds),
        }
    }

    /// Equal values count once, in whichever order they stand.
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
        if may == must { self.kind(may) } else { self.intern(Node::Fact(Fact::OneOf(Values(sorted))), may, must) }
    }

    pub fn fact(&mut self, fact: Fact) -> Claim {
        match &fact {
            Fact::Field(_, TRUE) | Fact::Matching(_, TRUE) | Fact::Item(_, TRUE) | Fact::Items(_, TRUE) => TRUE,
            Fact::Others { claim: TRUE, .. } | Fact::Names(TRUE) => TRUE,
            Fact::Size { side: Side::Least, limit: 0, .. } => TRUE,
            _ => {
                let must = ALL & !fact.about();
                self.intern(Node::Fact(fact), ALL, must)
            }
        }
    }

    pub fn all(&mut self, claims: &[Claim]) -> Claim {
        let mut left = claims.to_vec();
        let (mut parts, mut kinds) = (Vec::new(), ALL);
        let (mut excluding, mut excluded) = (Vec::new(), Vec::new());
        while let Some(claim) = left.pop() {
            match (&**self.node(claim), claim.is_denied()) {
                (Node::All(inner), false) => left.extend_from_slice(inner),
                (Node::Fact(Fact::Kind(it)), denied) => kinds &= if denied { !it } else { *it },
                (Node::Fact(Fact::OneOf(values)), true) if values.len() + excluded.len() <= MAX_EXCLUDED => {
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
            _ => self.intern(Node::All(parts), may, must),
        }
    }

    pub fn any(&mut self, claims: &[Claim]) -> Claim {
        let mut denied = claims.to_vec();
        for claim in &mut denied {
            *claim = !*claim;
        }
        !self.all(&denied)
    }

    /// The claim that a schema is fulfilled, whatever it says.
    pub fn schema(&mut self, schema: &Value) -> Claim {
        self.intern(Node::Schema(std::ptr::from_ref(schema).addr()), ALL, 0)
    }

    pub fn reading(&mut self, schema: Claim) -> &mut SchemaReading {
        &mut self.claims[schema.index()].reading
    }

    /// What the claim that a schema is fulfilled comes to, or the claim that it is not.
    pub fn meaning(&self, schema: Claim) -> Claim {
        match self.claims[schema.index()].reading {
            SchemaReading::Read(claim) if schema.is_denied() => !claim,
            SchemaReading::Read(claim) => claim,
            SchemaReading::Unread | SchemaReading::Underway => schema,
        }
    }

    /// Whether what some claim comes to depends on itself, and thus means nothing.
    pub fn go_round(&self) -> bool {
        let mut open = vec![true; self.len()];
        let mut path: Vec<(usize, usize)> = Vec::new();
        for start in 0..self.len() {
            path.push((start, 0));
            while let Some((index, next)) = path.last_mut() {
                let part = match &*self.claims[*index].node {
                    Node::All(parts) => parts.get(*next).copied(),
                    Node::Schema(_) if *next == 0 => match self.claims[*index].reading {
                        SchemaReading::Read(claim) => Some(claim),
                        SchemaReading::Unread | SchemaReading::Underway => None,
                    },
                    Node::Schema(_) | Node::Fact(_) => None,
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

    fn intern(&mut self, node: Node, may: Kinds, must: Kinds) -> Claim {
        let node = Rc::new(node);
        let next = Claim(self.claims.len() as u32 * 2);
        let claim = *self.numbers.entry(node.clone()).or_insert(next);
        if claim == next {
            self.claims.push(Known { node, may, must, reading: SchemaReading::Unread });
        }
        claim
    }
}

/// Puts an item where it belongs in a sorted list; false, if it is there.
pub fn include<T: Ord>(list: &mut Vec<T>, item: T) -> bool {
    match list.binary_search(&item) {
        Ok(_) => false,
        Err(place) => {
            list.insert(place, item);
            true
        }
    }
}
