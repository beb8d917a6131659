//! A value that knows the line of each of its parts.

use serde_json::Value;

/// A value that was read, and the places of all values in it.
#[derive(Clone, Debug)]
pub struct Located {
    value: Value,
    /// One place for each value, in the order of the text: a list or an object comes before its parts. A map from paths
    /// to lines would be larger than the text by far if keys are long and nested deep.
    places: Vec<Place>,
}

/// The place of one value.
#[derive(Clone, Debug)]
pub struct Place {
    /// The line of the value's key, or of its beginning if it has no key.
    pub line: u32,
    /// The index of the first place after this value and its parts.
    pub end: usize,
}

impl Located {
    pub fn new(value: Value, places: Vec<Place>) -> Self {
        Self { value, places }
    }

    pub fn into_value(self) -> Value {
        self.value
    }

    /// The whole document.
    pub fn root(&self) -> Node<'_> {
        Node { value: &self.value, places: &self.places, at: 0 }
    }
}

/// One value of a document.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    value: &'a Value,
    places: &'a [Place],
    at: usize,
}

impl<'a> Node<'a> {
    pub fn value(self) -> &'a Value {
        self.value
    }

    /// The line of the value's key, or of its beginning if it has no key.
    pub fn line(self) -> u32 {
        self.places.get(self.at).map_or(1, |it| it.line)
    }

    /// The fields of an object, in their order. None of another value.
    pub fn fields(self) -> impl Iterator<Item = (&'a str, Self)> {
        let fields = self.value.as_object().into_iter().flatten();
        self.parts(fields.map(|(name, value)| (name.as_str(), value)))
    }

    /// The elements of a list. None of another value.
    pub fn items(self) -> impl Iterator<Item = Self> {
        let items = self.value.as_array().into_iter().flatten();
        self.parts(items.map(|value| ((), value))).map(|((), node)| node)
    }

    fn parts<K>(self, parts: impl Iterator<Item = (K, &'a Value)>) -> impl Iterator<Item = (K, Self)> {
        let mut next = self.at + 1;
        parts.map(move |(key, value)| {
            let at = next;
            next = self.places.get(at).map_or(at + 1, |it| it.end);
            (key, Self { value, places: self.places, at })
        })
    }
}
