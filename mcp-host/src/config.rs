//! Settings: flags of the command line, with defaults. The secret comes from the environment, where other users of the
//! machine cannot read it.

use std::io::{Error, Result};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub listen: SocketAddr,
    /// What every client must know; none, if nobody but the Worker can reach the port.
    pub secret: Option<String>,
    /// The folder with the packages whose servers may run.
    pub packages: PathBuf,
    pub limits: Limits,
}

/// The limits of the servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How many servers run at once.
    pub servers: usize,
    /// After this time without a request, a server is stopped.
    pub idle: Duration,
    /// How much memory all processes of one server may occupy together.
    pub memory_bytes: u64,
    /// How many processes one server may have.
    pub processes: usize,
    /// How many files one process may have open.
    pub open_files: u64,
}

const SECRET: &str = "MCP_HOST_SECRET";
const NO_SECRET: &str = "--no-secret";
const NAMES: [&str; 8] =
    ["--address", "--port", "--packages", "--servers", "--idle-seconds", "--memory-mb", "--processes", "--open-files"];

impl Config {
    pub fn read(arguments: &[String]) -> Result<Self> {
        Self::parse(arguments, std::env::var(SECRET).ok())
    }

    fn parse(arguments: &[String], secret: Option<String>) -> Result<Self> {
        let (open, pairs): (Vec<_>, Vec<_>) = arguments.iter().partition(|it| *it == NO_SECRET);
        if let Some(pair) = pairs.chunks(2).find(|pair| pair.len() != 2 || !NAMES.contains(&pair[0].as_str())) {
            let known = NAMES.map(|name| format!("{name} VALUE")).join(", ");
            return Err(Error::other(format!("cannot make sense of {}: known are {known}, {NO_SECRET}", pair[0])));
        }
        let given = |name: &str| pairs.chunks(2).rev().find(|pair| pair[0] == name).map(|pair| pair[1].as_str());
        let secret = secret.filter(|it| !it.is_empty());
        if secret.is_none() && open.is_empty() {
            return Err(Error::other(format!(
                "set {SECRET}, which every client must then send: whoever reaches the port can run programs. \
                 {NO_SECRET} is for a container that only its Durable Object can reach"
            )));
        }
        let address = typed(given("--address"), "--address", IpAddr::V4(Ipv4Addr::LOCALHOST))?;
        let limits = Limits {
            servers: typed(given("--servers"), "--servers", 16)?,
            idle: Duration::from_secs(typed(given("--idle-seconds"), "--idle-seconds", 300)?),
            memory_bytes: typed(given("--memory-mb"), "--memory-mb", 1024_u64)?.saturating_mul(1 << 20),
            processes: typed(given("--processes"), "--processes", 64)?,
            open_files: typed(given("--open-files"), "--open-files", 1024)?,
        };
        let sound = [
            ("--servers", (1..=1_000).contains(&limits.servers)),
            ("--idle-seconds", (1..=86_400).contains(&limits.idle.as_secs())),
            ("--memory-mb", limits.memory_bytes > 0),
            ("--processes", limits.processes > 0),
            ("--open-files", limits.open_files >= 16),
        ];
        if let Some((name, _)) = sound.iter().find(|(_, sound)| !sound) {
            return Err(Error::other(format!("{name} is out of range")));
        }
        let packages = given("--packages").ok_or_else(|| Error::other("--packages DIR is needed"))?;
        let port = typed(given("--port"), "--port", 8080)?;
        Ok(Self { listen: SocketAddr::new(address, port), secret, packages: PathBuf::from(packages), limits })
    }
}

fn typed<T: FromStr>(given: Option<&str>, name: &str, default: T) -> Result<T> {
    match given {
        Some(text) => text.parse().map_err(|_| Error::other(format!("{name} cannot be {text:?}"))),
        None => Ok(default),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str], secret: Option<&str>) -> Result<Config> {
        let arguments: Vec<String> = arguments.iter().map(|&each| each.to_owned()).collect();
        Config::parse(&arguments, secret.map(str::to_owned))
    }

    #[test]
    fn defaults_are_for_this_machine_alone() {
        let config = parse(&["--packages", "p"], Some("s")).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!((config.limits.servers, config.limits.idle.as_secs()), (16, 300));
        assert_eq!((config.limits.memory_bytes, config.limits.processes), (1 << 30, 64));
        let config = parse(&["--packages", "p", "--address", "0.0.0.0", "--port", "0"], Some("s")).unwrap();
        assert_eq!(config.listen.to_string(), "0.0.0.0:0");
    }

    #[test]
    fn without_a_secret_the_host_starts_only_if_it_is_told_to() {
        assert!(parse(&["--packages", "p"], None).is_err());
        assert!(parse(&["--packages", "p"], Some("")).is_err());
        assert!(parse(&["--packages", "p", "--no-secret"], None).unwrap().secret.is_none());
        assert_eq!(parse(&["--no-secret", "--packages", "p"], Some("s")).unwrap().secret.as_deref(), Some("s"));
    }

    #[test]
    fn nonsense_is_refused() {
        let bad =
            [&["--packages"][..], &[], &["--packages", "p", "--servers", "0"], &["--packages", "p", "--port", "x"]];
        for bad in bad.iter().chain(&[&["--packages", "p", "--server", "1"][..]]) {
            assert!(parse(bad, Some("s")).is_err(), "{bad:?}");
        }
    }
}
