//! The ids of tools that are operations.

use crate::hex;
use crate::ids::ToolId;
use sha2::{Digest, Sha256};

/// The longest name that is made of a method and a path, and the longest `operationId` that is kept whole.
const MAX_MADE_BYTES: usize = 64;
const MAX_GIVEN_BYTES: usize = 128;

/// How many digits of a hash a name that was cut ends with.
const HASH_DIGITS: usize = 8;

/// The part of a tool's id after the module: the `operationId`, with `_` for each character that an id cannot have, or a
/// name made of the method and the path.
pub fn operation_name(operation_id: Option<&str>, method: &str, path: &str) -> String {
    if let Some(given) = operation_id.filter(|it| it.bytes().any(|it| it.is_ascii_alphanumeric())) {
        let fitting = |it: char| if it.is_ascii_alphanumeric() || "_-.".contains(it) { it } else { '_' };
        return cut(given.chars().map(fitting).collect(), given, MAX_GIVEN_BYTES);
    }
    let mut name = method.to_ascii_lowercase();
    for word in path.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty()) {
        name.push('_');
        name.push_str(word);
    }
    cut(name, &format!("{method} {path}"), MAX_MADE_BYTES)
}

/// A name that is too long is cut, and the hash of its origin keeps it apart from others with the same beginning.
fn cut(name: String, origin: &str, max_bytes: usize) -> String {
    if name.len() <= max_bytes {
        return name;
    }
    let hash = short_hash(origin);
    format!("{}_{hash}", &name[..name.floor_char_boundary(max_bytes - HASH_DIGITS - 1)])
}

/// The first digits of a text's hash.
pub fn short_hash(text: &str) -> String {
    let mut digits = hex::encode(&Sha256::digest(text));
    digits.truncate(HASH_DIGITS);
    digits
}

/// The id of the tool. Both parts are short enough and have the right characters, so there always is one.
pub fn tool_id(module: &str, operation: &str) -> Option<ToolId> {
    ToolId::parse(&format!("{module}.{operation}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_an_id() {
        let module = "m".repeat(64);
        for (given, expected) in [
            ("listUsers", "listUsers"),
            ("repos/list-for-org", "repos_list-for-org"),
            ("users.get", "users.get"),
            ("Get user (v2)", "Get_user__v2_"),
            ("größe", "gr__e"),
        ] {
            assert_eq!(operation_name(Some(given), "GET", "/x"), expected);
            assert!(tool_id(&module, expected).is_some());
        }
        let (long, other) = ("x".repeat(129), format!("{}y", "x".repeat(128)));
        let [long, other] = [long, other].map(|it| operation_name(Some(&it), "GET", "/x"));
        assert!(long.len() == 128 && other.len() == 128 && long != other);
        assert!(tool_id(&module, &long).is_some());
    }

    #[test]
    fn a_missing_name_is_made_of_method_and_path() {
        assert_eq!(operation_name(None, "GET", "/users/{user_id}/e-mails.json"), "get_users_user_id_e_mails_json");
        assert_eq!(operation_name(None, "GET", "/"), "get");
        assert_eq!(operation_name(Some("//"), "POST", "/a"), "post_a");
        let [one, two] = ["a", "b"].map(|it| operation_name(None, "GET", &format!("/{}/{it}", "long/".repeat(20))));
        assert!(one.len() == 64 && two.len() == 64 && one != two, "{one} {two}");
        assert!(one.starts_with("get_long_long_"));
    }
}
