//! Exact arithmetic on numbers, as JSON Schema defines them: `1` and `1.0` are equal, `0.1` is exactly a tenth, and no
//! number is rounded.

use super::claims::include;
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// From this number on, a float does not hold every whole number.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|it| it.fract() == 0.0)
}

/// The number as a whole number, if it is one. None also for numbers with more than 38 digits.
pub fn whole(number: &Number) -> Option<i128> {
    if let Some(it) = number.as_i128() {
        return Some(it);
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() < 1e38).then_some(float as i128)
}

/// The shortest form of a number: `1` for `1.0`. Equal numbers have equal forms.
pub fn plain(number: &Number) -> Number {
    whole(number).and_then(from_whole).unwrap_or_else(|| number.clone())
}

/// The value with all numbers in their shortest form and all fields sorted, so that equal values are written alike.
pub fn plain_value(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(plain(number)),
        Value::Array(items) => items.iter().map(plain_value).collect(),
        Value::Object(fields) => {
            let mut names = Vec::new();
            for name in fields.keys() {
                include(&mut names, name.clone());
            }
            names.into_iter().map(|it| (it.clone(), plain_value(&fields[&it]))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// The number in a document. None for a number that no document can hold exactly.
pub fn from_whole(whole: i128) -> Option<Number> {
    let float = whole as f64;
    i64::try_from(whole)
        .map(Number::from)
        .or_else(|_| u64::try_from(whole).map(Number::from))
        .ok()
        .or_else(|| if float as i128 == whole { Number::from_f64(float) } else { None })
}

pub fn compare(left: &Number, right: &Number) -> Ordering {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => against_float(left, right.as_f64().unwrap_or(f64::NAN)),
        (None, Some(right)) => against_float(right, left.as_f64().unwrap_or(f64::NAN)).reverse(),
        (None, None) => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal),
    }
}

/// Compares a whole number with a float. The two are never equal: the float has a fraction, or is beyond all whole
/// numbers that are distinguished here.
fn against_float(whole: i128, float: f64) -> Ordering {
    if float.abs() >= 1e38 {
        return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    if whole <= float.floor() as i128 { Ordering::Less } else { Ordering::Greater }
}

/// Whether a number is a multiple of another. None if the calculation would need too many digits.
pub fn is_multiple(number: &Number, of: &Number) -> Option<bool> {
    match (whole(number), whole(of)) {
        (_, Some(0)) => None,
        (Some(0), _) => Some(true),
        (Some(number), Some(of)) if of.unsigned_abs() < 1 << 53 => Some(number % of == 0),
        (None, Some(of)) if of.unsigned_abs() < 1 << 53 && number.as_f64()?.abs() < EXACT => Some(false),
        _ if number.as_f64()?.abs() < EXACT && of.as_f64()?.abs() < EXACT => {
            let ((digits, places), (of_digits, of_places)) = (decimal(number)?, decimal(of)?);
            let places_more = of_places.max(places);
            let number = digits.checked_mul(10_i128.checked_pow(places_more - places)?)?;
            let of = of_digits.checked_mul(10_i128.checked_pow(places_more - of_places)?)?;
            Some(number.checked_rem(of)? == 0)
        }
        _ => None,
    }
}

/// The digits of a number as it is written, and how many of them stand after the decimal point.
pub fn decimal(number: &Number) -> Option<(i128, u32)> {
    if let Some(whole) = whole(number) {
        return Some((whole, 0));
    }
    let text = number.to_string();
    let (text, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (before, behind) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{before}{behind}").parse::<i64>().ok()?;
    let places = behind.len() as i64 - exponent.parse::<i64>().ok()?;
    Some((digits.into(), u32::try_from(places).ok()?))
}

/// The number with these digits, of which `places` stand after the decimal point.
pub fn from_decimal(digits: i128, places: u32) -> Option<Number> {
    let digits = i64::try_from(digits).ok()?;
    let number: Value = serde_json::from_str(&format!("{digits}e-{places}")).ok()?;
    number.as_number().map(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_are_compared_exactly() {
        for (left, right, expected) in [
            ("1", "1.0", Ordering::Equal),
            ("0", "-0.0", Ordering::Equal),
            ("9007199254740993", "9007199254740992.0", Ordering::Greater),
            ("18446744073709551615", "18446744073709551616.0", Ordering::Less),
            ("-3", "-2.5", Ordering::Less),
            ("-2", "-2.5", Ordering::Greater),
            ("2", "2.5", Ordering::Less),
            ("1e300", "18446744073709551615", Ordering::Greater),
            ("-1e300", "0.5", Ordering::Less),
            ("0.1", "0.2", Ordering::Less),
        ] {
            assert_eq!(compare(&number(left), &number(right)), expected, "{left} {right}");
            assert_eq!(compare(&number(right), &number(left)), expected.reverse(), "{right} {left}");
        }
    }

    #[test]
    fn multiples_are_decimal() {
        for (value, of, expected) in [
            ("0.3", "0.1", Some(true)),
            ("0.35", "0.1", Some(false)),
            ("1070468.14", "0.01", Some(true)),
            ("4.5", "1.5", Some(true)),
            ("3", "1.5", Some(true)),
            ("4.5", "1", Some(false)),
            ("0", "0.1", Some(true)),
            ("1e300", "7", None),
            ("7e-7", "1e-7", Some(true)),
        ] {
            assert_eq!(is_multiple(&number(value), &number(of)), expected, "{value} {of}");
        }
    }

    #[test]
    fn equal_numbers_have_one_form() {
        assert_eq!(plain(&number("1.0")), number("1"));
        assert_eq!(plain(&number("-0.0")), number("0"));
        assert_eq!(plain(&number("1e19")), number("10000000000000000000"));
        assert_eq!(plain(&number("0.5")), number("0.5"));
        assert_eq!(from_whole(1 << 64).unwrap().as_f64(), Some(18446744073709551616.0));
        assert_eq!(from_whole((1 << 64) + 1), None);
    }
}
