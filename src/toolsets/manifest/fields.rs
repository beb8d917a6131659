//! Reads the fields of a manifest's objects strictly: unknown fields, fields that come twice under two names, and wrong
//! types are faults with their line and JSON pointer.

use super::places::note;
use crate::error::{BundleNote, escaped, shortened};
use crate::ids::check_name;
use crate::nearest::{did_you_mean, nearest};
use crate::text_enum::TextEnum;
use crate::upstreams::has_hidden;
use crate::yaml::Node;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

/// How many faults are kept. Nobody reads more, and a hostile manifest could have a hundred thousand.
const MAX_FAULTS: usize = 1_000;

/// How many faults may suggest a name. Comparing names takes time, and no response shows more faults.
const MAX_SUGGESTED: usize = 100;

/// The faults that have been found.
pub struct Faults<'a> {
    file: &'a str,
    notes: Vec<BundleNote>,
}

impl<'a> Faults<'a> {
    pub fn new(file: &'a str) -> Self {
        Self { file, notes: Vec::new() }
    }

    /// The faults in the order of their lines.
    pub fn into_notes(mut self) -> Vec<BundleNote> {
        self.notes.sort_by_key(|it| it.line);
        self.notes
    }

    /// A sentence that suggests the known name that is meant, for the faults that are shown.
    pub fn suggest<'n>(&self, sought: &str, known: impl IntoIterator<Item = &'n str>) -> String {
        let near = if self.notes.len() < MAX_SUGGESTED { nearest(sought, known) } else { None };
        did_you_mean(near)
    }

    fn is_full(&self) -> bool {
        self.notes.len() >= MAX_FAULTS
    }

    fn add(&mut self, line: u32, pointer: &str, message: impl Into<String>) {
        if !self.is_full() {
            self.notes.push(note(self.file, line, pointer, message));
        }
    }
}

/// A value of the manifest, with its JSON pointer.
#[derive(Clone)]
pub struct Spot<'a> {
    pub node: Node<'a>,
    pub pointer: String,
}

impl<'a> Spot<'a> {
    pub fn value(&self) -> &'a Value {
        self.node.value()
    }

    /// Adds a fault of this value.
    pub fn refuse(&self, message: impl Into<String>, faults: &mut Faults<'_>) {
        faults.add(self.node.line(), &self.pointer, message);
    }

    /// Adds a fault of a part of this value that is known by its pointer inside of the value.
    pub fn refuse_inner(&self, inner: &str, message: impl Into<String>, faults: &mut Faults<'_>) {
        let mut line = self.node.line();
        let mut node = self.node;
        for step in inner.split('/').skip(1) {
            let item = step.parse::<usize>().ok().and_then(|index| node.items().nth(index));
            let Some(part) = item.or_else(|| node.fields().find(|(name, _)| escaped(name) == step).map(|it| it.1))
            else {
                break;
            };
            (line, node) = (part.line(), part);
        }
        faults.add(line, &format!("{}{inner}", self.pointer), message);
    }

    pub fn text(&self, faults: &mut Faults<'_>) -> Option<&'a str> {
        match self.value() {
            Value::String(text) => return Some(text),
            Value::Number(_) => self.refuse("is a number and must be a text: write it in quotes", faults),
            Value::Bool(flag) => self.refuse(format!("is {flag} and must be a text: write it in quotes"), faults),
            other => self.refuse(format!("must be a text, not {}", kind(other)), faults),
        }
        None
    }

    /// A text for people, of one line.
    pub fn name(&self, faults: &mut Faults<'_>) -> Option<String> {
        let text = self.text(faults)?;
        if let Err(message) = check_name(text) {
            self.refuse(message, faults);
            return None;
        }
        self.seen(text, faults)
    }

    /// A text for people, of several lines.
    pub fn description(&self, max_chars: usize, faults: &mut Faults<'_>) -> Option<String> {
        let text = self.text(faults)?;
        let chars = text.chars().count();
        if chars > max_chars {
            self.refuse(format!("has {chars} characters; {max_chars} are allowed"), faults);
            return None;
        }
        self.seen(text, faults)
    }

    /// A text that people see whole. Models read hidden characters too, and an admin could not.
    fn seen(&self, text: &str, faults: &mut Faults<'_>) -> Option<String> {
        if has_hidden(text) {
            self.refuse("must hold no control, bidirectional or tag characters", faults);
            return None;
        }
        Some(text.to_owned())
    }

    pub fn flag(&self, faults: &mut Faults<'_>) -> Option<bool> {
        const OLD: [&str; 6] = ["yes", "no", "on", "off", "y", "n"];
        let is_one_of = |words: &[&str], text: &str| words.iter().any(|it| it.eq_ignore_ascii_case(text));
        match self.value() {
            Value::Bool(flag) => return Some(*flag),
            Value::String(text) if is_one_of(&OLD, text) => {
                self.refuse(format!("{text} is a text in YAML 1.2: write true or false"), faults);
            }
            Value::String(text) if is_one_of(&["true", "false"], text) => {
                self.refuse("is a text: write true or false without quotes", faults);
            }
            other => self.refuse(format!("must be true or false, not {}", kind(other)), faults),
        }
        None
    }

    pub fn whole(&self, range: RangeInclusive<u32>, faults: &mut Faults<'_>) -> Option<u32> {
        let number = self.value().as_u64().and_then(|it| u32::try_from(it).ok()).filter(|it| range.contains(it));
        if number.is_none() {
            let (first, last) = range.into_inner();
            self.refuse(format!("must be a whole number from {first} to {last}"), faults);
        }
        number
    }

    pub fn word<T: TextEnum>(&self, faults: &mut Faults<'_>) -> Option<T> {
        self.word_of(&[], faults)
    }

    /// One of the words of a type, or another word for one of them.
    pub fn word_of<T: TextEnum>(&self, others: &[(&str, T)], faults: &mut Faults<'_>) -> Option<T> {
        let text = self.text(faults)?;
        let word = T::parse(text).or_else(|| others.iter().find(|(word, _)| *word == text).map(|(_, it)| *it));
        if word.is_none() {
            let words = T::ALL.iter().map(|it| it.word()).collect::<Vec<_>>();
            let meant = faults.suggest(text, words.iter().copied());
            self.refuse(format!("must be one of {}{meant}", words.join(", ")), faults);
        }
        word
    }

    pub fn object(&self, faults: &mut Faults<'_>) -> Option<&'a Map<String, Value>> {
        let object = self.value().as_object();
        if object.is_none() {
            self.refuse(format!("must be an object, not {}", kind(self.value())), faults);
        }
        object
    }

    /// The elements of a list: at most `max` of them, and a fault if there are more.
    pub fn items(&self, max: usize, faults: &mut Faults<'_>) -> Vec<Self> {
        let Some(items) = self.value().as_array() else {
            self.refuse(format!("must be a list, not {}", kind(self.value())), faults);
            return Vec::new();
        };
        if items.len() > max {
            self.refuse(format!("holds {} entries; {max} are allowed", items.len()), faults);
        }
        let spot = |(index, node)| Self { node, pointer: format!("{}/{index}", self.pointer) };
        self.node.items().take(max).enumerate().map(spot).collect()
    }

    pub fn texts(&self, max: usize, faults: &mut Faults<'_>) -> Vec<String> {
        self.items(max, faults).iter().filter_map(|it| it.text(faults)).map(str::to_owned).collect()
    }

    /// An object whose values are texts.
    pub fn text_map(&self, max: usize, faults: &mut Faults<'_>) -> BTreeMap<String, String> {
        let count = self.object(faults).map_or(0, Map::len);
        if count > max {
            self.refuse(format!("holds {count} entries; {max} are allowed"), faults);
        }
        let mut texts = BTreeMap::new();
        for (name, node) in self.node.fields().take(max) {
            if let Some(text) = self.inner(name, node).text(faults) {
                texts.insert(name.to_owned(), text.to_owned());
            }
        }
        texts
    }

    fn inner(&self, name: &str, node: Node<'a>) -> Self {
        Self { node, pointer: format!("{}/{}", self.pointer, escaped(name)) }
    }
}

/// What a value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What an object may hold.
pub struct Shape {
    /// What the object is, such as `a tool`.
    pub noun: &'static str,
    pub fields: &'static [&'static str],
    /// Other names of fields, and the fields that they name.
    pub aliases: &'static [(&'static str, &'static str)],
}

impl Shape {
    /// The field that a key names, in snake case or in camel case.
    fn field(&self, key: &str) -> Option<&'static str> {
        let name = snake(key);
        let alias = || self.aliases.iter().find(|(alias, _)| *alias == name).map(|(_, field)| *field);
        self.fields.iter().copied().find(|it| *it == name).or_else(alias)
    }

    fn unknown(&self, key: &str, faults: &Faults<'_>) -> String {
        let names = self.fields.iter().copied().chain(self.aliases.iter().map(|(alias, _)| *alias));
        let meant = faults.suggest(&snake(key), names);
        let all = if meant.is_empty() { format!("; the fields are {}", self.fields.join(", ")) } else { meant };
        format!("is no field of {}{all}", self.noun)
    }
}

/// A key in snake case: `toolId` is `tool_id`.
pub fn snake(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for char in key.chars() {
        if char.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(char.to_ascii_lowercase());
    }
    name
}

/// The known fields of one object.
pub struct Fields<'a> {
    pub spot: Spot<'a>,
    given: HashMap<&'static str, (&'a str, Spot<'a>)>,
}

impl<'a> Fields<'a> {
    /// Reads the keys of an object. None if the value is no object.
    pub fn of(spot: Spot<'a>, shape: &Shape, faults: &mut Faults<'_>) -> Option<Self> {
        if !spot.value().is_object() {
            spot.refuse(format!("must be an object, {}, and not {}", shape.noun, kind(spot.value())), faults);
            return None;
        }
        let mut given: HashMap<_, (&str, Spot<'_>)> = HashMap::new();
        for (key, node) in spot.node.fields() {
            if faults.is_full() {
                break;
            }
            let inner = spot.inner(key, node);
            let Some(field) = shape.field(key) else {
                inner.refuse(shape.unknown(key, faults), faults);
                continue;
            };
            if let Some((other, _)) = given.get(field) {
                inner.refuse(format!("is the same field as {other}: give one of them"), faults);
                continue;
            }
            given.insert(field, (key, inner));
        }
        Some(Self { spot, given })
    }

    /// A field that is given, and is not null.
    pub fn get(&self, field: &str) -> Option<&Spot<'a>> {
        self.given.get(field).map(|(_, spot)| spot).filter(|it| !it.value().is_null())
    }

    /// A field that must be given.
    pub fn required(&self, field: &str, faults: &mut Faults<'_>) -> Option<&Spot<'a>> {
        self.required_such_as(field, "", faults)
    }

    /// A field that must be given. What it may be follows the fault.
    pub fn required_such_as(&self, field: &str, hint: &str, faults: &mut Faults<'_>) -> Option<&Spot<'a>> {
        let found = self.get(field);
        if found.is_none() {
            self.spot.refuse_inner(&format!("/{field}"), format!("is missing{hint}"), faults);
        }
        found
    }

    pub fn text(&self, field: &str, faults: &mut Faults<'_>) -> Option<String> {
        self.get(field)?.text(faults).map(str::to_owned)
    }

    pub fn name(&self, field: &str, faults: &mut Faults<'_>) -> Option<String> {
        self.get(field)?.name(faults)
    }

    pub fn description(&self, field: &str, max_chars: usize, faults: &mut Faults<'_>) -> Option<String> {
        self.get(field)?.description(max_chars, faults)
    }

    pub fn flag(&self, field: &str, faults: &mut Faults<'_>) -> Option<bool> {
        self.get(field)?.flag(faults)
    }

    pub fn whole(&self, field: &str, range: RangeInclusive<u32>, faults: &mut Faults<'_>) -> Option<u32> {
        self.get(field)?.whole(range, faults)
    }

    pub fn word<T: TextEnum>(&self, field: &str, faults: &mut Faults<'_>) -> Option<T> {
        self.get(field)?.word(faults)
    }

    pub fn object(&self, field: &str, faults: &mut Faults<'_>) -> Option<Map<String, Value>> {
        self.get(field)?.object(faults).cloned()
    }

    pub fn items(&self, field: &str, max: usize, faults: &mut Faults<'_>) -> Vec<Spot<'a>> {
        self.get(field).map(|it| it.items(max, faults)).unwrap_or_default()
    }

    pub fn texts(&self, field: &str, max: usize, faults: &mut Faults<'_>) -> Vec<String> {
        self.get(field).map(|it| it.texts(max, faults)).unwrap_or_default()
    }

    pub fn text_map(&self, field: &str, max: usize, faults: &mut Faults<'_>) -> BTreeMap<String, String> {
        self.get(field).map(|it| it.text_map(max, faults)).unwrap_or_default()
    }
}

/// The ids of a list's entries, and where they were given. None may come twice.
#[derive(Default)]
pub struct Ids(pub BTreeMap<String, String>);

impl Ids {
    /// Takes the id that an entry gives at `spot`. Adds a fault if another entry has it already.
    pub fn take(&mut self, id: &str, entry: &Spot<'_>, spot: &Spot<'_>, faults: &mut Faults<'_>) -> bool {
        if let Some(other) = self.0.get(id) {
            spot.refuse(format!("{} comes twice: {other} has it already", shortened(id)), faults);
            return false;
        }
        self.0.insert(id.to_owned(), entry.pointer.clone());
        true
    }
}
