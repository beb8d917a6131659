//! Which host names and web pages this server answers. This protects against hostile pages, and against hostile host
//! names that resolve to this server (DNS rebinding).

use crate::settings::Settings;
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

    /// Whether the request names a host that this server answers as. In open mode no token protects the server, so that
    /// every request must name this machine or a host in `OPEN_HOSTS`. A hostile page can make its own name point here,
    /// but the page's requests then carry that name. Otherwise any host will do.
    pub fn host_is_answered(&self, settings: &Settings) -> bool {
        !settings.open || self.host.is_some_and(|host| is_loopback(host) || is_open_host(&settings.open_hosts, host))
    }

    /// Whether a page may call an endpoint that browsers call without a preflight. A page is allowed if `CORS_ORIGINS`
    /// lists its origin, or if this server served it. The second is the case in two situations: the page's host is the
    /// request's host, and both use TLS or the host is one of `OPEN_HOSTS`; or both hosts are names of this machine.
    /// Without TLS, an equal host that nobody has listed proves nothing: DNS rebinding makes a hostile name point here.
    pub fn page_is_allowed(&self, settings: &Settings) -> bool {
        let Some(origin) = self.origin else { return true };
        if settings.cors_origins.iter().any(|it| it == "*" || it == origin) {
            return true;
        }
        let (Some((scheme, page)), Some(host)) = (origin.split_once("://"), self.host) else { return false };
        let is_own = page == host
            && ((scheme == "https" && self.secure) || (settings.open && is_open_host(&settings.open_hosts, host)));
        is_own || (is_loopback(page) && is_loopback(host))
    }
}

/// Whether the host is listed, with its port or for all ports.
fn is_open_host(listed: &[String], host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    listed.iter().any(|it| *it == host || it == without_port(&host))
}

/// Whether the host is a name of this machine, with or without a port.
fn is_loopback(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].contains(&without_port(host).to_ascii_lowercase().as_str())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender<'a>(origin: &'a str, host: &'a str, secure: bool) -> RequestOrigin<'a> {
        let some = |text| Some(text).filter(|it: &&str| !it.is_empty());
        RequestOrigin { origin: some(origin), host: some(host), secure }
    }

    #[track_caller]
    fn check(origin: &str, host: &str, secure: bool, vars: &[(&str, &str)], expected: bool) {
        let allowed = sender(origin, host, secure).page_is_allowed(&Settings::of_vars(vars));
        assert_eq!(allowed, expected, "{origin} to {host}");
    }

    const OPEN: (&str, &str) = ("AUTH", "open");

    #[test]
    fn in_open_mode_only_the_names_of_this_machine_and_the_listed_hosts_are_answered() {
        let answered =
            |host: &str, vars: &[(&str, &str)]| sender("", host, false).host_is_answered(&Settings::of_vars(vars));
        for host in ["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "localhost", "LOCALHOST:1"] {
            assert!(answered(host, &[OPEN]), "{host}");
        }
        let foreign =
            ["evil.example", "evil.example:8787", "", "localhost.evil.example", "localhost:evil", "127.0.0.2"];
        for host in foreign {
            assert!(!answered(host, &[OPEN]), "{host}");
            // A page that may read answers says nothing about hosts.
            assert!(!answered(host, &[OPEN, ("CORS_ORIGINS", "*")]), "{host}");
            assert!(answered(host, &[]), "{host}");
        }
        let listed = [OPEN, ("OPEN_HOSTS", "peg.lan, 10.0.0.7:8787")];
        for (host, expected) in
            [("peg.lan", true), ("Peg.lan:1", true), ("10.0.0.7:8787", true), ("10.0.0.7", false), ("a.peg.lan", false)]
        {
            assert_eq!(answered(host, &listed), expected, "{host}");
        }
    }

    #[test]
    fn on_a_machine_of_ones_own_only_its_own_pages_are_let_in() {
        for host in ["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "localhost"] {
            check("", host, false, &[OPEN], true);
            check(&format!("http://{host}"), host, false, &[OPEN], true);
        }
        check("http://localhost:6274", "127.0.0.1:8787", false, &[OPEN], true);
        check("http://evil.example", "evil.example", false, &[OPEN], false);
        check("http://evil.example:8787", "evil.example:8787", false, &[OPEN], false);
        check("http://evil.example", "localhost:8787", false, &[OPEN], false);
        check("null", "localhost:8787", false, &[OPEN], false);
        check("http://localhost.evil.example", "localhost:8787", false, &[OPEN], false);
        check("http://localhost:evil", "localhost:8787", false, &[OPEN], false);
        check("http://peg.lan:8787", "peg.lan:8787", false, &[OPEN, ("OPEN_HOSTS", "peg.lan")], true);
        check("http://evil.example", "peg.lan:8787", false, &[OPEN, ("OPEN_HOSTS", "peg.lan")], false);
        check("http://peg.lan:8787", "peg.lan:8787", false, &[("OPEN_HOSTS", "peg.lan")], false);
    }

    #[test]
    fn deployed_it_lets_in_whom_it_lists_and_itself() {
        check("", "peg.example", true, &[], true);
        check("https://peg.example", "peg.example", true, &[], true);
        check("http://peg.example", "peg.example", true, &[], false);
        check("https://evil.example", "peg.example", true, &[], false);
        check("https://app.example", "peg.example", true, &[("CORS_ORIGINS", "https://app.example")], true);
        check("https://evil.example", "peg.example", true, &[("CORS_ORIGINS", "*")], true);
        // Without TLS a name proves nothing.
        check("http://peg.example", "peg.example", false, &[], false);
        check("http://localhost:3000", "peg.example", true, &[], false);
    }
}
