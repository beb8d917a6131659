//! The addresses that a frame may show. A browser loads the frame, and not the Worker, so only a page of our own origin
//! could harm Pegboard: it would act with the rights of the page around it.

use crate::outgoing::{UrlRules, is_same_server, is_this_machine};
use serde_json::Value;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The longest URL that a frame may show.
const MAX_URL_BYTES: usize = 2_000;

/// Why a frame must not show the URL, if it must not. URLs that browsers read in several ways are refused.
pub fn fault_of_url(url: &str, rules: UrlRules<'_>) -> Option<&'static str> {
    if url.len() > MAX_URL_BYTES {
        return Some("must have at most 2,000 bytes");
    }
    if url.contains(|it: char| it.is_whitespace() || it.is_control() || it == '\\') {
        return Some("must hold neither spaces, control characters nor backslashes");
    }
    let Some((scheme, rest)) = url.split_once("://") else { return Some("must begin with https://") };
    let is_https = scheme.eq_ignore_ascii_case("https");
    if !is_https && !scheme.eq_ignore_ascii_case("http") {
        return Some("must begin with https://");
    }
    let host = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    if host.contains('@') {
        return Some("must not hold a user or a password");
    }
    let Some(name) = name_of(host) else { return Some("must name a host such as example.com or localhost:3000") };
    let is_allowed = is_https || (rules.open && is_this_machine(&name));
    if !is_allowed {
        return Some("must begin with https://; http:// is for localhost, in open mode");
    }
    rules.own_host.is_some_and(|own| is_same_server(own, host)).then_some("is Pegboard's own address")
}

/// The name of a host in one spelling, without its port, if every browser reads the host in the same way.
fn name_of(host: &str) -> Option<String> {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (host, None),
    };
    port.map_or(Some(()), |it| port_of_text(it).map(drop))?;
    let name = name.to_ascii_lowercase();
    if let Some(address) = name.strip_prefix('[') {
        return address.strip_suffix(']')?.parse::<Ipv6Addr>().is_ok().then_some(name);
    }
    let labels = name.strip_suffix('.').unwrap_or(&name);
    let is_label =
        |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_');
    // Browsers read a host that ends in a number as an IPv4 address, also in octal, hexadecimal or with fewer parts.
    let last = labels.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|it| it.is_ascii_digit()) || last.starts_with("0x");
    let is_name = labels.split('.').all(is_label) && (!is_number || labels.parse::<Ipv4Addr>().is_ok());
    is_name.then(|| labels.to_owned())
}

/// The URL of a port of this machine.
pub fn url_of_port(port: u16) -> String {
    format!("http://localhost:{port}")
}

/// The port, if the value is one: a number from 1 to 65535, or its text.
pub fn port_of(value: &Value) -> Option<u16> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|it| u16::try_from(it).ok()).filter(|it| *it > 0),
        Value::String(text) => port_of_text(text),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn port_of_text(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|it| is_number && *it > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const OPEN: UrlRules<'_> = UrlRules { private: false, open: true, own_host: Some("127.0.0.1:8787") };
    const CLOSED: UrlRules<'_> = UrlRules { private: false, open: false, own_host: Some("peg.example") };

    #[test]
    fn https_passes_and_http_only_to_this_machine_in_open_mode() {
        for url in
            ["https://a.example", "HTTPS://A.example:8443/x?y=$#z", "https://93.184.216.34/", "https://[2606::1]/"]
        {
            assert_eq!(fault_of_url(url, CLOSED), None, "{url}");
            assert_eq!(fault_of_url(url, OPEN), None, "{url}");
        }
        for url in ["http://localhost:3000/x", "http://127.0.0.1:3000", "http://[::1]:3000", "http://app.localhost"] {
            assert_eq!(fault_of_url(url, OPEN), None, "{url}");
            assert!(fault_of_url(url, CLOSED).is_some(), "{url}");
        }
        for url in ["http://a.example", "http://192.168.1.1", "http://localhost.evil.example", "http://0x7f000001"] {
            assert!(fault_of_url(url, OPEN).is_some(), "{url}");
        }
    }

    #[test]
    fn pegboard_is_not_framed() {
        for url in ["http://localhost:8787", "http://127.0.0.1:8787/api", "http://[::1]:8787", "http://LOCALHOST.:8787"]
        {
            assert_eq!(fault_of_url(url, OPEN), Some("is Pegboard's own address"), "{url}");
        }
        for url in ["https://peg.example", "https://PEG.example.:443/", "https://peg.example?x"] {
            assert_eq!(fault_of_url(url, CLOSED), Some("is Pegboard's own address"), "{url}");
        }
    }

    #[test]
    fn what_browsers_may_read_otherwise_is_refused() {
        for url in [
            "",
            "a.example",
            "//a.example",
            "javascript://a.example/%0aalert(1)",
            "data:text/html,x",
            "https:a.example",
            "https:///a.example",
            "https://",
            "https://a.example\\@peg.example",
            "https://user@peg.example",
            "https://peg.example\t.evil.example",
            " https://a.example",
            "https://a..example",
            "https://%70eg.example",
            "https://pëg.example",
            "https://1",
            "https://a.0x1",
            "https://1.2.3",
            "https://[::1",
            "https://[v1.x]",
            "https://a.example:",
            "https://a.example:0",
            "https://a.example:+80",
            "https://a.example:99999",
        ] {
            assert!(fault_of_url(url, OPEN).is_some(), "{url}");
        }
        assert!(fault_of_url(&format!("https://a.example/{}", "x".repeat(2_000)), OPEN).is_some());
    }

    #[test]
    fn a_port_is_a_number_or_its_text() {
        for (value, expected) in [
            (json!(3000), Some(3000)),
            (json!("3000"), Some(3000)),
            (json!(65535), Some(65535)),
            (json!(0), None),
            (json!(65536), None),
            (json!(-1), None),
            (json!(80.5), None),
            (json!("+80"), None),
            (json!(""), None),
            (json!("80/evil"), None),
            (json!(null), None),
            (json!([80]), None),
        ] {
            assert_eq!(port_of(&value), expected, "{value}");
        }
    }
}
