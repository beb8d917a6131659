//! Counts the values of a JSON text before it is parsed. Parsed values take many times the memory of their text.

/// How many values a document may hold. This many take some 20 MB of an isolate's 128 MB.
pub const MAX_VALUES: usize = 250_000;

/// About how many values a JSON text holds, counted by the commas, brackets and braces outside of strings.
pub fn values(json: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_texts_are_not_looked_into() {
        assert_eq!(values(b"[1,2,3]"), 3);
        assert_eq!(values(br#"{"a": {"b": [1, "x,[{\\\",,"]}}"#), 4);
    }
}
