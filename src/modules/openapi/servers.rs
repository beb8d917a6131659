//! The URL of an operation: the first usable of its servers, resolved against the document's own URL.

use serde_json::Value;

/// The servers that hold for an operation are given at the operation, at its path, or for the document.
pub fn base_url(document_url: &str, levels: [&Value; 3]) -> Result<String, String> {
    let servers = levels.iter().filter_map(|it| it.get("servers")?.as_array()).find(|it| !it.is_empty());
    let Some(servers) = servers else { return resolved(document_url, "/") };
    let mut first_fault = None;
    for server in servers {
        match filled(server).and_then(|url| resolved(document_url, &url)) {
            Ok(url) => return Ok(url),
            Err(fault) => first_fault = first_fault.or(Some(fault)),
        }
    }
    Err(first_fault.unwrap_or_default())
}

/// The server's URL with the defaults of its variables.
fn filled(server: &Value) -> Result<String, String> {
    let mut rest = server.get("url").and_then(Value::as_str).unwrap_or_default();
    let mut url = String::new();
    while let Some((before, after)) = rest.split_once('{')
        && let Some((name, after)) = after.split_once('}')
    {
        let default = server.get("variables").and_then(|it| it.get(name)?.get("default"));
        let default = match default {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => {
                return Err(format!(
                    "its server's variable {} has no default",
                    name.chars().take(64).collect::<String>()
                ));
            }
        };
        url.push_str(before);
        url.push_str(&default);
        rest = after;
    }
    url.push_str(rest);
    Ok(url)
}

/// A server's URL as an absolute URL, without a slash at its end. Whether it may be called is decided elsewhere.
fn resolved(document_url: &str, reference: &str) -> Result<String, String> {
    let unusable = || format!("its server {} is no usable URL", reference.chars().take(200).collect::<String>());
    let reference = reference.trim();
    if reference.contains(['?', '#', '{', '}', '\\']) || reference.chars().any(|it| it.is_control() || it == ' ') {
        return Err(unusable());
    }
    let (scheme, rest) = document_url.split_once("://").ok_or_else(unusable)?;
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    let url = if has_scheme(reference) {
        reference.to_owned()
    } else if reference.starts_with("//") {
        format!("{scheme}:{reference}")
    } else if reference.starts_with('/') {
        format!("{scheme}://{authority}{reference}")
    } else {
        let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        format!("{scheme}://{authority}/{}", without_dots(&format!("{folder}{reference}")))
    };
    let is_web = ["http://", "https://"].iter().any(|it| url.to_ascii_lowercase().starts_with(it));
    if is_web { Ok(url.trim_end_matches('/').to_owned()) } else { Err(unusable()) }
}

fn has_scheme(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|it: char| it.is_ascii_alphabetic())
            && scheme.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
    })
}

/// The path without its steps `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "." => {}
            ".." => _ = steps.pop(),
            other => steps.push(other),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DOCUMENT: &str = "https://a.example:8443/docs/v1/openapi.json?x=/y";

    #[test]
    fn relative_servers_resolve_against_the_document() {
        for (server, expected) in [
            ("https://b.example/v1/", "https://b.example/v1"),
            ("HTTP://b.example", "HTTP://b.example"),
            ("//b.example/v1", "https://b.example/v1"),
            ("/", "https://a.example:8443"),
            ("/v2", "https://a.example:8443/v2"),
            ("v2", "https://a.example:8443/docs/v1/v2"),
            ("./v2", "https://a.example:8443/docs/v1/v2"),
            ("../../../v2/", "https://a.example:8443/v2"),
            ("", "https://a.example:8443/docs/v1"),
            (".", "https://a.example:8443/docs/v1"),
        ] {
            assert_eq!(resolved(DOCUMENT, server).as_deref(), Ok(expected), "{server}");
        }
        assert_eq!(resolved("https://a.example", "v2").as_deref(), Ok("https://a.example/v2"));
        for server in
            ["ftp://b.example", "javascript:alert(1)", "https://b.example/?x", "a b", "/{x}", "/a\\b", "wss://x"]
        {
            assert!(resolved(DOCUMENT, server).is_err(), "{server}");
        }
    }

    #[test]
    fn the_nearest_level_counts_and_variables_take_their_defaults() {
        let at = |url: &str| json!({"servers": [{"url": url}]});
        let none = json!({"servers": []});
        let url = |operation, path, document| base_url(DOCUMENT, [&operation, &path, &document]);
        assert_eq!(url(at("/o"), at("/p"), at("/d")).as_deref(), Ok("https://a.example:8443/o"));
        assert_eq!(url(none.clone(), at("/p"), at("/d")).as_deref(), Ok("https://a.example:8443/p"));
        assert_eq!(url(json!({}), json!({}), at("/d")).as_deref(), Ok("https://a.example:8443/d"));
        assert_eq!(url(json!({}), json!({}), none.clone()).as_deref(), Ok("https://a.example:8443"));
        let variables = json!({"servers": [
            {"url": "wss://{region}.example"},
            {"url": "https://{region}.example:{port}/v{n}", "variables":
                {"region": {"default": "eu", "enum": ["eu", "us"]}, "port": {"default": "444"}, "n": {"default": 2}}},
        ]});
        assert_eq!(url(json!({}), json!({}), variables).as_deref(), Ok("https://eu.example:444/v2"));
        let fault = url(json!({}), json!({}), at("https://{region}.example")).unwrap_err();
        assert!(fault.contains("region has no default"), "{fault}");
    }
}
