//! `unevaluatedProperties`: the fields that no other keyword describes for the same value. Which fields these are
//! depends on the alternatives that hold. So the claim is made field by field: the field fulfils the keyword's schema,
//! or an alternative that describes the field holds.

use super::claims::{Claim, Fact, TRUE, include};
use super::read::{SchemaReader, keys};
use serde_json::{Map, Value};

/// The fields that one schema describes, if its condition holds.
struct DescribedFields {
    condition: Claim,
    names: Vec<String>,
    patterns: Vec<String>,
    /// Whether the schema describes every field, as `additionalProperties` does.
    all: bool,
}

/// The meaning of the keyword in a schema with these keywords. None if that cannot be decided.
pub fn properties<'a>(
    reader: &mut SchemaReader<'a, '_>,
    keywords: &'a Map<String, Value>,
    rest: &'a Value,
) -> Option<Claim> {
    let rest = reader.schema(rest);
    let mut described = Vec::new();
    collect(reader, keywords, TRUE, true, &mut described)?;
    // Patterns that apply only under a condition are not supported.
    if described.iter().any(|it| it.condition != TRUE && !it.patterns.is_empty()) {
        return None;
    }
    let (mut names, mut patterns, mut everything) = (Vec::new(), Vec::new(), Vec::new());
    for it in &described {
        for name in &it.names {
            include(&mut names, name.clone());
        }
        for pattern in &it.patterns {
            include(&mut patterns, pattern.clone());
        }
        if it.all {
            everything.push(it.condition);
        }
    }
    let mut parts = Vec::new();
    for name in &names {
        let mut ways = everything.clone();
        ways.extend(described.iter().filter(|it| it.names.contains(name)).map(|it| it.condition));
        if ways.contains(&TRUE) {
            continue;
        }
        // The name may fit one of the patterns, and the field would then be described. This is not supported either.
        if !patterns.is_empty() {
            return None;
        }
        ways.push(reader.claims.fact(Fact::Field(name.clone(), rest)));
        parts.push(reader.claims.any(&ways));
    }
    let mut ways = everything;
    ways.push(reader.claims.fact(Fact::Others { names, patterns, claim: rest }));
    parts.push(reader.claims.any(&ways));
    Some(reader.claims.all(&parts))
}

fn collect<'a>(
    reader: &mut SchemaReader<'a, '_>,
    keywords: &'a Map<String, Value>,
    condition: Claim,
    outermost: bool,
    described: &mut Vec<DescribedFields>,
) -> Option<()> {
    reader.spend()?;
    let all =
        keywords.contains_key("additionalProperties") || (!outermost && keywords.contains_key("unevaluatedProperties"));
    let (names, patterns) = (keys(keywords, "properties"), keys(keywords, "patternProperties"));
    if all || !names.is_empty() || !patterns.is_empty() {
        described.push(DescribedFields { condition, names, patterns, all });
    }
    for (keyword, value) in keywords {
        match keyword.as_str() {
            "$ref" => {
                let target = reader.target(value)?;
                part(reader, target, condition, described)?;
            }
            "$dynamicRef" => return None,
            "allOf" => {
                for it in value.as_array()? {
                    part(reader, it, condition, described)?;
                }
            }
            "anyOf" | "oneOf" => {
                for it in value.as_array()? {
                    let holds = reader.schema(it);
                    let condition = reader.claims.all(&[condition, holds]);
                    part(reader, it, condition, described)?;
                }
            }
            "dependentSchemas" => {
                for (name, it) in value.as_object()? {
                    let present = reader.present(name);
                    let condition = reader.claims.all(&[condition, present]);
                    part(reader, it, condition, described)?;
                }
            }
            "if" => {
                let holds = reader.schema(value);
                let (then, otherwise) =
                    (reader.claims.all(&[condition, holds]), reader.claims.all(&[condition, !holds]));
                part(reader, value, then, described)?;
                if let Some(it) = keywords.get("then") {
                    part(reader, it, then, described)?;
                }
                if let Some(it) = keywords.get("else") {
                    part(reader, it, otherwise, described)?;
                }
            }
            _ => {}
        }
    }
    Some(())
}

fn part<'a>(
    reader: &mut SchemaReader<'a, '_>,
    schema: &'a Value,
    condition: Claim,
    described: &mut Vec<DescribedFields>,
) -> Option<()> {
    let Some(keywords) = schema.as_object() else { return Some(()) };
    reader.depth += 1;
    let collected = collect(reader, keywords, condition, false, described);
    reader.depth -= 1;
    collected
}
