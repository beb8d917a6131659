//! What a server is: its command, its environment and its folder. The hash of the configuration's bytes names exactly this
//! configuration, so that a request never runs with another one than the Worker means.

use data_encoding::HEXLOWER;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// The largest configuration. Linux takes 128 KiB in one argument, and 2 MiB in all.
pub const MAX_BYTES: usize = 256 * 1024;
const MAX_TEXT_BYTES: usize = 64 * 1024;
const MAX_ARGUMENTS: usize = 256;
const MAX_VARIABLES: usize = 256;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfiguration {
    pub command: String,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A folder inside the server's private folder.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The list of the files that every process finds in its private folder, by its hash.
    #[serde(default)]
    pub files: Option<String>,
}

impl ServerConfiguration {
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let configuration: Self = serde_json::from_slice(bytes).map_err(|cause| cause.to_string())?;
        configuration.check()?;
        Ok(configuration)
    }

    fn check(&self) -> Result<(), String> {
        if self.command.is_empty() {
            return Err("command is empty".into());
        }
        if self.args.len() > MAX_ARGUMENTS || self.env.len() > MAX_VARIABLES {
            return Err(format!("there are at most {MAX_ARGUMENTS} args and {MAX_VARIABLES} variables in env"));
        }
        let texts = [&self.command].into_iter().chain(&self.args).chain(self.env.values()).chain(self.env.keys());
        for text in texts.chain(&self.cwd) {
            if text.len() > MAX_TEXT_BYTES || text.contains('\0') {
                return Err(format!("no text has more than {MAX_TEXT_BYTES} bytes, or a NUL"));
            }
        }
        if let Some(name) = self.env.keys().find(|name| name.is_empty() || name.contains('=')) {
            return Err(format!("{name:?} is no name of a variable"));
        }
        match &self.cwd {
            Some(cwd) if !is_inside(cwd) => Err(format!("cwd is a relative folder without \"..\", not {cwd:?}")),
            _ => Ok(()),
        }
    }
}

/// Whether a path can lead nowhere but into the folder that it is relative to.
fn is_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

pub fn hash(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ServerConfiguration, String> {
        ServerConfiguration::parse(text.as_bytes())
    }

    #[test]
    fn all_but_the_command_may_be_left_out() {
        let read = parse(r#"{"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}, "cwd": "a/b"}"#).unwrap();
        assert_eq!((read.command.as_str(), read.args.len(), read.env["A"].as_str()), ("npx", 2, "b"));
        assert!(parse(r#"{"command": "npx", "cwd": null}"#).unwrap().cwd.is_none());
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let refused = |text: &str| parse(text).expect_err(text);
        assert!(refused(r#"{"command": "npx", "shell": true}"#).contains("unknown field `shell`"));
        for bad in
            ["[]", "{}", r#"{"command": ""}"#, r#"{"command": "a\u0000"}"#, r#"{"command": "a", "env": {"A=": "b"}}"#]
        {
            refused(bad);
        }
        for cwd in ["/etc", "..", "a/../../b", "a/.."] {
            assert!(refused(&format!(r#"{{"command": "a", "cwd": "{cwd}"}}"#)).contains(cwd));
        }
        refused(&format!(r#"{{"command": "a", "args": ["{}"]}}"#, "x".repeat(MAX_TEXT_BYTES + 1)));
        refused(&format!(r#"{{"command": "a", "args": [{}"x"]}}"#, r#""x","#.repeat(MAX_ARGUMENTS)));
    }

    #[test]
    fn a_hash_is_the_sha_256_of_the_bytes() {
        assert_eq!(hash(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
