//! Finds Python, the files that it needs, and its command line.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The paths of Python in images and distributions. PATH is not used: it may name a script, or a user's own Python.
const USUAL: [&str; 2] = ["/usr/local/bin/python3", "/usr/bin/python3"];

/// The folders of libraries, besides those next to the interpreter.
const LIBRARIES: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

const LOADER: &str = include_str!("../../python/load.py");
/// Each module comes after the modules that it imports.
const MODULES: [(&str, &str); 6] = [
    ("lockdown", include_str!("../../python/lockdown.py")),
    ("report", include_str!("../../python/report.py")),
    ("guest", include_str!("../../python/guest.py")),
    ("check", include_str!("../../python/check.py")),
    ("child", include_str!("../../python/child.py")),
    ("zygote", include_str!("../../python/zygote.py")),
];

pub fn find(given: Option<&Path>) -> Result<PathBuf> {
    let tried = given.map_or_else(|| USUAL.map(PathBuf::from).to_vec(), |path| vec![path.to_owned()]);
    tried
        .iter()
        .find_map(|path| path.canonicalize().ok())
        .ok_or_else(|| Error::other(format!("there is no Python at any of {tried:?}; say where with --python")))
}

/// The paths of the interpreter, its library and the system's libraries, as far as they exist.
pub fn needed(python: &Path) -> Vec<PathBuf> {
    let mut paths = vec![python.to_owned()];
    if let Some(prefix) = python.parent().and_then(Path::parent) {
        paths.push(prefix.join("lib"));
    }
    for library in LIBRARIES {
        paths.push(library.into());
    }
    paths.sort();
    paths.dedup();
    paths.retain(|path| path.exists());
    paths
}

pub fn command(python: &Path, owner: u32) -> Command {
    let mut command = Command::new(python);
    // Isolated mode, without site-packages, without writing bytecode, in UTF-8 with every locale.
    command.args(["-I", "-S", "-B", "-X", "utf8", "-c", LOADER]).arg(format!("pegboard-sandbox-{owner}"));
    for (name, source) in MODULES {
        command.arg(name).arg(source);
    }
    command
}
