//! The search for a document for which several claims are true. It builds such a document: it tries one kind of value
//! after the other, one alternative after the other, and inside lists and objects one value after the other. If every
//! way ends in a contradiction, there is no such document.
//!
//! A schema that refers to itself leads to the same question again, for a value further inside. There the answer is
//! `Nothing`: if a document needed a smaller document of the same sort inside, the smaller document would be an answer
//! itself.

use super::claims::{
    ARRAY, BOOLEAN, BoundSide, Claim, ClaimNode, Claims, EACH_KIND, FALSE, Fact, Kinds, NULL, OBJECT, STRING, include,
    kind_of,
};
use super::holds::ClaimChecker;
use super::patterns::CompiledPatterns;
use serde_json::Value;
use std::rc::Rc;

/// How deep questions may be nested, in values and in alternatives.
const MAX_DEPTH: usize = 120;

#[derive(Clone, Debug)]
pub enum SearchAnswer {
    Document(Rc<Value>),
    /// It is proved that there is no such document.
    Nothing,
    Unknown,
}

/// The answers for several ways to the same goal, tried one after the other.
pub struct TriedWays {
    told: bool,
}

impl TriedWays {
    pub fn new() -> Self {
        Self { told: true }
    }

    /// The document that this way led to, if any. Then no other way need be tried.
    pub fn document(&mut self, answer: SearchAnswer) -> Option<Rc<Value>> {
        match answer {
            SearchAnswer::Document(document) => return Some(document),
            SearchAnswer::Nothing => {}
            SearchAnswer::Unknown => self.told = false,
        }
        None
    }

    pub fn doubt(&mut self) {
        self.told = false;
    }

    /// The answer if no way led to a document.
    pub fn exhausted(&self) -> SearchAnswer {
        if self.told { SearchAnswer::Nothing } else { SearchAnswer::Unknown }
    }
}

pub struct DocumentSearch {
    pub claims: Claims,
    pub patterns: CompiledPatterns,
    /// How many steps are left.
    pub steps: usize,
    /// Answers, by the number of the claim.
    known: Vec<Option<SearchAnswer>>,
    /// The questions that are being answered. `relied_on` is the first of them on which an answer has relied since
    /// then.
    underway: Vec<Claim>,
    relied_on: usize,
    depth: usize,
}

/// One way in which all claims may be true of a value of one kind.
#[derive(Clone)]
struct SearchBranch {
    kind: Kinds,
    /// All claims of this branch, sorted.
    claimed: Vec<Claim>,
    facts: Vec<Claim>,
    /// Denied "all of" claims: at least one part of each must be false.
    choices: Vec<Claim>,
}

impl SearchBranch {
    fn claims(&self, claim: Claim) -> bool {
        self.claimed.binary_search(&claim).is_ok()
    }
}

impl DocumentSearch {
    pub fn new(claims: Claims, steps: usize) -> Self {
        Self {
            claims,
            patterns: CompiledPatterns::default(),
            steps,
            known: Vec::new(),
            underway: Vec::new(),
            relied_on: usize::MAX,
            depth: 0,
        }
    }

    /// Finds a document for which all the claims are true.
    pub fn find(&mut self, goal: &[Claim]) -> SearchAnswer {
        let goal = self.claims.all(goal);
        if goal == FALSE {
            return SearchAnswer::Nothing;
        }
        if let Some(Some(answer)) = self.known.get(goal.number()) {
            return answer.clone();
        }
        if let Some(index) = self.underway.iter().position(|it| *it == goal) {
            self.relied_on = self.relied_on.min(index);
            return SearchAnswer::Nothing;
        }
        if !self.spend(1) || self.depth >= MAX_DEPTH {
            return SearchAnswer::Unknown;
        }
        let own = self.underway.len();
        let before = std::mem::replace(&mut self.relied_on, usize::MAX);
        self.underway.push(goal);
        self.depth += 1;
        let answer = self.each_kind(goal);
        self.depth -= 1;
        self.underway.pop();
        // An answer that relied on an open question is not stored, because that question may be answered otherwise.
        if self.relied_on >= own || matches!(answer, SearchAnswer::Document(_)) {
            if self.known.len() <= goal.number() {
                self.known.resize(goal.number() + 1, None);
            }
            self.known[goal.number()] = Some(answer.clone());
        }
        if self.relied_on >= own {
            self.relied_on = usize::MAX;
        }
        self.relied_on = self.relied_on.min(before);
        answer
    }

    pub fn holds(&mut self, claim: Claim, document: &Value) -> Option<bool> {
        ClaimChecker { claims: &self.claims, patterns: &mut self.patterns, steps: &mut self.steps }
            .holds(claim, document)
    }

    pub fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(steps);
        self.steps > 0
    }

    fn each_kind(&mut self, goal: Claim) -> SearchAnswer {
        let mut ways = TriedWays::new();
        for kind in EACH_KIND {
            let mut branch = SearchBranch { kind, claimed: Vec::new(), facts: Vec::new(), choices: Vec::new() };
            if self.claim(&mut branch, goal) {
                let answer = self.explore(branch);
                if let Some(document) = ways.document(answer) {
                    return SearchAnswer::Document(document);
                }
            }
        }
        ways.exhausted()
    }

    /// Adds a claim to a branch. Returns false if the claim contradicts the others.
    fn claim(&mut self, branch: &mut SearchBranch, claim: Claim) -> bool {
        if self.claims.may(claim) & branch.kind == 0 || branch.claims(!claim) {
            return false;
        }
        if self.claims.must(claim) & branch.kind != 0 || !include(&mut branch.claimed, claim) {
            return true;
        }
        let node = self.claims.node(claim).clone();
        match &*node {
            ClaimNode::All(parts) if !claim.is_denied() => {
                self.spend(parts.len() / 8);
                parts.iter().all(|it| self.claim(branch, *it))
            }
            ClaimNode::All(_) => {
                branch.choices.push(claim);
                true
            }
            ClaimNode::Schema(_) => self.claim(branch, self.claims.meaning(claim)),
            // A list or object that must differ from a value differs in one of its parts.
            ClaimNode::Fact(Fact::OneOf(values)) if claim.is_denied() && branch.kind & (ARRAY | OBJECT) != 0 => {
                let kind = branch.kind;
                values.iter().filter(|it| kind_of(it) == kind).all(|value| {
                    let spelled = self.spelled(value);
                    self.claim(branch, !spelled)
                })
            }
            ClaimNode::Fact(_) => {
                branch.facts.push(claim);
                true
            }
        }
    }

    /// The claim that a value is this list or object, spelled out part by part.
    fn spelled(&mut self, value: &Value) -> Claim {
        let mut parts = Vec::new();
        match value {
            Value::Array(items) => {
                let limit = items.len() as u64;
                parts.push(self.claims.fact(Fact::Size { of: ARRAY, side: BoundSide::Least, limit }));
                parts.push(self.claims.fact(Fact::Size { of: ARRAY, side: BoundSide::Most, limit }));
                for (index, item) in items.iter().enumerate() {
                    let equal = self.claims.one_of(std::slice::from_ref(item));
                    parts.push(self.claims.fact(Fact::Item(index, equal)));
                }
            }
            Value::Object(fields) => {
                let mut names = Vec::new();
                for (name, field) in fields {
                    include(&mut names, name.clone());
                    let equal = self.claims.one_of(std::slice::from_ref(field));
                    parts.push(self.claims.fact(Fact::Required(name.clone())));
                    parts.push(self.claims.fact(Fact::Field(name.clone(), equal)));
                }
                parts.push(self.claims.fact(Fact::Others { names, patterns: Vec::new(), claim: FALSE }));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        self.claims.all(&parts)
    }

    fn explore(&mut self, mut branch: SearchBranch) -> SearchAnswer {
        if !self.spend(1 + (branch.facts.len() + branch.choices.len()) / 4) || self.depth >= MAX_DEPTH {
            return SearchAnswer::Unknown;
        }
        if !self.settle(&mut branch) || self.clash(&branch) {
            return SearchAnswer::Nothing;
        }
        if let Some(values) = self.few_values(&branch) {
            return self.try_each(&branch, values);
        }
        if branch.choices.is_empty() {
            return self.build(&branch);
        }
        let choice = branch.choices.remove(0);
        let mut ways = TriedWays::new();
        self.depth += 1;
        for alternative in self.alternatives(&branch, choice).unwrap_or_default() {
            let mut branch = branch.clone();
            if self.claim(&mut branch, alternative) {
                let answer = self.explore(branch);
                if let Some(document) = ways.document(answer) {
                    self.depth -= 1;
                    return SearchAnswer::Document(document);
                }
            }
        }
        self.depth -= 1;
        ways.exhausted()
    }

    /// Makes the choices with only one alternative, and drops the choices that are made already. Returns false if a
    /// choice has no alternative left.
    fn settle(&mut self, branch: &mut SearchBranch) -> bool {
        let mut index = 0;
        while index < branch.choices.len() {
            match self.alternatives(branch, branch.choices[index]).as_deref() {
                Some([]) => return false,
                Some([only]) => {
                    branch.choices.remove(index);
                    if !self.claim(branch, *only) {
                        return false;
                    }
                    index = 0;
                }
                Some(ways) => {
                    let made = branch.choices.len() > 1 && ways.iter().any(|it| self.follows(branch, *it));
                    if made {
                        branch.choices.remove(index);
                    } else {
                        index += 1;
                    }
                }
                None => {
                    branch.choices.remove(index);
                }
            }
        }
        true
    }

    /// The alternatives that are left for a choice. None if the choice is made already.
    fn alternatives(&mut self, branch: &SearchBranch, choice: Claim) -> Option<Vec<Claim>> {
        let node = self.claims.node(choice).clone();
        let ClaimNode::All(parts) = &*node else { return None };
        self.spend(parts.len() / 8);
        let mut left = Vec::new();
        for part in parts {
            let way = !*part;
            if self.claims.must(way) & branch.kind != 0 || branch.claims(way) {
                return None;
            }
            if self.claims.may(way) & branch.kind != 0 && !branch.claims(*part) {
                left.push(way);
            }
        }
        Some(left)
    }

    /// Whether a denied claim about a field follows from the other claims about this field. So the alternatives that a
    /// field such as `kind` tells apart are not tried one by one.
    fn follows(&mut self, branch: &SearchBranch, claim: Claim) -> bool {
        let node = self.claims.node(claim).clone();
        let ClaimNode::Fact(Fact::Field(name, denied)) = &*node else { return false };
        if !claim.is_denied() {
            return false;
        }
        let required = self.claims.fact(Fact::Required(name.clone()));
        if !branch.claims(required) {
            return false;
        }
        let mut goal = vec![*denied];
        for fact in &branch.facts {
            match self.claims.as_fact(*fact) {
                Some(Fact::Field(it, claim)) if it == name && !fact.is_denied() => goal.push(*claim),
                _ => {}
            }
        }
        goal.len() > 1 && matches!(self.find(&goal), SearchAnswer::Nothing)
    }

    /// Whether the bounds leave no value. This is checked before all alternatives are tried.
    fn clash(&self, branch: &SearchBranch) -> bool {
        if branch.kind & (STRING | ARRAY | OBJECT) != 0 {
            let (least, most) = self.sizes(&branch.facts);
            return least > most;
        }
        self.range(&branch.facts).is_empty()
    }

    /// The least and the greatest size that the facts allow.
    pub fn sizes(&self, facts: &[Claim]) -> (u64, u64) {
        let (mut least, mut most) = (0, u64::MAX);
        for claim in facts {
            if let Some(Fact::Size { side, limit, .. }) = self.claims.as_fact(*claim) {
                match (side, claim.is_denied()) {
                    (BoundSide::Least, false) => least = least.max(*limit),
                    (BoundSide::Most, true) => least = least.max(limit.saturating_add(1)),
                    (BoundSide::Most, false) => most = most.min(*limit),
                    (BoundSide::Least, true) => most = most.min(limit.saturating_sub(1)),
                }
            }
        }
        (least, most)
    }

    /// All values that are possible, if they are few.
    fn few_values(&self, branch: &SearchBranch) -> Option<Vec<Value>> {
        match branch.kind {
            NULL => return Some(vec![Value::Null]),
            BOOLEAN => return Some(vec![Value::Bool(false), Value::Bool(true)]),
            _ => {}
        }
        branch.facts.iter().find_map(|claim| match self.claims.as_fact(*claim) {
            Some(Fact::OneOf(values)) if !claim.is_denied() => {
                Some(values.iter().filter(|it| kind_of(it) == branch.kind).cloned().collect())
            }
            _ => None,
        })
    }

    fn try_each(&mut self, branch: &SearchBranch, values: Vec<Value>) -> SearchAnswer {
        let mut ways = TriedWays::new();
        let mut claims = branch.facts.clone();
        claims.extend_from_slice(&branch.choices);
        for value in values {
            match self.fits(&claims, &value) {
                Some(true) => return SearchAnswer::Document(Rc::new(value)),
                Some(false) => {}
                None => ways.doubt(),
            }
        }
        ways.exhausted()
    }

    /// Whether all the claims are true of a document. None if that cannot be decided.
    pub fn fits(&mut self, claims: &[Claim], document: &Value) -> Option<bool> {
        let mut told = Some(true);
        for claim in claims {
            match self.holds(*claim, document) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => told = None,
            }
        }
        told
    }

    /// Builds a value from facts, when no choice is left.
    fn build(&mut self, branch: &SearchBranch) -> SearchAnswer {
        let answer = match branch.kind {
            STRING => self.text(&branch.facts),
            ARRAY => self.list(&branch.facts),
            OBJECT => self.object(&branch.facts),
            kind => self.number(kind, &branch.facts),
        };
        match answer {
            SearchAnswer::Document(document) if self.fits(&branch.facts, &document) != Some(true) => {
                SearchAnswer::Unknown
            }
            answer => answer,
        }
    }
}
