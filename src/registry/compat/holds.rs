//! Checks whether a claim is true of a document.

use super::claims::{BoundSide, Claim, ClaimNode, Claims, Fact, kind_of};
use super::numbers;
use super::patterns::CompiledPatterns;
use serde_json::Value;
use std::cmp::Ordering;

/// Below this depth nothing is decided. Documents that the search builds are not this deep.
const MAX_DEPTH: usize = 200;

pub struct ClaimChecker<'a> {
    pub claims: &'a Claims,
    pub patterns: &'a mut CompiledPatterns,
    pub steps: &'a mut usize,
}

impl ClaimChecker<'_> {
    /// Whether the claim is true of the document. None if that cannot be decided. The document's numbers must be in
    /// their shortest form.
    pub fn holds(&mut self, claim: Claim, document: &Value) -> Option<bool> {
        self.judge(claim, document, MAX_DEPTH)
    }

    fn judge(&mut self, claim: Claim, document: &Value, depth: usize) -> Option<bool> {
        *self.steps = self.steps.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let kind = kind_of(document);
        if self.claims.may(claim) & kind == 0 {
            return Some(false);
        }
        if self.claims.must(claim) & kind != 0 {
            return Some(true);
        }
        let claims = self.claims;
        let holds = match &**claims.node(claim) {
            ClaimNode::All(parts) => every(parts.iter().map(|it| self.judge(*it, document, depth))),
            ClaimNode::Schema(_) => return self.judge(claims.meaning(claim), document, depth),
            ClaimNode::Fact(fact) => self.fact(fact, document, depth),
        }?;
        Some(holds != claim.is_denied())
    }

    fn fact(&mut self, fact: &Fact, document: &Value, depth: usize) -> Option<bool> {
        match (fact, document) {
            (Fact::Kind(kinds), _) => Some(kinds & kind_of(document) != 0),
            (Fact::OneOf(values), _) => Some(values.contains(document)),
            (Fact::Bound { side, open, limit }, Value::Number(number)) => {
                Some(match (numbers::compare(number, limit), side) {
                    (Ordering::Equal, _) => !open,
                    (order, BoundSide::Least) => order == Ordering::Greater,
                    (order, BoundSide::Most) => order == Ordering::Less,
                })
            }
            (Fact::MultipleOf(of), Value::Number(number)) => numbers::is_multiple(number, of),
            (Fact::Size { side, limit, .. }, _) => {
                let size = size_of(document);
                Some(if *side == BoundSide::Least { size >= *limit } else { size <= *limit })
            }
            (Fact::Pattern(pattern), Value::String(text)) => self.patterns.fits(pattern, text),
            (Fact::Unique, Value::Array(items)) => {
                Some(items.iter().enumerate().all(|(index, it)| !items[..index].contains(it)))
            }
            (Fact::Item(index, claim), Value::Array(items)) => {
                items.get(*index).map_or(Some(true), |it| self.judge(*claim, it, depth))
            }
            (Fact::Items(first, claim), Value::Array(items)) => {
                every(items.iter().skip(*first).map(|it| self.judge(*claim, it, depth)))
            }
            (Fact::Contains { claim, least, most }, Value::Array(items)) => {
                let mut count = 0;
                for it in items {
                    count += u64::from(self.judge(*claim, it, depth)?);
                }
                Some((*least..=*most).contains(&count))
            }
            (Fact::Required(name), Value::Object(fields)) => Some(fields.contains_key(name)),
            (Fact::Field(name, claim), Value::Object(fields)) => {
                fields.get(name).map_or(Some(true), |it| self.judge(*claim, it, depth))
            }
            (Fact::Matching(pattern, claim), Value::Object(fields)) => {
                every(fields.iter().map(|(name, it)| match self.patterns.fits(pattern, name) {
                    Some(true) => self.judge(*claim, it, depth),
                    Some(false) => Some(true),
                    None => None,
                }))
            }
            (Fact::Others { names, patterns, claim }, Value::Object(fields)) => {
                every(fields.iter().map(|(name, it)| match self.patterns.names(names, patterns, name) {
                    Some(false) => self.judge(*claim, it, depth),
                    Some(true) => Some(true),
                    None => None,
                }))
            }
            (Fact::Names(claim), Value::Object(fields)) => {
                every(fields.keys().map(|name| self.judge(*claim, &Value::from(name.as_str()), depth)))
            }
            (Fact::Opaque(..), _) => None,
            _ => Some(true),
        }
    }
}

/// Whether all parts are true. One false part decides, even if other parts cannot be decided.
fn every(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut told = Some(true);
    for part in parts {
        match part {
            Some(false) => return part,
            Some(true) => {}
            None => told = None,
        }
    }
    told
}

fn size_of(document: &Value) -> u64 {
    match document {
        Value::String(text) => text.chars().count() as u64,
        Value::Array(items) => items.len() as u64,
        Value::Object(fields) => fields.len() as u64,
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
