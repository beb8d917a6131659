//! Explains the difference between two schemas. It follows the difference down to single keywords, as long as there is
//! a document that contradicts just that keyword.

use super::claims::{
    ALL, ARRAY, BOOLEAN, Claim, ClaimNode, EACH_KIND, FALSE, FRACTION, Fact, Kinds, NULL, NUMBER, OBJECT, STRING,
    WHOLE, include,
};
use super::search::{DocumentSearch, SearchAnswer};
use super::{MAX_STEPS, Obstacle, wording};
use crate::error::shortened;
use serde_json::Value;
use std::rc::Rc;

/// How many obstacles are reported, and how deep they are searched for.
const MAX_OBSTACLES: usize = 20;
const MAX_DEPTH: usize = 40;

/// How many parts of a schema are checked for whether any value fits them.
const MAX_PARTS: usize = 500;

/// One step from a document down to a value within it.
#[derive(Clone)]
enum PathStep {
    Field(String),
    Item(usize),
    Items(usize),
    Matching(String),
    Others {
        names: Vec<String>,
        patterns: Vec<String>,
    },
    /// Not a step down: restricts the value to one kind.
    Only(Kinds),
}

pub struct Explanation<'a> {
    search: &'a mut DocumentSearch,
    from: Claim,
    to: Claim,
    steps: Vec<PathStep>,
    /// The claims that are being explained, and how many obstacles there were when each explanation began.
    underway: Vec<(Claim, usize)>,
    /// How often an explanation was cut short, because the same claim was already being explained.
    cut: usize,
    obstacles: Vec<Obstacle>,
    /// A document for each obstacle that is certain.
    shown: Vec<Rc<Value>>,
}

impl<'a> Explanation<'a> {
    pub fn new(search: &'a mut DocumentSearch, from: Claim, to: Claim) -> Self {
        search.steps = MAX_STEPS;
        Self {
            search,
            from,
            to,
            steps: Vec::new(),
            underway: Vec::new(),
            cut: 0,
            obstacles: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Explains why the schemas differ. The given document is reported only if nothing more precise was found.
    pub fn of_difference(mut self, counterexample: Option<Rc<Value>>) -> (Vec<Obstacle>, Vec<Rc<Value>>) {
        self.explain(self.to);
        self.steps.clear();
        let counterexample = counterexample.filter(|it| self.shows_difference(it));
        if let Some(document) = counterexample.filter(|_| self.shown.is_empty()) {
            let message = format!("no longer takes all that it took, such as {document}");
            self.tell(message, Some(document));
        } else if self.obstacles.is_empty() {
            self.tell("the schemas are too large or too involved to be compared".into(), None);
        }
        (self.obstacles, self.shown)
    }

    /// Explains a `from` of which a part fits no value. Such a part is included in any other schema. Its author hardly
    /// meant that, so the schemas are not counted as compatible.
    pub fn of_emptiness(mut self) -> Vec<Obstacle> {
        let mut shared = Vec::new();
        self.parts(self.to, &mut shared, &mut Vec::new());
        let mut own = vec![(self.from, Vec::new())];
        self.parts(self.from, &mut Vec::new(), &mut own);
        for (claim, steps) in own {
            if claim != FALSE && !shared.contains(&claim) && matches!(self.search.find(&[claim]), SearchAnswer::Nothing)
            {
                self.steps = steps;
                self.tell(
                    "nothing could be given here so far, so it cannot be told what is taken no longer".into(),
                    None,
                );
                break;
            }
        }
        self.obstacles
    }

    /// Collects the claims about values inside, at any depth, each with the path to the value.
    fn parts(&mut self, claim: Claim, seen: &mut Vec<Claim>, found: &mut Vec<(Claim, Vec<PathStep>)>) {
        if seen.len() >= MAX_PARTS || self.steps.len() >= MAX_DEPTH || !include(seen, claim) {
            return;
        }
        let node = self.search.claims.node(claim).clone();
        match &*node {
            ClaimNode::All(parts) => {
                for part in parts {
                    self.parts(if claim.is_denied() { !*part } else { *part }, seen, found);
                }
            }
            ClaimNode::Schema(_) => self.parts(self.search.claims.meaning(claim), seen, found),
            ClaimNode::Fact(fact) => {
                if let (Some((step, inner)), false) = (step_down(fact), claim.is_denied()) {
                    self.steps.push(step);
                    found.push((inner, self.steps.clone()));
                    self.parts(inner, seen, found);
                    self.steps.pop();
                }
            }
        }
    }

    /// Reports the parts of a claim about the value at this place that do not follow from `from`.
    fn explain(&mut self, claim: Claim) {
        let Some(counterexample) = self.counterexample(claim) else { return };
        if self.obstacles.len() >= MAX_OBSTACLES || self.search.steps == 0 {
            return;
        }
        // A schema that refers to itself is explained at its first place. Further down it is explained only if that
        // reported nothing.
        let before = (self.obstacles.len(), self.cut);
        let mut again = self.underway.iter().filter(|it| it.0 == claim);
        if again.next().is_some_and(|it| it.1 < before.0) || again.next().is_some() {
            self.cut += 1;
            return;
        }
        self.underway.push((claim, before.0));
        if self.steps.len() < MAX_DEPTH {
            self.explain_parts(claim);
        }
        self.underway.pop();
        if (self.obstacles.len(), self.cut) == before {
            self.tell_of(claim, counterexample);
        }
    }

    fn explain_parts(&mut self, claim: Claim) {
        let node = self.search.claims.node(claim).clone();
        match (&*node, claim.is_denied()) {
            (ClaimNode::All(parts), false) => parts.iter().for_each(|it| self.explain(*it)),
            (ClaimNode::All(parts), true) => self.explain_alternatives(parts),
            (ClaimNode::Schema(_), _) => self.explain(self.search.claims.meaning(claim)),
            (ClaimNode::Fact(Fact::Kind(kinds)), false) => {
                let mut lost = ALL & !kinds;
                // Whole numbers and fractions are mostly lost together.
                for group in [NUMBER, NULL, BOOLEAN, WHOLE, FRACTION, STRING, ARRAY, OBJECT] {
                    if group & !lost == 0 {
                        lost &= !group;
                        let rest = self.search.claims.kind(ALL & !group);
                        self.explain_leaf(rest);
                    }
                }
            }
            (ClaimNode::Fact(Fact::Others { names, patterns, claim: FALSE }), false) => {
                let mut names = names.clone();
                for name in self.names_so_far() {
                    if self.search.patterns.names(&names, patterns, &name) == Some(false) {
                        let gone = self.search.claims.fact(Fact::Field(name.clone(), FALSE));
                        include(&mut names, name);
                        self.explain_leaf(gone);
                    }
                }
                let rest = Fact::Others { names, patterns: patterns.clone(), claim: FALSE };
                let rest = self.search.claims.fact(rest);
                self.explain_leaf(rest);
            }
            (ClaimNode::Fact(fact), false) => {
                if let Some((step, inner)) = step_down(fact).filter(|it| it.1 != FALSE) {
                    self.steps.push(step);
                    self.explain(inner);
                    self.steps.pop();
                }
            }
            (ClaimNode::Fact(_), true) => {}
        }
    }

    /// If only one alternative takes values of a kind, that alternative alone is explained for this kind.
    fn explain_alternatives(&mut self, parts: &[Claim]) {
        for kind in EACH_KIND {
            let mut able = parts.iter().map(|it| !*it).filter(|it| self.search.claims.may(*it) & kind != 0);
            if let (Some(only), None) = (able.next(), able.next()) {
                self.steps.push(PathStep::Only(kind));
                self.explain(only);
                self.steps.pop();
            } else {
                drop(able);
                let other = self.search.claims.kind(ALL & !kind);
                let mut all = parts.to_vec();
                all.push(!other);
                let none = self.search.claims.all(&all);
                self.explain_leaf(!none);
            }
        }
    }

    /// Reports a claim as a whole, without its parts.
    fn explain_leaf(&mut self, claim: Claim) {
        let Some(counterexample) = self.counterexample(claim) else { return };
        if self.obstacles.len() < MAX_OBSTACLES && self.search.steps > 0 {
            self.tell_of(claim, counterexample);
        }
    }

    /// None if the claim follows from `from`. Otherwise a document that shows that it does not, if one is known.
    fn counterexample(&mut self, claim: Claim) -> Option<Option<Rc<Value>>> {
        let within = self.within(claim);
        match self.search.find(&[self.from, !within]) {
            SearchAnswer::Nothing => None,
            SearchAnswer::Unknown => Some(None),
            SearchAnswer::Document(document) => Some(self.shows_difference(&document).then_some(document)),
        }
    }

    fn shows_difference(&mut self, document: &Value) -> bool {
        self.search.holds(self.from, document) == Some(true) && self.search.holds(self.to, document) == Some(false)
    }

    /// Turns a claim about the value at this place into a claim about the document.
    fn within(&mut self, mut claim: Claim) -> Claim {
        for step in self.steps.iter().rev() {
            let fact = match step {
                PathStep::Field(name) => Fact::Field(name.clone(), claim),
                PathStep::Item(index) => Fact::Item(*index, claim),
                PathStep::Items(first) => Fact::Items(*first, claim),
                PathStep::Matching(pattern) => Fact::Matching(pattern.clone(), claim),
                PathStep::Others { names, patterns } => {
                    Fact::Others { names: names.clone(), patterns: patterns.clone(), claim }
                }
                PathStep::Only(kind) => {
                    let other = self.search.claims.kind(ALL & !kind);
                    claim = self.search.claims.any(&[other, claim]);
                    continue;
                }
            };
            claim = self.search.claims.fact(fact);
        }
        claim
    }

    fn tell_of(&mut self, claim: Claim, counterexample: Option<Rc<Value>>) {
        let mut message = self.message(claim, counterexample.as_deref());
        if counterexample.is_none() {
            message.insert_str(0, "cannot tell whether this is compatible: ");
        }
        self.tell(message, counterexample);
    }

    fn tell(&mut self, message: String, counterexample: Option<Rc<Value>>) {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                PathStep::Field(name) => {
                    path.push('/');
                    path.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                PathStep::Item(index) => path.push_str(&format!("/{index}")),
                PathStep::Items(_) | PathStep::Matching(_) | PathStep::Others { .. } => path.push_str("/*"),
                PathStep::Only(_) => {}
            }
        }
        let certain = counterexample.is_some();
        let obstacle = Obstacle { path: shortened(&path), message: shortened(&message), certain };
        if !self.obstacles.contains(&obstacle) {
            self.obstacles.push(obstacle);
            self.shown.extend(counterexample);
        }
    }

    /// The facts that `from` claims about the value at this place.
    fn before(&self) -> Vec<&Fact> {
        let mut facts = self.facts(vec![self.from], ALL);
        for step in &self.steps {
            if let PathStep::Only(kind) = step {
                facts = self.facts(facts, *kind);
                continue;
            }
            let mut inner = Vec::new();
            for claim in &facts {
                let Some(fact) = self.search.claims.as_fact(*claim) else { continue };
                match (step, fact) {
                    (PathStep::Field(name), Fact::Field(it, claim)) if it == name => inner.push(*claim),
                    (PathStep::Field(name), Fact::Others { names, patterns, claim })
                        if !names.contains(name) && patterns.is_empty() =>
                    {
                        inner.push(*claim);
                    }
                    (PathStep::Item(index), Fact::Item(it, claim)) if it == index => inner.push(*claim),
                    (PathStep::Item(index), Fact::Items(first, claim)) if first <= index => inner.push(*claim),
                    (PathStep::Items(first), Fact::Items(it, claim)) if it <= first => inner.push(*claim),
                    (PathStep::Matching(pattern), Fact::Matching(it, claim)) if it == pattern => inner.push(*claim),
                    (PathStep::Others { .. }, Fact::Others { claim, .. }) => inner.push(*claim),
                    _ => {}
                }
            }
            facts = self.facts(inner, ALL);
        }
        facts.retain(|it| !it.is_denied());
        facts.into_iter().filter_map(|it| self.search.claims.as_fact(it)).collect()
    }

    /// The facts that some claims amount to for values of some kinds. Alternatives count if only one of them takes
    /// these kinds.
    fn facts(&self, mut claims: Vec<Claim>, kinds: Kinds) -> Vec<Claim> {
        let (mut facts, mut seen) = (Vec::new(), Vec::new());
        while let Some(claim) = claims.pop() {
            if !include(&mut seen, claim) || seen.len() > MAX_PARTS {
                continue;
            }
            match (&**self.search.claims.node(claim), claim.is_denied()) {
                (ClaimNode::All(parts), false) => claims.extend(parts),
                (ClaimNode::All(parts), true) => {
                    let mut able = parts.iter().map(|it| !*it).filter(|it| self.search.claims.may(*it) & kinds != 0);
                    match (able.next(), able.next()) {
                        (Some(only), None) => claims.push(only),
                        _ => facts.push(claim),
                    }
                }
                (ClaimNode::Schema(_), _) => claims.push(self.search.claims.meaning(claim)),
                (ClaimNode::Fact(_), _) => facts.push(claim),
            }
        }
        facts
    }

    fn names_so_far(&self) -> Vec<String> {
        let mut names = Vec::new();
        for fact in self.before() {
            match fact {
                Fact::Field(name, _) | Fact::Required(name) => names.push(name.clone()),
                Fact::Others { names: it, .. } => names.extend_from_slice(it),
                _ => {}
            }
        }
        names
    }

    fn message(&self, claim: Claim, counterexample: Option<&Value>) -> String {
        match (&**self.search.claims.node(claim), claim.is_denied()) {
            (ClaimNode::Fact(fact), false) => wording::of(fact, &self.before()),
            _ if claim == FALSE => "takes nothing any more".into(),
            _ => match counterexample.and_then(|it| self.value_in(it)) {
                Some(value) => format!("no longer takes all that it took, such as {value}"),
                None => "takes other values than before".into(),
            },
        }
    }

    /// The value of a document at this place. None if there may be several.
    fn value_in<'v>(&self, document: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(document, |value, step| match step {
            PathStep::Field(name) => value.get(name),
            PathStep::Item(index) => value.get(index),
            PathStep::Only(_) => Some(value),
            PathStep::Items(_) | PathStep::Matching(_) | PathStep::Others { .. } => None,
        })
    }
}

/// The step from a value to the inner value that a fact is about, and the claim about that value.
fn step_down(fact: &Fact) -> Option<(PathStep, Claim)> {
    Some(match fact {
        Fact::Field(name, claim) => (PathStep::Field(name.clone()), *claim),
        Fact::Item(index, claim) => (PathStep::Item(*index), *claim),
        Fact::Items(first, claim) => (PathStep::Items(*first), *claim),
        Fact::Matching(pattern, claim) => (PathStep::Matching(pattern.clone()), *claim),
        Fact::Others { names, patterns, claim } => {
            (PathStep::Others { names: names.clone(), patterns: patterns.clone() }, *claim)
        }
        _ => return None,
    })
}
