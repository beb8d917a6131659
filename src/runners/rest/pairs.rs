//! Queries and forms: names and values, encoded for a URL.

use crate::hex::percent_encoded;
use crate::registry::QueryStyle;
use serde_json::{Map, Value};

/// A query of parameters, each with its style. Null is left out. Without a style, a list repeats its parameter, and an
/// object is JSON.
pub fn query<'a>(parameters: impl Iterator<Item = (&'a str, &'a Value, Option<QueryStyle>)>) -> String {
    let mut pairs = Pairs::default();
    for (name, value, style) in parameters {
        pairs.styled(name, value, style);
    }
    pairs.0
}

/// A form with these fields. A field of an object is `a[b]`, an element of a list `a[]`, and an element that is itself an
/// object or a list has its number: `a[0][b]`. Rails, PHP, and the APIs of Stripe and Twilio read forms like this.
pub fn form(fields: &Map<String, Value>) -> String {
    let mut pairs = Pairs::default();
    for (name, value) in fields {
        pairs.deep(name, value);
    }
    pairs.0
}

#[derive(Default)]
struct Pairs(String);

impl Pairs {
    /// Adds a pair whose value is encoded already.
    fn add(&mut self, name: &str, encoded: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.push_str(&percent_encoded(name));
        self.0.push('=');
        self.0.push_str(encoded);
    }

    fn styled(&mut self, name: &str, value: &Value, style: Option<QueryStyle>) {
        match (style, value) {
            (_, Value::Null) => {}
            (Some(QueryStyle::Json), _) => self.add(name, &percent_encoded(&value.to_string())),
            (Some(QueryStyle::Deep), _) => self.deep(name, value),
            (Some(QueryStyle::Fields), Value::Object(fields)) => {
                for (field, value) in fields {
                    self.styled(field, value, None);
                }
            }
            (Some(QueryStyle::Comma), Value::Array(items)) => self.joined(name, items, ","),
            (Some(QueryStyle::Space), Value::Array(items)) => self.joined(name, items, "%20"),
            (Some(QueryStyle::Pipe), Value::Array(items)) => self.joined(name, items, "%7C"),
            (_, Value::Array(items)) => {
                for item in items.iter().filter(|it| !it.is_null()) {
                    self.add(name, &encoded(item));
                }
            }
            (_, value) => self.add(name, &encoded(value)),
        }
    }

    /// The elements of a list in one pair. An empty list is left out, as in the other styles.
    fn joined(&mut self, name: &str, items: &[Value], separator: &str) {
        if !items.is_empty() {
            self.add(name, &items.iter().map(encoded).collect::<Vec<_>>().join(separator));
        }
    }

    fn deep(&mut self, name: &str, value: &Value) {
        match value {
            Value::Null => {}
            Value::Object(fields) => fields.iter().for_each(|(field, it)| self.deep(&format!("{name}[{field}]"), it)),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let step = if item.is_object() || item.is_array() { index.to_string() } else { String::new() };
                    self.deep(&format!("{name}[{step}]"), item);
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => self.add(name, &encoded(value)),
        }
    }
}

/// A text as it is, and every other value as JSON, both encoded.
fn encoded(value: &Value) -> String {
    value.as_str().map_or_else(|| percent_encoded(&value.to_string()), percent_encoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(style: Option<QueryStyle>, value: Value, expected: &str) {
        assert_eq!(query([("a", &value, style)].into_iter()), expected, "{value}");
    }

    #[test]
    fn without_a_style_lists_are_repeated_and_objects_are_json() {
        check(None, json!("x y"), "a=x%20y");
        check(None, json!(1.5), "a=1.5");
        check(None, json!(""), "a=");
        check(None, json!(["x", 2, null, true]), "a=x&a=2&a=true");
        check(None, json!([]), "");
        check(None, json!(null), "");
        check(None, json!({"b": 1}), "a=%7B%22b%22%3A1%7D");
    }

    #[test]
    fn each_style_writes_lists_and_objects_in_its_way() {
        check(Some(QueryStyle::Comma), json!(["x,y", 2]), "a=x%2Cy,2");
        check(Some(QueryStyle::Space), json!(["x", 2]), "a=x%202");
        check(Some(QueryStyle::Pipe), json!(["x", 2]), "a=x%7C2");
        check(Some(QueryStyle::Comma), json!([]), "");
        check(Some(QueryStyle::Comma), json!("x"), "a=x");
        check(Some(QueryStyle::Deep), json!({"gte": 1, "in": ["x"]}), "a%5Bgte%5D=1&a%5Bin%5D%5B%5D=x");
        check(Some(QueryStyle::Deep), json!(["x"]), "a%5B%5D=x");
        check(Some(QueryStyle::Fields), json!({"b": 1, "c": ["x", "y"]}), "b=1&c=x&c=y");
        check(Some(QueryStyle::Json), json!(["x"]), "a=%5B%22x%22%5D");
    }

    #[test]
    fn forms_are_nested_with_brackets() {
        let fields =
            json!({"a": null, "b": {"c": "d e"}, "items": [{"price": "p1", "n": 2}, {"price": "p2"}], "l": ["x", "y"]});
        let expected = "b[c]=d%20e&items[0][price]=p1&items[0][n]=2&items[1][price]=p2&l[]=x&l[]=y";
        assert_eq!(form(fields.as_object().unwrap()), expected.replace('[', "%5B").replace(']', "%5D"));
    }
}
