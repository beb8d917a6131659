//! Builds a list for which some facts are true.

use super::claims::{Claim, Fact};
use super::search::{DocumentSearch, SearchAnswer, TriedWays};
use serde_json::Value;
use std::rc::Rc;

/// The longest list that is built, and the longest whose elements must all differ.
const MAX_LENGTH: u64 = 2_000;
const MAX_DIFFERENT: usize = 64;
const MAX_INDEX: usize = 200;

#[derive(Default)]
struct ListShape {
    least: u64,
    most: u64,
    at: Vec<(usize, Claim)>,
    from: Vec<(usize, Claim)>,
    /// Claims that some element from an index on must fulfil.
    somewhere: Vec<(usize, Claim)>,
    different: bool,
    /// Whether some element must occur twice.
    repeated: bool,
    /// From this index on, the same claims apply to all elements.
    alike: usize,
}

impl ListShape {
    fn claims_at(&self, index: usize, placed: &[(usize, Claim)]) -> Vec<Claim> {
        let mut claims = Vec::new();
        for (at, claim) in self.at.iter().chain(placed) {
            if *at == index {
                claims.push(*claim);
            }
        }
        for (first, claim) in &self.from {
            if *first <= index {
                claims.push(*claim);
            }
        }
        claims
    }

    /// The first index without claims of its own.
    fn end(&self, placed: &[(usize, Claim)]) -> usize {
        placed.iter().fold(self.alike, |end, it| end.max(it.0 + 1))
    }
}

impl DocumentSearch {
    pub fn list(&mut self, facts: &[Claim]) -> SearchAnswer {
        let (least, most) = self.sizes(facts);
        let mut shape = ListShape { least, most, ..ListShape::default() };
        for claim in facts {
            let denied = claim.is_denied();
            let Some(fact) = self.claims.as_fact(*claim) else { continue };
            match fact {
                Fact::Item(index, it) if denied => {
                    shape.least = shape.least.max(*index as u64 + 1);
                    shape.at.push((*index, !*it));
                }
                Fact::Item(index, it) => shape.at.push((*index, *it)),
                Fact::Items(first, it) if denied => shape.somewhere.push((*first, !*it)),
                Fact::Items(first, it) => shape.from.push((*first, *it)),
                Fact::Unique if denied => shape.repeated = true,
                Fact::Unique => shape.different = true,
                _ => {}
            }
        }
        for (index, _) in &shape.at {
            shape.alike = shape.alike.max(index + 1);
        }
        for (first, _) in shape.from.iter().chain(&shape.somewhere) {
            shape.alike = shape.alike.max(*first);
        }
        if shape.alike > MAX_INDEX {
            return SearchAnswer::Unknown;
        }
        self.place(&shape, 0, Vec::new())
    }

    /// Finds an index for each element that must exist somewhere. `placed` holds the claims beyond those of the shape.
    fn place(&mut self, shape: &ListShape, next: usize, placed: Vec<(usize, Claim)>) -> SearchAnswer {
        let Some((first, claim)) = shape.somewhere.get(next) else { return self.repeat(shape, placed) };
        let mut ways = TriedWays::new();
        for index in *first..=shape.end(&placed) {
            if index as u64 >= shape.most {
                break;
            }
            if !self.spend(1) {
                return SearchAnswer::Unknown;
            }
            let mut placed = placed.clone();
            placed.push((index, *claim));
            let answer = self.place(shape, next + 1, placed);
            if let Some(document) = ways.document(answer) {
                return SearchAnswer::Document(document);
            }
        }
        ways.exhausted()
    }

    /// If an element must occur twice, finds the two indexes.
    fn repeat(&mut self, shape: &ListShape, placed: Vec<(usize, Claim)>) -> SearchAnswer {
        if !shape.repeated {
            return self.elements(shape, &placed);
        }
        let mut ways = TriedWays::new();
        for second in 1..=shape.end(&placed) + 1 {
            for first in 0..second {
                if second as u64 >= shape.most {
                    return ways.exhausted();
                }
                if !self.spend(1) {
                    return SearchAnswer::Unknown;
                }
                let mut both = shape.claims_at(first, &placed);
                both.extend(shape.claims_at(second, &placed));
                let both = self.claims.all(&both);
                let mut placed = placed.clone();
                placed.extend([(first, both), (second, both)]);
                let answer = self.elements(shape, &placed);
                if let Some(document) = ways.document(answer) {
                    return SearchAnswer::Document(document);
                }
            }
        }
        ways.exhausted()
    }

    fn elements(&mut self, shape: &ListShape, placed: &[(usize, Claim)]) -> SearchAnswer {
        let length = placed.iter().fold(shape.least, |length, it| length.max(it.0 as u64 + 1));
        if length > shape.most {
            return SearchAnswer::Nothing;
        }
        let length = length as usize;
        let mut ways = TriedWays::new();
        // Indexes with additional claims are tried first: a contradiction is most likely there.
        for index in placed.iter().map(|it| it.0).chain(0..length.min(shape.alike + 1)) {
            match self.find(&shape.claims_at(index, placed)) {
                SearchAnswer::Nothing => return SearchAnswer::Nothing,
                SearchAnswer::Unknown => ways.doubt(),
                SearchAnswer::Document(_) => {}
            }
        }
        if length as u64 > MAX_LENGTH || !self.spend(length / 8) || (shape.different && length > MAX_DIFFERENT) {
            return SearchAnswer::Unknown;
        }
        let mut items: Vec<Value> = Vec::new();
        for index in 0..length {
            let mut goal = shape.claims_at(index, placed);
            if shape.different && !items.is_empty() {
                goal.push(!self.claims.one_of(&items));
            }
            match self.find(&goal) {
                SearchAnswer::Document(item) => items.push((*item).clone()),
                // The elements before this one may have been chosen badly, unless the same claims apply to all of them.
                SearchAnswer::Nothing if index == 0 || (placed.is_empty() && shape.alike == 0) => {
                    return ways.exhausted();
                }
                _ => return SearchAnswer::Unknown,
            }
        }
        SearchAnswer::Document(Rc::new(Value::Array(items)))
    }
}
