//! Builds a number for which some facts are true.

use super::claims::{BoundSide, Claim, Fact, Kinds, WHOLE};
use super::numbers;
use super::search::{DocumentSearch, SearchAnswer};
use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::rc::Rc;

/// How many numbers are tried, one after the other.
const MAX_TRIES: i128 = 500;
const FAR: i128 = 100;

/// A bound, and whether the bound itself is excluded.
type NumberBound = (Number, bool);

#[derive(Default)]
pub struct NumberRange {
    least: Option<NumberBound>,
    most: Option<NumberBound>,
}

impl NumberRange {
    pub fn is_empty(&self) -> bool {
        let (Some((least, above)), Some((most, below))) = (&self.least, &self.most) else { return false };
        match numbers::compare(least, most) {
            Ordering::Less => false,
            Ordering::Equal => *above || *below,
            Ordering::Greater => true,
        }
    }

    fn narrow(&mut self, side: BoundSide, limit: &Number, open: bool) {
        let (bound, inwards) = match side {
            BoundSide::Least => (&mut self.least, Ordering::Greater),
            BoundSide::Most => (&mut self.most, Ordering::Less),
        };
        let narrower = bound.as_ref().is_none_or(|(known, known_open)| match numbers::compare(limit, known) {
            Ordering::Equal => open && !known_open,
            order => order == inwards,
        });
        if narrower {
            *bound = Some((limit.clone(), open));
        }
    }
}

/// The unit in which numbers are counted: ones, tenths, hundredths and so on, so that every count is whole.
struct DecimalScale {
    places: u32,
}

impl DecimalScale {
    fn count(&self, number: &Number) -> Option<i128> {
        let (digits, places) = numbers::decimal(number)?;
        digits.checked_mul(10_i128.checked_pow(self.places.checked_sub(places)?)?)
    }
}

impl DocumentSearch {
    /// The range that the facts leave.
    pub fn range(&self, facts: &[Claim]) -> NumberRange {
        let mut range = NumberRange::default();
        for claim in facts {
            if let Some(Fact::Bound { side, open, limit }) = self.claims.as_fact(*claim) {
                match (side, claim.is_denied()) {
                    (side, false) => range.narrow(*side, limit, *open),
                    (BoundSide::Least, true) => range.narrow(BoundSide::Most, limit, !open),
                    (BoundSide::Most, true) => range.narrow(BoundSide::Least, limit, !open),
                }
            }
        }
        range
    }

    pub fn number(&mut self, kind: Kinds, facts: &[Claim]) -> SearchAnswer {
        let range = self.range(facts);
        let (mut multiples, mut others) = (Vec::new(), Vec::new());
        for claim in facts {
            if let Some(Fact::MultipleOf(of)) = self.claims.as_fact(*claim) {
                if claim.is_denied() { others.push(of.clone()) } else { multiples.push(of.clone()) }
            }
        }
        if kind == WHOLE {
            return self.multiple(facts, &range, &multiples, &others, 0).unwrap_or(SearchAnswer::Unknown);
        }
        if multiples.iter().any(|it| numbers::whole(it).is_some_and(|it| it.unsigned_abs() < 1 << 53)) {
            return SearchAnswer::Nothing;
        }
        if multiples.is_empty() {
            return self.between(facts, &range);
        }
        let mut places = 0;
        for (limit, _) in range.least.iter().chain(&range.most) {
            places = places.max(numbers::decimal(limit).map_or(0, |it| it.1));
        }
        for number in multiples.iter().chain(&others) {
            places = places.max(numbers::decimal(number).map_or(0, |it| it.1));
        }
        self.multiple(facts, &range, &multiples, &others, places).unwrap_or(SearchAnswer::Unknown)
    }

    /// Finds a multiple of some numbers that is no multiple of others, counted in units with this many decimal places.
    /// Whole numbers are counted in ones. Among numbers with a fraction, the whole ones are left out. None if there are
    /// too many digits.
    fn multiple(
        &mut self,
        facts: &[Claim],
        range: &NumberRange,
        multiples: &[Number],
        others: &[Number],
        places: u32,
    ) -> Option<SearchAnswer> {
        let scale = DecimalScale { places };
        let mut unit = 1;
        for it in multiples {
            unit = least_common_multiple(unit, counted(it, &scale)?)?;
        }
        for it in others {
            if unit % counted(it, &scale)? == 0 {
                return Some(SearchAnswer::Nothing);
            }
        }
        let one = 10_i128.checked_pow(places)?;
        if places > 0 && unit % one == 0 {
            return Some(SearchAnswer::Nothing);
        }
        let least = range.least.as_ref().map_or(Some(None), |(limit, open)| inwards(limit, *open, &scale, 1))?;
        let most = range.most.as_ref().map_or(Some(None), |(limit, open)| inwards(limit, *open, &scale, -1))?;
        let first = least.map(|it| it.div_euclid(unit) + i128::from(it.rem_euclid(unit) != 0));
        let last = most.map(|it| it.div_euclid(unit));
        let (start, step) = match (first, last) {
            (Some(first), _) => (first, 1),
            (None, Some(last)) => (last, -1),
            (None, None) => (0, 1),
        };
        let mut told = true;
        for index in 0..MAX_TRIES + FAR {
            // Counts are tried one after the other, and then powers of two, because a document can hold few other
            // numbers beyond 64 bits.
            let far = index - MAX_TRIES;
            let count = if far < 0 { start.checked_add(index * step)? } else { (step << (FAR - far)) / unit };
            let outside = first.is_some_and(|it| count < it) || last.is_some_and(|it| count > it);
            match (outside, far < 0) {
                (true, true) => return Some(if told { SearchAnswer::Nothing } else { SearchAnswer::Unknown }),
                (true, false) => continue,
                (false, _) => {}
            }
            let count = count.checked_mul(unit)?;
            if places > 0 && count % one == 0 {
                continue;
            }
            let number = if places == 0 { numbers::from_whole(count) } else { numbers::from_decimal(count, places) };
            let Some(number) = number else { continue };
            self.spend(1);
            let document = Value::Number(number);
            match self.fits(facts, &document) {
                Some(true) => return Some(SearchAnswer::Document(Rc::new(document))),
                Some(false) => {}
                None => told = false,
            }
        }
        Some(SearchAnswer::Unknown)
    }

    /// Finds a number with a fraction inside a range.
    fn between(&mut self, facts: &[Claim], range: &NumberRange) -> SearchAnswer {
        let (least, most) = (range.least.as_ref().map(|it| &it.0), range.most.as_ref().map(|it| &it.0));
        if let (Some(least), Some(most)) = (least, most)
            && numbers::compare(least, most) == Ordering::Equal
        {
            let told = self.fits(facts, &Value::Number(least.clone()));
            return match told {
                Some(true) if !numbers::is_whole(least) => {
                    SearchAnswer::Document(Rc::new(Value::Number(least.clone())))
                }
                None => SearchAnswer::Unknown,
                _ => SearchAnswer::Nothing,
            };
        }
        let (least, most) = (least.and_then(Number::as_f64), most.and_then(Number::as_f64));
        let (low, high) = match (least, most) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low + 1.0),
            (None, Some(high)) => (high - 1.0, high),
            (None, None) => (0.0, 1.0),
        };
        let mut tries = vec![low, high];
        for part in [0.5, 0.1, 0.3, 0.01, 0.007, 0.123_457] {
            tries.extend([low.floor() + part, high.ceil() - part]);
        }
        for part in 1..64 {
            tries.push(low + (high - low) * f64::from(part) / 64.0);
        }
        for number in tries {
            let Some(number) = Number::from_f64(number).filter(|it| !numbers::is_whole(it)) else { continue };
            let document = Value::Number(number);
            if self.fits(facts, &document) == Some(true) {
                return SearchAnswer::Document(Rc::new(document));
            }
        }
        SearchAnswer::Unknown
    }
}

/// The distance, in units, between two multiples of `number` that are whole counts of units. For example, the multiples
/// of 1.5 that are whole counts of ones are 3, 6 and so on: the multiples of 3.
fn counted(number: &Number, scale: &DecimalScale) -> Option<i128> {
    let (digits, places) = numbers::decimal(number)?;
    let count = match places.checked_sub(scale.places) {
        None | Some(0) => scale.count(number)?,
        Some(more) => digits / greatest_common_divisor(digits, 10_i128.checked_pow(more)?),
    };
    (count > 0).then_some(count)
}

/// The first count inside a bound. `Some(None)`, if the bound is so far outside that every count is inside it.
fn inwards(limit: &Number, open: bool, scale: &DecimalScale, step: i128) -> Option<Option<i128>> {
    let float = limit.as_f64()?;
    if float.abs() >= 1e38 {
        return if (float > 0.0) == (step < 0) { Some(None) } else { None };
    }
    if scale.places == 0 && !numbers::is_whole(limit) {
        return Some(Some(if step > 0 { float.ceil() } else { float.floor() } as i128));
    }
    let count = match numbers::whole(limit) {
        Some(whole) => whole.checked_mul(10_i128.checked_pow(scale.places)?)?,
        None => scale.count(limit)?,
    };
    Some(Some(if open { count.checked_add(step)? } else { count }))
}

fn greatest_common_divisor(mut left: i128, mut right: i128) -> i128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left.abs()
}

fn least_common_multiple(left: i128, right: i128) -> Option<i128> {
    (left / greatest_common_divisor(left, right)).checked_mul(right)
}
