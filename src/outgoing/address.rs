//! The addresses that may be called. The Worker is in the public network, and must not give anyone access to a private
//! network.

use std::net::{Ipv4Addr, Ipv6Addr};
use web_sys::Url;

/// Host names that by convention belong to a private network.
const PRIVATE_NAMES: [&str; 5] = ["localhost", "local", "internal", "home.arpa", "lan"];

/// Checks that requests may be sent to a URL. `private` allows private networks.
pub fn check_url(url: &str, private: bool) -> Result<Url, &'static str> {
    let url = Url::new(url).map_err(|_| "cannot be read as a URL")?;
    if !url.username().is_empty() || !url.password().is_empty() {
        return Err("must not hold a user or a password: use a header");
    }
    check(&url.protocol(), &url.hostname(), private)?;
    Ok(url)
}

/// Checks the protocol and the host of a URL, both in the form that a browser gives them. `private` allows private
/// networks.
fn check(protocol: &str, host: &str, private: bool) -> Result<(), &'static str> {
    if !matches!(protocol, "http:" | "https:") {
        return Err("is neither http nor https");
    }
    if !private && is_private(host) {
        return Err("points into a private network");
    }
    Ok(())
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
    fn other_protocols_never_pass() {
        for protocol in ["ftp:", "file:", "javascript:", "http", ""] {
            assert!(check(protocol, "example.com", true).is_err(), "{protocol}");
        }
    }
}
