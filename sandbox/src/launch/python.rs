//! Finds Python, the files that it needs, and its command line.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The paths of Python in images and distributions. PATH is not used: it may name a script, or a user's own Python.
const USUAL: [&str; 2] = ["/usr/local/bin/python3", "/usr/bin/python3"];

/// The folders of libraries, besides those next to the interpreter.
const LIBRARIES: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

/// The files of both rooms, by name.
macro_rules! modules {
    ($($name:literal = $file:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../python/", $file)))),*]
    };
}

const LOADER: &str = include_str!("../../python/load.py");
/// Each module comes after the modules that it imports.
const MODULES: &[(&str, &str)] = &modules![
    "lockdown" = "lockdown.py",
    "report" = "report.py",
    "streams" = "streams.py",
    "guest" = "guest.py",
    "check" = "check.py",
    "child" = "child.py",
    "zygote" = "zygote.py",
];

/// The modules of the second room, after `room`, which holds its settings.
const FILE_MODULES: &[(&str, &str)] = &modules![
    "lockdown" = "lockdown.py",
    "landlock" = "landlock.py",
    "report" = "report.py",
    "streams" = "streams.py",
    "toolset_paths" = "toolset_paths.py",
    "toolset_docstring" = "toolset_docstring.py",
    "toolset_values" = "toolset_values.py",
    "toolset_signature" = "toolset_signature.py",
    "toolset_types" = "toolset_types.py",
    "toolset_schema" = "toolset_schema.py",
    "toolset_returns" = "toolset_returns.py",
    "toolset_errors" = "toolset_errors.py",
    "covalt_toolset" = "covalt_toolset.py",
    "toolset_rehearsal" = "toolset_rehearsal.py",
    "toolset_binding" = "toolset_binding.py",
    "file_loop" = "file_loop.py",
    "file_guest" = "file_guest.py",
    "child" = "file_child.py",
    "zygote" = "zygote.py",
];

pub fn find(given: Option<&Path>) -> Result<PathBuf> {
    let tried = given.map_or_else(|| USUAL.map(PathBuf::from).to_vec(), |path| vec![path.to_owned()]);
    tried
        .iter()
        .find_map(|path| path.canonicalize().ok())
        .ok_or_else(|| Error::other(format!("there is no Python at any of {tried:?}; say where with --python")))
}

/// The paths of the interpreter, its library and the system's libraries, as far as they exist.
pub fn needed(python: &Path, packages: Option<&Path>) -> Vec<PathBuf> {
    let mut paths = vec![python.to_owned()];
    paths.extend(packages.map(Path::to_owned));
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

/// What the children of the second room must know about their zygote.
pub struct RoomSettings<'a> {
    pub packages: &'a Path,
    /// Whether they enter a second layer of landlock.
    pub landlock: bool,
    /// Whether their folders are file systems of their own, with limits.
    pub mounted: bool,
}

/// The command line of a zygote, with the settings of the second room.
pub fn command(python: &Path, owner: u32, room: Option<&RoomSettings>) -> Command {
    let mut command = Command::new(python);
    // Isolated mode, without site-packages, without writing bytecode, in UTF-8 with every locale.
    command.args(["-I", "-S", "-B", "-X", "utf8", "-c", LOADER]).arg(format!("pegboard-sandbox-{owner}"));
    if let Some(room) = room {
        command.arg("room").arg(room.source());
    }
    for (name, source) in if room.is_some() { FILE_MODULES } else { MODULES } {
        command.arg(name).arg(source);
    }
    command
}

impl RoomSettings<'_> {
    /// The source of the module `room`, which comes first, because other modules import packages. A text in JSON is a text
    /// in Python too.
    fn source(&self) -> String {
        let packages = serde_json::Value::from(self.packages.to_string_lossy());
        let truth = |value| if value { "True" } else { "False" };
        let (landlock, mounted) = (truth(self.landlock), truth(self.mounted));
        format!("import sys\nsys.path.append({packages})\nLANDLOCK = {landlock}\nMOUNTED = {mounted}\n")
    }
}
