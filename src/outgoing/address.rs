//! The addresses that may be called. The Worker is in the public network, and must not give anyone access to a private
//! network.

use std::net::{Ipv4Addr, Ipv6Addr};
use web_sys::Url;

/// Host names that by convention belong to a private network.
const PRIVATE_NAMES: [&str; 5] = ["localhost", "local", "internal", "home.arpa", "lan"];

/// Which URLs a deployment calls.
#[derive(Clone, Copy, Default)]
pub struct UrlRules<'a> {
    /// Whether addresses of private networks may be called.
    pub private: bool,
    /// Whether the deployment is in open mode.
    pub open: bool,
    /// The host under which the present request reached this Worker, perhaps with a port.
    pub own_host: Option<&'a str>,
}

/// Checks that requests may be sent to a URL.
pub fn check_url(url: &str, rules: UrlRules<'_>) -> Result<Url, &'static str> {
    let url = Url::new(url).map_err(|_| "cannot be read as a URL such as https://tools.example.com/run")?;
    if !url.username().is_empty() || !url.password().is_empty() {
        return Err("must not hold a user or a password: use a header");
    }
    check(&url.protocol(), &url.hostname(), rules.private)?;
    if rules.own_host.is_some_and(|own| is_same_server(own, &url.host())) {
        return Err("is Pegboard's own address");
    }
    Ok(url)
}

/// The URL that `reference` means in an answer of the server at `home`, if it leads to the same server.
pub fn same_origin_url(reference: &str, home: &str) -> Option<String> {
    let url = Url::new_with_base(reference, home).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_empty();
    (is_plain && url.origin() == Url::new(home).ok()?.origin()).then(|| url.href())
}

/// The origin of an http or https URL, in one spelling: the protocol, the host, and the port if it is not the usual one.
/// Reads the text alone, so that settings can be compared where no URL is parsed.
pub fn origin_of(url: &str) -> Option<String> {
    let (protocol, rest) = url.trim().split_once("://")?;
    let protocol = protocol.to_ascii_lowercase();
    let usual = match protocol.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    let host = host.strip_suffix(usual).unwrap_or(&host);
    (!host.is_empty()).then(|| format!("{protocol}://{host}"))
}

/// Whether two hosts, each perhaps with a port, are the same server. A host without a port has the usual port of http or
/// https: the Worker answers at both. All names of this machine are one host.
pub fn is_same_server(one: &str, other: &str) -> bool {
    let ((one_name, one_port), (other_name, other_port)) = (name_and_port(one), name_and_port(other));
    one_port == other_port && (one_name == other_name || (is_this_machine(&one_name) && is_this_machine(&other_name)))
}

/// The name of a host in one spelling, and its port, if it has an unusual one.
fn name_and_port(host: &str) -> (String, Option<&str>) {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => (name, port),
        _ => (host, ""),
    };
    let port = Some(port).filter(|it| !["", "80", "443"].contains(it));
    (name.trim_end_matches('.').to_ascii_lowercase(), port)
}

/// Whether a host, in lower case and without a port, is this machine.
pub fn is_this_machine(name: &str) -> bool {
    let address = |name: &str| name.parse::<Ipv4Addr>().is_ok_and(|it| it.is_loopback() || it.is_unspecified());
    let address_v6 = |name: &str| {
        let name = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        name.and_then(|it| it.parse::<Ipv6Addr>().ok()).is_some_and(|it| {
            it.is_loopback()
                || it.is_unspecified()
                || it.to_ipv4_mapped().is_some_and(|it| it.is_loopback() || it.is_unspecified())
        })
    };
    name == "localhost" || name.ends_with(".localhost") || address(name) || address_v6(name)
}

/// Checks the protocol and the host of a URL, both in the form that a browser gives them. `private` allows private
/// networks.
fn check(protocol: &str, host: &str, private: bool) -> Result<(), &'static str> {
    if !matches!(protocol, "http:" | "https:") {
        return Err("must begin with http:// or https://");
    }
    if !private && is_private(host) {
        return Err("points into a private network");
    }
    Ok(())
}

/// Whether a request to the URL may carry credentials. A credential must not be readable on its way. In open mode the
/// way to a private address is the developer's own network.
pub fn may_carry_credentials(url: &Url, open: bool) -> bool {
    is_confidential(&url.protocol(), &url.hostname(), open)
}

fn is_confidential(protocol: &str, host: &str, open: bool) -> bool {
    protocol == "https:" || (open && is_private(host))
}

/// Whether requests to `url` may carry the headers that were given for the server at `home`: both have the same origin,
/// or `hosts` lists the host of `url`, with its port if the port is unusual.
pub fn is_trusted(url: &str, home: &str, hosts: &[String]) -> bool {
    let parts = |url: &str| Url::new(url).ok().map(|it| (it.protocol(), it.host()));
    parts(url).zip(parts(home)).is_some_and(|(url, home)| is_trusted_host(&url, &home, hosts))
}

/// Each server is a protocol and a host, in the form that a browser gives them.
fn is_trusted_host(url: &(String, String), home: &(String, String), hosts: &[String]) -> bool {
    // A header that was given for https must not be readable on its way.
    let is_listed = (url.0 == "https:" || url.0 == home.0) && hosts.iter().any(|it| it.eq_ignore_ascii_case(&url.1));
    url == home || is_listed
}

fn is_private(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        return address.parse().map_or(true, is_private_v6);
    }
    if let Ok(address) = host.parse() {
        return is_private_v4(address);
    }
    let name = host.trim_end_matches('.');
    // A name without a dot can only belong to a local network.
    !name.contains('.') || PRIVATE_NAMES.iter().any(|it| name.strip_suffix(it).is_some_and(|rest| rest.ends_with('.')))
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        // Shared address space of carriers (100.64.0.0/10), and the addresses for benchmarks (198.18.0.0/15).
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b))
        || (a == 192 && b == 0)
        || a >= 240
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4() {
        return is_private_v4(inner);
    }
    let [first, second, ..] = address.segments();
    address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        // IPv4 addresses behind a translator, and addresses for documentation.
        || (first == 0x64 && second == 0xff9b)
        || first == 0x2002
        || (first == 0x2001 && second == 0xdb8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_pass() {
        for host in ["example.com", "a.co", "93.184.216.34", "[2606:2800:220:1::1]"] {
            assert_eq!(check("https:", host, false), Ok(()), "{host}");
        }
    }

    #[test]
    fn private_ones_pass_only_where_that_is_allowed() {
        for host in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::1]",
            "[::]",
            "[::ffff:a00:1]",
            "[::a00:1]",
            "[fe80::1]",
            "[fd00::1]",
            "[64:ff9b::a00:1]",
            "[2002:a00:1::]",
            "localhost",
            "localhost.",
            "a.localhost",
            "printer.local",
            "metadata.google.internal",
            "intranet",
            "",
        ] {
            assert!(check("http:", host, false).is_err(), "{host}");
            assert_eq!(check("http:", host, true), Ok(()), "{host}");
        }
    }

    #[test]
    fn pegboard_knows_itself() {
        for (own, other, expected) in [
            ("peg.example", "peg.example", true),
            ("peg.example", "PEG.example.", true),
            ("peg.example", "peg.example:80", true),
            ("peg.example:443", "peg.example", true),
            ("peg.example", "peg.example:8443", false),
            ("peg.example", "a.peg.example", false),
            ("127.0.0.1:8787", "127.0.0.1:8787", true),
            ("127.0.0.1:8787", "localhost:8787", true),
            ("127.0.0.1:8787", "a.localhost:8787", true),
            ("localhost:8787", "[::1]:8787", true),
            ("localhost:8787", "[::ffff:7f00:1]:8787", true),
            ("localhost:8787", "0.0.0.0:8787", true),
            ("127.0.0.1:8787", "127.0.0.1:8788", false),
            ("127.0.0.1:8787", "127.0.0.1", false),
            ("127.0.0.1:8787", "10.0.0.1:8787", false),
        ] {
            assert_eq!(is_same_server(own, other), expected, "{own} and {other}");
        }
    }

    #[test]
    fn an_origin_has_one_spelling() {
        for (url, expected) in [
            ("https://A.example/v1?x=1", Some("https://a.example")),
            ("HTTPS://a.example:443", Some("https://a.example")),
            ("http://a.example:80/", Some("http://a.example")),
            ("https://a.example:80/", Some("https://a.example:80")),
            ("https://u:p@a.example:8443#x", Some("https://a.example:8443")),
            ("http://[::1]:8080/v1", Some("http://[::1]:8080")),
            ("ftp://a.example", None),
            ("https://", None),
            ("a.example", None),
        ] {
            assert_eq!(origin_of(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn credentials_travel_over_https_or_stay_at_home() {
        for (protocol, host, open, expected) in [
            ("https:", "a.example", false, true),
            ("https:", "127.0.0.1", false, true),
            ("http:", "a.example", false, false),
            ("http:", "a.example", true, false),
            ("http:", "127.0.0.1", false, false),
            ("http:", "127.0.0.1", true, true),
            ("http:", "printer.local", true, true),
        ] {
            assert_eq!(is_confidential(protocol, host, open), expected, "{protocol}//{host}, open: {open}");
        }
    }

    #[test]
    fn headers_go_to_their_own_server_and_to_listed_hosts() {
        let server = |url: &str| {
            let (protocol, host) = url.split_once("//").unwrap();
            (protocol.to_owned(), host.to_owned())
        };
        let hosts = ["API.example.com".to_owned(), "b.example:8443".to_owned()];
        for (url, home, expected) in [
            ("https://a.example", "https://a.example", true),
            ("https://a.example:8443", "https://a.example", false),
            ("http://a.example", "https://a.example", false),
            ("https://x.a.example", "https://a.example", false),
            ("https://api.example.com", "https://a.example", true),
            ("https://api.example.com:444", "https://a.example", false),
            ("http://api.example.com", "https://a.example", false),
            ("http://api.example.com", "http://a.example", true),
            ("https://b.example:8443", "http://a.example", true),
            ("https://b.example", "http://a.example", false),
        ] {
            assert_eq!(is_trusted_host(&server(url), &server(home), &hosts), expected, "{url} from {home}");
        }
    }

    #[test]
    fn other_protocols_never_pass() {
        for protocol in ["ftp:", "file:", "javascript:", "http", ""] {
            assert!(check(protocol, "example.com", true).is_err(), "{protocol}");
        }
    }
}
