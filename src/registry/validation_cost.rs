//! How many steps it takes to check a document against a schema, counted before the check.
//!
//! The bounds at registration limit what a schema does with one value. A schema that refers to itself applies to the
//! values inside too, and may apply to each of them several times. So the steps depend on the document, and a document
//! that would take too many is refused.
//!
//! A step is the application of one keyword to one value, about a tenth of a microsecond. The count is an upper bound: it
//! assumes that every part of the schema applies. `jsonschema` remembers whether a value fits the target of a reference
//! if finding out took 16 references or more. So a target counts once for each value, and from then on as much as 16
//! references may take. The library remembers nothing while it collects errors, so errors are counted by themselves.

use super::bounded_pattern::NamePatterns;
use super::subschemas::{self, ReferenceTargets, Subschema};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// The most steps of one check: about a second.
pub const MAX_STEPS: u32 = 10_000_000;

/// How many values are remembered with a target of a reference. Each takes some 40 bytes.
const MAX_REMEMBERED: usize = 450_000;

/// Documents with fewer steps than this, by a rough estimate, are not counted: counting would take longer than the check.
const FEW_STEPS: u64 = 500_000;

/// How many targets of references `jsonschema` applies, before it remembers whether the value fits.
const VISITS: u32 = 16;

/// How many bytes of a text count as a value.
const TEXT_BYTES: usize = 64;

/// How much of a pattern's work is a step: bytes of the name times bytes of the compiled pattern.
const PATTERN_WORK: u64 = 1_000;

/// How many levels a document may have. `uniqueItems` looks at all levels below its value.
const LEVELS: u64 = 128;

/// Keywords that are lists or values to compare with.
const COMPARED: [&str; 5] = ["enum", "const", "required", "dependentRequired", "type"];

/// What a schema costs, as far as the schema alone tells.
pub struct SchemaCost {
    /// The most steps for a document, divided by its size.
    steps_per_value: u64,
    /// The schema in a form that is quick to walk, once a document needs it.
    nodes: OnceCell<Vec<Node>>,
}

impl SchemaCost {
    pub fn of(definition: &Value) -> Self {
        let mut estimates = Estimates(HashMap::new());
        let mut steps = estimates.of(definition).0;
        let targets = ReferenceTargets::of(definition);
        let mut seen = HashSet::new();
        subschemas::for_each(definition, &mut String::new(), &mut |keywords, _| {
            for target in targets.of_schema(keywords) {
                if seen.insert(std::ptr::from_ref(target)) {
                    steps = steps.saturating_add(estimates.of(target).0);
                }
            }
        });
        Self { steps_per_value: steps, nodes: OnceCell::new() }
    }

    /// Whether a document surely takes few steps.
    pub fn is_low_for(&self, document: &Value) -> bool {
        size(document).saturating_mul(self.steps_per_value) <= FEW_STEPS
    }

    /// Counts the steps of checking a document.
    pub fn count(&self, definition: &Value, names: &NamePatterns, document: &Value) -> CheckSteps {
        let nodes = self.nodes.get_or_init(|| NodeBuilder::build(definition, names));
        let mut counter = StepCounter { nodes, known: HashMap::default(), counted: 0 };
        counter.apply(ROOT, document)
    }
}

/// For each schema: the steps of applying the schema and all of its parts once, and the steps of marking what the schema
/// has evaluated. Targets of references are left out.
struct Estimates(HashMap<*const Value, (u64, u64)>);

impl Estimates {
    fn of(&mut self, schema: &Value) -> (u64, u64) {
        let Some(keywords) = schema.as_object() else { return (1, 0) };
        if let Some(known) = self.0.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        let (mut steps, mut marking) = (weight(keywords), 1_u64);
        for Subschema { schema, .. } in subschemas::same(keywords) {
            let (part, part_marking) = self.of(schema);
            steps = steps.saturating_add(part);
            marking = marking.saturating_add(part).saturating_add(part_marking);
        }
        for Subschema { schema, .. } in subschemas::inside(keywords) {
            let (part, _) = self.of(schema);
            steps = steps.saturating_add(part);
            marking = marking.saturating_add(part);
        }
        if has_unevaluated(keywords) {
            steps = steps.saturating_add(marking);
        }
        self.0.insert(schema, (steps, marking));
        (steps, marking)
    }
}

fn has_unevaluated(keywords: &Map<String, Value>) -> bool {
    keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems")
}

/// The steps of a schema's own keywords, for a value of the size 1.
fn weight(keywords: &Map<String, Value>) -> u64 {
    let compared = COMPARED.iter().filter_map(|it| keywords.get(*it)).map(size).sum::<u64>();
    let named = ["properties", "patternProperties"].iter().filter_map(|it| keywords.get(*it)?.as_object());
    let references =
        if keywords.contains_key("$ref") || keywords.contains_key("$dynamicRef") { VISITS.into() } else { 0 };
    let unique = if is_unique(keywords) { LEVELS } else { 0 };
    1 + keywords.len() as u64 + compared + named.map(|it| it.len() as u64).sum::<u64>() + references + unique
}

fn is_unique(keywords: &Map<String, Value>) -> bool {
    keywords.get("uniqueItems") == Some(&Value::Bool(true))
}

/// The number of values in a document, where a long text counts as several.
fn size(document: &Value) -> u64 {
    1 + match document {
        Value::Object(fields) => fields.iter().map(|(name, it)| text_size(name) + size(it)).sum(),
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::String(text) => text_size(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn text_size(text: &str) -> u64 {
    (text.len() / TEXT_BYTES) as u64
}

/// The steps of one check. The numbers end at the highest `u32`, which is more than any check may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckSteps {
    /// The steps until it is known whether the document fits.
    pub fits: u32,
    /// The same, once the targets of references are remembered.
    again: u32,
    /// The steps of marking the properties and elements that the schema has evaluated.
    marking: u32,
    /// The steps of collecting all errors.
    pub errors: u32,
    /// How many of these steps may each leave an error in memory until the first error is known: errors of the forms in
    /// `anyOf` and `oneOf`.
    pub kept: u32,
    /// The steps up to the targets of references.
    local: u32,
    /// The most of these steps for any target that was applied.
    heaviest: u32,
}

impl CheckSteps {
    const TOO_MANY: Self = Self {
        fits: u32::MAX,
        again: u32::MAX,
        marking: u32::MAX,
        errors: u32::MAX,
        kept: u32::MAX,
        local: u32::MAX,
        heaviest: u32::MAX,
    };

    fn of(steps: u32) -> Self {
        Self { fits: steps, again: steps, marking: 1, errors: steps, kept: 0, local: steps, heaviest: 0 }
    }

    fn add(&mut self, part: Self, is_form: bool) {
        self.fits = self.fits.saturating_add(part.fits);
        self.again = self.again.saturating_add(part.again);
        self.errors = self.errors.saturating_add(part.errors);
        self.local = self.local.saturating_add(part.local);
        self.heaviest = self.heaviest.max(part.heaviest);
        if is_form {
            self.errors = self.errors.saturating_add(part.again);
            self.kept = self.kept.saturating_add(part.errors);
        } else {
            self.kept = self.kept.saturating_add(part.kept);
        }
    }

    fn mark(&mut self, steps: u32) {
        self.marking = self.marking.saturating_add(steps);
    }
}

/// The place of a schema among the nodes.
type NodeId = u32;

const ROOT: NodeId = 0;

/// One schema, with the places of its parts.
#[derive(Default)]
struct Node {
    weight: u32,
    is_unique: bool,
    has_unevaluated: bool,
    /// The parts about the same value, and whether each is a form in `anyOf` or `oneOf`.
    same: Vec<(NodeId, bool)>,
    targets: Vec<NodeId>,
    properties: HashMap<String, NodeId>,
    patterns: Vec<NodeId>,
    /// The bytes of all compiled patterns for names.
    pattern_bytes: u64,
    additional: Option<NodeId>,
    unevaluated_properties: Option<NodeId>,
    names: Option<NodeId>,
    prefix: Vec<NodeId>,
    /// The parts about the elements after the prefix.
    items: Vec<NodeId>,
    unevaluated_items: Option<NodeId>,
    contains: Option<NodeId>,
}

struct NodeBuilder<'a> {
    targets: ReferenceTargets<'a>,
    names: &'a NamePatterns,
    nodes: Vec<Node>,
    known: HashMap<*const Value, NodeId>,
    /// Schemas that have a place, but no node yet.
    open: Vec<(NodeId, &'a Value)>,
}

impl<'a> NodeBuilder<'a> {
    fn build(definition: &'a Value, names: &'a NamePatterns) -> Vec<Node> {
        let targets = ReferenceTargets::of(definition);
        let mut builder = Self { targets, names, nodes: Vec::new(), known: HashMap::new(), open: Vec::new() };
        builder.place(definition);
        while let Some((id, schema)) = builder.open.pop() {
            let node = builder.node(schema);
            if let Some(place) = builder.nodes.get_mut(id as usize) {
                *place = node;
            }
        }
        builder.nodes
    }

    fn place(&mut self, schema: &'a Value) -> NodeId {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX);
        self.nodes.push(Node::default());
        self.known.insert(schema, id);
        self.open.push((id, schema));
        id
    }

    fn node(&mut self, schema: &'a Value) -> Node {
        let Some(keywords) = schema.as_object() else { return Node { weight: 1, ..Node::default() } };
        let mut node = Node {
            weight: u32::try_from(weight(keywords)).unwrap_or(u32::MAX),
            is_unique: is_unique(keywords),
            has_unevaluated: has_unevaluated(keywords),
            ..Node::default()
        };
        for Subschema { keyword, schema } in subschemas::same(keywords) {
            node.same.push((self.place(schema), matches!(keyword, "anyOf" | "oneOf")));
        }
        node.targets = self.targets.of_schema(keywords).into_iter().map(|it| self.place(it)).collect();
        let map = |keyword: &str| keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
        node.properties = map("properties").map(|(name, it)| (name.clone(), self.place(it))).collect();
        node.pattern_bytes = map("patternProperties").map(|(pattern, _)| self.names.bytes_of(pattern)).sum();
        node.patterns = map("patternProperties").map(|(_, it)| self.place(it)).collect();
        let mut single = |keyword: &str| keywords.get(keyword).filter(|it| !it.is_array()).map(|it| self.place(it));
        node.additional = single("additionalProperties");
        node.unevaluated_properties = single("unevaluatedProperties");
        node.names = single("propertyNames");
        node.unevaluated_items = single("unevaluatedItems");
        node.contains = single("contains");
        node.items = ["items", "additionalItems"].into_iter().filter_map(single).collect();
        let prefix = ["prefixItems", "items"].iter().find_map(|it| keywords.get(*it)?.as_array());
        node.prefix = prefix.into_iter().flatten().map(|it| self.place(it)).collect();
        node
    }
}

/// Hashes places and addresses, which need no protection against chosen collisions.
#[derive(Default)]
struct PlaceHasher(u64);

impl Hasher for PlaceHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|it| self.write_u64((*it).into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95).rotate_left(20);
    }
}

struct StepCounter<'a> {
    nodes: &'a [Node],
    /// The steps of targets of references, by target and value. None while they are being counted.
    known: HashMap<(NodeId, usize), Option<CheckSteps>, BuildHasherDefault<PlaceHasher>>,
    /// How many steps were counted so far. Counting ends when there are too many.
    counted: u32,
}

impl<'a> StepCounter<'a> {
    fn is_over(&self) -> bool {
        self.counted > MAX_STEPS || self.known.len() > MAX_REMEMBERED
    }

    fn apply(&mut self, id: NodeId, value: &Value) -> CheckSteps {
        let Some(node) = self.nodes.get(id as usize).filter(|_| !self.is_over()) else { return CheckSteps::TOO_MANY };
        let mut sum = CheckSteps::of(own_steps(node, value));
        self.counted = self.counted.saturating_add(sum.fits);
        for (part, is_form) in &node.same {
            let part = self.apply(*part, value);
            sum.add(part, *is_form);
            sum.mark(part.again.saturating_add(part.marking));
        }
        for target in &node.targets {
            let part = self.refer(*target, value);
            sum.add(part, false);
            sum.mark(part.marking);
        }
        match value {
            Value::Object(fields) => self.fields(node, fields, &mut sum),
            Value::Array(elements) => self.elements(node, elements, &mut sum),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        if node.has_unevaluated {
            sum.mark(children(value));
            for steps in [&mut sum.fits, &mut sum.again, &mut sum.errors, &mut sum.local] {
                *steps = steps.saturating_add(sum.marking);
            }
        }
        sum
    }

    /// Applies the target of a reference.
    fn refer(&mut self, target: NodeId, value: &Value) -> CheckSteps {
        let key = (target, std::ptr::from_ref(value) as usize);
        match self.known.get(&key) {
            Some(Some(known)) => return CheckSteps { fits: known.again, ..*known },
            // The library ends a circle about one value here, too.
            Some(None) => return CheckSteps::of(1),
            None => _ = self.known.insert(key, None),
        }
        let mut steps = self.apply(target, value);
        steps.heaviest = steps.heaviest.max(steps.local);
        steps.local = 1;
        let again = steps.again.min(steps.heaviest.saturating_mul(VISITS));
        self.known.insert(key, Some(CheckSteps { again, ..steps }));
        steps
    }

    fn fields(&mut self, node: &'a Node, fields: &Map<String, Value>, sum: &mut CheckSteps) {
        for (name, field) in fields {
            if self.is_over() {
                *sum = CheckSteps::TOO_MANY;
                return;
            }
            let own = node.properties.get(name);
            for part in own.into_iter().chain(&node.patterns) {
                sum.add(self.apply(*part, field), false);
            }
            if own.is_none() {
                if let Some(part) = node.additional {
                    sum.add(self.apply(part, field), false);
                }
                if let Some(part) = node.unevaluated_properties {
                    self.add_marked(part, field, sum);
                }
            }
            if let Some(part) = node.names {
                let name = Value::from(name.as_str());
                let before = self.known.len();
                sum.add(self.apply(part, &name), false);
                if self.known.len() > before {
                    // The address of this text will be used again for another text.
                    let address = std::ptr::from_ref(&name) as usize;
                    self.known.retain(|(_, it), _| *it != address);
                }
            }
        }
    }

    fn elements(&mut self, node: &'a Node, elements: &[Value], sum: &mut CheckSteps) {
        for (index, element) in elements.iter().enumerate() {
            if self.is_over() {
                *sum = CheckSteps::TOO_MANY;
                return;
            }
            match node.prefix.get(index) {
                Some(part) => sum.add(self.apply(*part, element), false),
                None => {
                    for part in &node.items {
                        sum.add(self.apply(*part, element), false);
                    }
                    if let Some(part) = node.unevaluated_items {
                        self.add_marked(part, element, sum);
                    }
                }
            }
            if let Some(part) = node.contains {
                self.add_marked(part, element, sum);
            }
        }
    }

    /// Adds a part that is applied once more when the schema marks what it has evaluated.
    fn add_marked(&mut self, part: NodeId, value: &Value, sum: &mut CheckSteps) {
        let part = self.apply(part, value);
        sum.add(part, false);
        sum.mark(part.again);
    }
}

/// The steps of the schema's own keywords.
fn own_steps(node: &Node, value: &Value) -> u32 {
    let more = match value {
        Value::String(text) => text_size(text),
        Value::Array(elements) if node.is_unique => elements.len() as u64 + size(value),
        Value::Array(elements) => elements.len() as u64,
        Value::Object(fields) if node.pattern_bytes > 0 => {
            let names = fields.keys().map(|it| it.len() as u64).sum::<u64>();
            (fields.len() as u64).saturating_add(names.saturating_mul(node.pattern_bytes) / PATTERN_WORK)
        }
        Value::Object(fields) => fields.len() as u64,
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    u32::try_from(more).unwrap_or(u32::MAX).saturating_add(node.weight)
}

fn children(value: &Value) -> u32 {
    let count = match value {
        Value::Object(fields) => fields.len(),
        Value::Array(elements) => elements.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn steps(definition: &Value, document: &Value) -> CheckSteps {
        SchemaCost::of(definition).count(definition, &NamePatterns::of(definition), document)
    }

    #[test]
    fn steps_grow_with_the_document() {
        let definition = json!({"properties": {"rows": {"items": {"$ref": "#/$defs/row"}}},
            "$defs": {"row": {"properties": {"x": {"type": "number"}}}}});
        let of = |rows: usize| steps(&definition, &json!({"rows": vec![json!({"x": 1}); rows]})).fits;
        let (few, many) = (of(100), of(1_000));
        assert!((few * 9..few * 11).contains(&many), "{few} and {many}");
    }

    #[test]
    fn a_value_that_is_described_twice_counts_twice_and_not_a_power_of_it() {
        let definition = json!({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
        let deep = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
        let (few, many) = (steps(&definition, &deep(10)), steps(&definition, &deep(100)));
        assert!(many.fits < few.fits.saturating_mul(40), "{few:?} and {many:?}");
        assert_eq!(many.errors, u32::MAX, "errors are collected once for each way to a value");
    }

    #[test]
    fn a_small_document_is_not_counted() {
        let definition = json!({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"enum": vec![1; 100]}}}});
        let cost = SchemaCost::of(&definition);
        assert!(cost.is_low_for(&json!(vec![1; 100])) && !cost.is_low_for(&json!(vec![1; 100_000])));
    }
}
