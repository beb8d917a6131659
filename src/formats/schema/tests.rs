use super::*;
use serde_json::json;

fn refs(count: usize, target: &Value) -> PlainSchema {
    let properties = (0..count).map(|it| (format!("p{it}"), json!({"$ref": "#/$defs/x"}))).collect::<Map<_, _>>();
    plain(&json!({"type": "object", "properties": properties, "$defs": {"x": target}}).to_string())
}

#[test]
fn what_is_copied_too_often_is_not() {
    let long = "x".repeat(30_000);
    let key = Value::from(long.as_str());
    for target in [
        json!({"enum": (0..5_200).collect::<Vec<_>>()}),
        json!({"description": long}),
        json!({"properties": {long.as_str(): true}}),
        json!({"required": [key]}),
        json!({"patternProperties": {long.as_str(): true}}),
        json!({long.as_str(): 1}),
        json!({"description": long, "items": {"$ref": "#/$defs/x"}}),
    ] {
        let bomb = refs(1_140, &target);
        assert!(bomb.too_large && bomb.schema.len() == 2, "{}", bomb.schema.len());
        let few = refs(2, &target);
        assert!(!few.too_large);
    }
    assert!(!refs(1_000, &json!({"type": "string"})).too_large);
}

#[test]
fn what_a_reference_at_the_top_leads_to_is_told() {
    let one = json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let told = plain(&json!({"$ref": "#/$defs/x", "$defs": {"x": one}}).to_string()).told.unwrap();
    assert!(told.starts_with(r#"{"oneOf":"#), "{told}");
    assert_eq!(plain(&json!({"$ref": "#"}).to_string()).told, None);
}
