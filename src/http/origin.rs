//! Whether a web page may call an endpoint that browsers call without a preflight. This protects against hostile pages,
//! and against hostile host names that resolve to this server (DNS rebinding).

use axum::http::{HeaderMap, header};

/// Where a request comes from, and which host it names.
pub struct RequestOrigin<'a> {
    /// The page's origin. Only browsers send it.
    pub origin: Option<&'a str>,
    /// The host that the request names, perhaps with a port.
    pub host: Option<&'a str>,
    /// Whether the request came over TLS.
    pub secure: bool,
}

impl<'a> RequestOrigin<'a> {
    pub fn of(headers: &'a HeaderMap, uri: &'a axum::http::Uri) -> Self {
        let text = |name| headers.get(name).map(|it: &axum::http::HeaderValue| it.to_str().unwrap_or("invalid"));
        Self {
            origin: text(header::ORIGIN),
            host: text(header::HOST).or_else(|| uri.authority().map(|it| it.as_str())),
            secure: uri.scheme_str() == Some("https"),
        }
    }

    /// A page is allowed if its origin is `listed`, or if this server served it. The second is the case in two
    /// situations: the page's host is the request's host and both use TLS, or both hosts are names of this machine.
    /// Without TLS, an equal host proves nothing: DNS rebinding makes a hostile name point here.
    ///
    /// In open mode no token protects the server. Then every request, also one without an origin, must name this
    /// machine or a listed host.
    pub fn is_allowed(&self, listed: &[String], open: bool) -> bool {
        let is_listed = |origin: &str| listed.iter().any(|it| it == "*" || it == origin);
        let is_here = self.host.is_some_and(is_loopback);
        let host_is_good = !open || is_here || self.host.is_some_and(|host| listed_host(listed, host));
        let origin_is_good = match self.origin {
            None => true,
            Some(origin) if is_listed(origin) => true,
            Some(origin) => match origin.split_once("://") {
                Some(("https", host)) if self.secure && Some(host) == self.host => true,
                Some((_, host)) => is_here && is_loopback(host),
                None => false,
            },
        };
        host_is_good && origin_is_good
    }
}

/// Whether a listed origin has this host.
fn listed_host(listed: &[String], host: &str) -> bool {
    listed.iter().any(|it| it == "*" || it.split_once("://").is_some_and(|(_, name)| name == host))
}

/// Whether the host is a name of this machine, with or without a port.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(origin: &str, host: &str, secure: bool, open: bool, listed: &[&str], expected: bool) {
        let listed = listed.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let some = |text| Some(text).filter(|it: &&str| !it.is_empty());
        let sender = RequestOrigin { origin: some(origin), host: some(host), secure };
        assert_eq!(sender.is_allowed(&listed, open), expected, "{origin} to {host}");
    }

    #[test]
    fn on_a_machine_of_ones_own_only_its_own_names_are_meant() {
        for host in ["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "localhost"] {
            check("", host, false, true, &[], true);
            check(&format!("http://{host}"), host, false, true, &[], true);
        }
        check("http://localhost:6274", "127.0.0.1:8787", false, true, &[], true);
        check("http://evil.example", "evil.example", false, true, &[], false);
        check("http://evil.example:8787", "evil.example:8787", false, true, &[], false);
        check("", "evil.example", false, true, &[], false);
        check("", "", false, true, &[], false);
        check("http://evil.example", "localhost:8787", false, true, &[], false);
        check("null", "localhost:8787", false, true, &[], false);
        check("http://localhost.evil.example", "localhost:8787", false, true, &[], false);
        check("http://localhost:evil", "localhost:8787", false, true, &[], false);
        check("", "pegboard.lan:8787", false, true, &["http://pegboard.lan:8787"], true);
        check("http://pegboard.lan:8787", "pegboard.lan:8787", false, true, &["http://pegboard.lan:8787"], true);
    }

    #[test]
    fn deployed_it_lets_in_whom_it_lists_and_itself() {
        check("", "peg.example", true, false, &[], true);
        check("https://peg.example", "peg.example", true, false, &[], true);
        check("http://peg.example", "peg.example", true, false, &[], false);
        check("https://evil.example", "peg.example", true, false, &[], false);
        check("https://app.example", "peg.example", true, false, &["https://app.example"], true);
        check("https://evil.example", "peg.example", true, false, &["*"], true);
        // Without TLS a name proves nothing.
        check("http://peg.example", "peg.example", false, false, &[], false);
        check("http://localhost:3000", "peg.example", true, false, &[], false);
    }
}
