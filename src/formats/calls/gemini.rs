//! Gemini's `functionCall` parts, which its Python package writes as `function_call`. Their results go into one
//! content.

use super::{CallFormat, CallOutcome, ModelCall, ProviderCall, text};
use crate::formats::json::object;
use serde_json::Value;

/// Up to this number, floating-point numbers represent every whole number.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

pub fn read(item: &mut Value) -> Option<ProviderCall> {
    // Gemini's package writes null for the other kinds of a part. OpenAI's oldest messages have a `function_call` too,
    // but with `arguments`.
    let is_call = |it: &Value| it.is_object() && it.get("arguments").is_none();
    let key = ["functionCall", "function_call"].into_iter().find(|it| item.get(*it).is_some_and(is_call))?;
    let call = item.get_mut(key)?;
    let mut given = ProviderCall::take(CallFormat::Gemini, text(call, "id"), call, "args");
    if let Some(arguments) = &mut given.arguments {
        whole(arguments);
    }
    Some(given)
}

/// Replaces 10.0 by 10: Gemini writes all numbers as floating-point numbers.
fn whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(float) =
                number.as_f64().filter(|it| number.is_f64() && it.fract() == 0.0 && it.abs() < MAX_WHOLE)
            {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole, and in range")]
                let int = float as i64;
                *value = int.into();
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(whole),
        Value::Object(fields) => fields.values_mut().for_each(whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

pub fn part(call: &ModelCall, outcome: &CallOutcome) -> Value {
    let key = if outcome.succeeded { "output" } else { "error" };
    let mut response =
        vec![("name", call.name.as_str().into()), ("response", object(vec![(key, outcome.value.clone())]))];
    if call.id.is_some() {
        response.push(("id", call.id()));
    }
    object(vec![("functionResponse", object(response))])
}
