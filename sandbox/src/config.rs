//! Settings: `--name value`, or `SANDBOX_NAME=value` in the environment, or the default.

use crate::slot_size::MAX_TOTAL_BYTES;
use std::io::{Error, Result};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub listen: SocketAddr,
    /// The interpreter. If it is not set, the usual paths are tried.
    pub python: Option<PathBuf>,
    /// How many calls run at once.
    pub slots: usize,
    /// The upper limits of a call; a request may ask for less.
    pub timeout: Duration,
    pub memory_mb: u64,
    /// The user that Python runs as, if the server runs as root.
    pub user: u32,
    /// When a zygote is replaced.
    pub recycle_calls: u64,
    pub recycle_after: Duration,
    /// Layers that can be turned off, to test the other layers alone.
    pub landlock: bool,
    pub namespaces: bool,
    /// The Python packages of the second room, which works on files. If they are not set, there is no second room.
    pub packages: Option<PathBuf>,
    /// How many calls on files run at once, and the upper limits of such a call.
    pub files_slots: usize,
    pub files_timeout: Duration,
    pub files_memory_mb: u64,
    /// How many bytes of contents are kept for the next calls on files.
    pub contents_mb: u64,
    /// Where folders of calls are made if no file system can be mounted for them.
    pub scratch: PathBuf,
}

const MOST_SLOTS: usize = 64;

/// Half of the contents may be those of one share, which must have room for the files of one call.
const LEAST_CONTENTS_MB: u64 = 2 * (MAX_TOTAL_BYTES >> 20);

const NAMES: [&str; 16] = [
    "listen",
    "python",
    "slots",
    "timeout-seconds",
    "memory-mb",
    "user",
    "recycle-calls",
    "recycle-seconds",
    "landlock",
    "namespaces",
    "packages",
    "files-slots",
    "files-timeout-seconds",
    "files-memory-mb",
    "contents-mb",
    "scratch",
];

impl Config {
    pub fn read(arguments: &[String]) -> Result<Self> {
        Self::parse(arguments, |name| std::env::var(name).ok())
    }

    fn parse(arguments: &[String], environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        for pair in arguments.chunks(2) {
            if !pair[0].strip_prefix("--").is_some_and(|name| NAMES.contains(&name)) || pair.len() != 2 {
                let known = NAMES.map(|name| format!("--{name} VALUE")).join(", ");
                return Err(Error::other(format!("cannot make sense of {}: known are {known}", pair[0])));
            }
        }
        let given = |name: &str| {
            let flag = format!("--{name}");
            let flagged = arguments.chunks(2).rev().find(|pair| pair[0] == flag).map(|pair| pair[1].clone());
            flagged.or_else(|| environment(&format!("SANDBOX_{}", name.to_uppercase().replace('-', "_"))))
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let config = Self {
            listen: typed(&given, "listen", SocketAddr::from(([127, 0, 0, 1], 8080)))?,
            python: given("python").map(PathBuf::from),
            slots: typed(&given, "slots", usual_slots(processors))?,
            timeout: Duration::from_secs(typed(&given, "timeout-seconds", 5)?),
            memory_mb: typed(&given, "memory-mb", 50)?,
            user: typed(&given, "user", 65534)?,
            recycle_calls: typed(&given, "recycle-calls", 1000)?,
            recycle_after: Duration::from_secs(typed(&given, "recycle-seconds", 600)?),
            landlock: switch(&given, "landlock")?,
            namespaces: switch(&given, "namespaces")?,
            packages: given("packages").filter(|path| !path.is_empty()).map(PathBuf::from),
            files_slots: typed(&given, "files-slots", 4)?,
            files_timeout: Duration::from_secs(typed(&given, "files-timeout-seconds", 120)?),
            files_memory_mb: typed(&given, "files-memory-mb", 256)?,
            contents_mb: typed(&given, "contents-mb", 192)?,
            scratch: given("scratch").map_or_else(|| "/tmp".into(), PathBuf::from),
        };
        let sound = [
            ("slots", (1..=MOST_SLOTS).contains(&config.slots)),
            ("timeout-seconds", (1..=3600).contains(&config.timeout.as_secs())),
            ("memory-mb", (1..=65536).contains(&config.memory_mb)),
            ("user", config.user != 0),
            ("recycle-calls", config.recycle_calls > 0),
            ("recycle-seconds", !config.recycle_after.is_zero()),
            ("files-slots", (1..=MOST_SLOTS).contains(&config.files_slots)),
            ("files-timeout-seconds", (1..=3600).contains(&config.files_timeout.as_secs())),
            ("files-memory-mb", (1..=65536).contains(&config.files_memory_mb)),
            ("contents-mb", (LEAST_CONTENTS_MB..=65536).contains(&config.contents_mb)),
        ];
        match sound.iter().find(|(_, sound)| !sound) {
            Some((name, _)) => Err(Error::other(format!("--{name} is out of range"))),
            None => Ok(config),
        }
    }
}

/// At least two, so that one endless call does not keep all other calls waiting.
fn usual_slots(processors: usize) -> usize {
    processors.clamp(2, MOST_SLOTS)
}

fn typed<T: FromStr>(given: &impl Fn(&str) -> Option<String>, name: &str, default: T) -> Result<T> {
    match given(name) {
        Some(text) => text.parse().map_err(|_| Error::other(format!("--{name} cannot be {text:?}"))),
        None => Ok(default),
    }
}

fn switch(given: &impl Fn(&str) -> Option<String>, name: &str) -> Result<bool> {
    match given(name).as_deref() {
        None | Some("on") => Ok(true),
        Some("off") => Ok(false),
        Some(other) => Err(Error::other(format!("--{name} is on or off, not {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Config> {
        let arguments: Vec<String> = arguments.iter().map(|&each| each.to_owned()).collect();
        Config::parse(&arguments, |name| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_defaults() {
        let config = parse(
            &["--slots", "3"],
            &[("SANDBOX_SLOTS", "4"), ("SANDBOX_LANDLOCK", "off"), ("SANDBOX_MEMORY_MB", "9")],
        )
        .unwrap();
        assert_eq!((config.slots, config.memory_mb, config.timeout.as_secs()), (3, 9, 5));
        assert_eq!((config.landlock, config.namespaces), (false, true));
    }

    #[test]
    fn slots_follow_the_processors_within_bounds() {
        assert_eq!([1, 2, 8, 64, 192].map(usual_slots), [2, 2, 8, 64, 64]);
        let ours = std::thread::available_parallelism().unwrap().get();
        assert_eq!(parse(&[], &[]).unwrap().slots, usual_slots(ours));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [&["--slots"][..], &["--slots", "0"], &["--slotz", "1"], &["--landlock", "no"], &["--user", "0"]] {
            assert!(parse(bad, &[]).is_err(), "{bad:?}");
        }
    }
}
