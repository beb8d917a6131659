//! From a schema to what it says. What is not understood is an opaque claim, so that nothing is concluded from it.

use super::claims::{
    ALL, ARRAY, BOOLEAN, Claim, Claims, FALSE, Fact, Kinds, NULL, NUMBER, OBJECT, STRING, SchemaReading, Side, TRUE,
    WHOLE, include,
};
use super::numbers;
use super::unevaluated;
use crate::registry::reference;
use serde_json::{Map, Number, Value};

/// How many schemas within schemas are read, and how many altogether: documents are 64 KB.
const MAX_DEPTH: usize = 150;
const MAX_SCHEMAS: usize = 20_000;

/// Of how many pairs of `oneOf` it is claimed that they do not both hold.
const MAX_PAIRS: usize = 2_000;

/// What the schema says, as a claim.
pub fn read(claims: &mut Claims, schema: &Value) -> Claim {
    let resources = reference::has_resources(schema, true);
    Reader { claims, root: schema, resources, depth: 0, left: MAX_SCHEMAS }.schema(schema)
}

pub struct Reader<'a, 'c> {
    pub claims: &'c mut Claims,
    root: &'a Value,
    /// Whether some part has an `$id` of its own, so that references may be relative to it.
    resources: bool,
    pub depth: usize,
    left: usize,
}

impl<'a> Reader<'a, '_> {
    pub fn schema(&mut self, schema: &'a Value) -> Claim {
        let keywords = match schema {
            Value::Bool(true) => return TRUE,
            Value::Bool(false) => return FALSE,
            Value::Object(keywords) => keywords,
            _ => return self.opaque("what is no schema"),
        };
        let fulfilled = self.claims.schema(schema);
        match self.claims.reading(fulfilled) {
            SchemaReading::Read(claim) => return *claim,
            SchemaReading::Underway => return fulfilled,
            reading @ SchemaReading::Unread => *reading = SchemaReading::Underway,
        }
        if self.spend().is_none() {
            let opaque = self.opaque("what is nested too deep or too large");
            *self.claims.reading(fulfilled) = SchemaReading::Read(opaque);
            return opaque;
        }
        self.depth += 1;
        let mut parts = Vec::new();
        for (keyword, value) in keywords {
            let claim = self.keyword(keywords, keyword, value);
            parts.push(claim.unwrap_or_else(|| self.not_understood(keyword, schema)));
        }
        self.depth -= 1;
        let claim = self.claims.all(&parts);
        *self.claims.reading(fulfilled) = SchemaReading::Read(claim);
        claim
    }

    /// Where a reference leads; none, if that cannot be told.
    pub fn target(&self, reference: &Value) -> Option<&'a Value> {
        if self.resources { None } else { reference::target(self.root, reference) }
    }

    /// What one keyword says; none, if that is not understood.
    fn keyword(&mut self, all: &'a Map<String, Value>, keyword: &str, value: &'a Value) -> Option<Claim> {
        let claim = match keyword {
            "type" => kinds(value).map(|it| self.claims.kind(it))?,
            "const" => self.claims.one_of(&[numbers::plain_value(value)]),
            "enum" => match numbers::plain_value(value) {
                Value::Array(values) => self.claims.one_of(&values),
                _ => return None,
            },
            "minimum" => self.bound(Side::Least, false, value)?,
            "exclusiveMinimum" => self.bound(Side::Least, true, value)?,
            "maximum" => self.bound(Side::Most, false, value)?,
            "exclusiveMaximum" => self.bound(Side::Most, true, value)?,
            "multipleOf" => self.claims.fact(Fact::MultipleOf(numbers::plain(value.as_number()?))),
            "minLength" => self.size(STRING, Side::Least, value)?,
            "maxLength" => self.size(STRING, Side::Most, value)?,
            "minItems" => self.size(ARRAY, Side::Least, value)?,
            "maxItems" => self.size(ARRAY, Side::Most, value)?,
            "minProperties" => self.size(OBJECT, Side::Least, value)?,
            "maxProperties" => self.size(OBJECT, Side::Most, value)?,
            "pattern" => self.claims.fact(Fact::Pattern(value.as_str()?.to_owned())),
            "uniqueItems" if value.as_bool()? => self.claims.fact(Fact::Unique),
            "items" => {
                let first = all.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                let claim = self.schema(value);
                self.items(first, claim)
            }
            "prefixItems" => {
                let mut parts = Vec::new();
                for (index, item) in value.as_array()?.iter().enumerate() {
                    let claim = self.schema(item);
                    parts.push(self.claims.fact(Fact::Item(index, claim)));
                }
                self.claims.all(&parts)
            }
            "contains" => self.contains(all, value)?,
            "required" => self.required(value)?,
            "properties" => {
                let mut parts = Vec::new();
                for (name, field) in value.as_object()? {
                    let claim = self.schema(field);
                    parts.push(self.claims.fact(Fact::Field(name.clone(), claim)));
                }
                self.claims.all(&parts)
            }
            "patternProperties" => {
                let mut parts = Vec::new();
                for (pattern, field) in value.as_object()? {
                    let claim = self.schema(field);
                    parts.push(self.claims.fact(Fact::Matching(pattern.clone(), claim)));
                }
                self.claims.all(&parts)
            }
            "additionalProperties" => {
                let claim = self.schema(value);
                let (names, patterns) = (keys(all, "properties"), keys(all, "patternProperties"));
                self.claims.fact(Fact::Others { names, patterns, claim })
            }
            "propertyNames" => {
                let claim = self.schema(value);
                self.claims.fact(Fact::Names(claim))
            }
            "unevaluatedProperties" => unevaluated::properties(self, all, value)?,
            "dependentRequired" => {
                let mut parts = Vec::new();
                for (name, others) in value.as_object()? {
                    let (present, needed) = (self.present(name), self.required(others)?);
                    parts.push(self.claims.any(&[!present, needed]));
                }
                self.claims.all(&parts)
            }
            "dependentSchemas" => {
                let mut parts = Vec::new();
                for (name, then) in value.as_object()? {
                    let (present, then) = (self.present(name), self.schema(then));
                    parts.push(self.claims.any(&[!present, then]));
                }
                self.claims.all(&parts)
            }
            "$ref" => {
                let target = self.target(value)?;
                self.schema(target)
            }
            "allOf" => {
                let parts = self.schemas(value)?;
                self.claims.all(&parts)
            }
            "anyOf" => {
                let parts = self.schemas(value)?;
                self.claims.any(&parts)
            }
            "oneOf" => {
                let parts = self.schemas(value)?;
                self.exactly_one(&parts)?
            }
            "not" => !self.schema(value),
            "if" => {
                let condition = self.schema(value);
                let then = all.get("then").map_or(TRUE, |it| self.schema(it));
                let otherwise = all.get("else").map_or(TRUE, |it| self.schema(it));
                let parts = [self.claims.any(&[!condition, then]), self.claims.any(&[condition, otherwise])];
                self.claims.all(&parts)
            }
            "unevaluatedItems" if *value != Value::Bool(true) => return None,
            // Of earlier drafts, yet asserted by the validator.
            "dependencies" | "additionalItems" | "$dynamicRef" => return None,
            // Annotations, and what is read along with another keyword.
            _ => TRUE,
        };
        Some(claim)
    }

    fn schemas(&mut self, list: &'a Value) -> Option<Vec<Claim>> {
        let mut parts = Vec::new();
        for part in list.as_array()? {
            parts.push(self.schema(part));
        }
        Some(parts)
    }

    /// That some claim holds, and no two do.
    fn exactly_one(&mut self, parts: &[Claim]) -> Option<Claim> {
        let mut claims = vec![self.claims.any(parts)];
        for (index, one) in parts.iter().enumerate() {
            for other in &parts[index + 1..] {
                let both = self.claims.all(&[*one, *other]);
                if both != FALSE {
                    claims.push(!both);
                }
                if claims.len() > MAX_PAIRS {
                    return None;
                }
            }
        }
        Some(self.claims.all(&claims))
    }

    fn contains(&mut self, all: &'a Map<String, Value>, value: &'a Value) -> Option<Claim> {
        let claim = self.schema(value);
        let least = all.get("minContains").map_or(Some(1), natural)?;
        let most = all.get("maxContains").map_or(Some(u64::MAX), natural)?;
        Some(match (least, most) {
            (0, u64::MAX) => TRUE,
            (1, u64::MAX) => {
                let none = self.claims.fact(Fact::Items(0, !claim));
                let other_kinds = self.claims.kind(ALL & !ARRAY);
                self.claims.any(&[!none, other_kinds])
            }
            (least, most) => self.claims.fact(Fact::Contains { claim, least, most }),
        })
    }

    pub fn present(&mut self, name: &str) -> Claim {
        let required = self.claims.fact(Fact::Required(name.to_owned()));
        let object = self.claims.kind(OBJECT);
        self.claims.all(&[required, object])
    }

    fn required(&mut self, names: &Value) -> Option<Claim> {
        let mut parts = Vec::new();
        for name in names.as_array()? {
            parts.push(self.claims.fact(Fact::Required(name.as_str()?.to_owned())));
        }
        Some(self.claims.all(&parts))
    }

    fn bound(&mut self, side: Side, open: bool, limit: &Value) -> Option<Claim> {
        let limit = numbers::plain(limit.as_number()?);
        Some(self.claims.fact(Fact::Bound { side, open, limit }))
    }

    fn size(&mut self, of: Kinds, side: Side, limit: &Value) -> Option<Claim> {
        let limit = natural(limit)?;
        Some(self.claims.fact(Fact::Size { of, side, limit }))
    }

    fn items(&mut self, first: usize, claim: Claim) -> Claim {
        if claim == FALSE {
            return self.claims.fact(Fact::Size { of: ARRAY, side: Side::Most, limit: first as u64 });
        }
        self.claims.fact(Fact::Items(first, claim))
    }

    /// None, if the schema is too deep or too large to go on.
    pub fn spend(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        (self.depth < MAX_DEPTH).then_some(())
    }

    /// What a keyword says that is not understood: the same as in any other schema that is the same altogether, unless it
    /// refers to something else.
    fn not_understood(&mut self, keyword: &str, schema: &Value) -> Claim {
        let text = schema.to_string();
        if text.contains("Ref\"") || text.contains("$ref\"") || self.resources {
            return self.opaque(keyword);
        }
        self.claims.fact(Fact::Opaque(keyword.to_owned(), text))
    }

    /// A claim that is like no other.
    pub fn opaque(&mut self, what: &str) -> Claim {
        let number = self.claims.len();
        self.claims.fact(Fact::Opaque(what.to_owned(), number.to_string()))
    }
}

/// The names under a keyword, sorted.
pub fn keys(keywords: &Map<String, Value>, keyword: &str) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(Value::Object(fields)) = keywords.get(keyword) {
        for name in fields.keys() {
            include(&mut names, name.clone());
        }
    }
    names
}

fn natural(value: &Value) -> Option<u64> {
    value.as_number().map(numbers::plain).as_ref().and_then(Number::as_u64)
}

fn kinds(names: &Value) -> Option<Kinds> {
    match names {
        Value::String(name) => Some(match name.as_str() {
            "null" => NULL,
            "boolean" => BOOLEAN,
            "integer" => WHOLE,
            "number" => NUMBER,
            "string" => STRING,
            "array" => ARRAY,
            "object" => OBJECT,
            _ => return None,
        }),
        Value::Array(names) => names.iter().try_fold(0, |all, name| Some(all | kinds(name)?)),
        _ => None,
    }
}
