//! The packages whose servers may run: those that `package.json` and `requirements.txt` in the packages' folder list. They
//! are read once, when the host starts. Nothing is ever downloaded.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

/// The packages of one kind, by name.
pub type PackageList = BTreeMap<String, Package>;

pub struct Packages {
    pub npm: PackageList,
    /// By normalised names.
    pub python: PackageList,
    /// The interpreters, if they are there.
    pub node_program: Option<PathBuf>,
    pub python_program: Option<PathBuf>,
    /// The value of `PATH` for servers.
    pub path: String,
}

pub struct Package {
    pub version: String,
    /// The programs of the package: their names and files.
    pub programs: BTreeMap<String, PathBuf>,
}

#[derive(Deserialize)]
struct NpmManifest {
    #[serde(default)]
    version: String,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
    bin: Option<NpmPrograms>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NpmPrograms {
    /// One program, which is named after the package.
    One(String),
    Many(BTreeMap<String, String>),
}

const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

impl Packages {
    /// Reads the folder. A package that is listed and not installed is an error.
    pub fn read(folder: &Path) -> Result<Self> {
        let folder = folder.canonicalize().map_err(|cause| at(folder, cause))?;
        let programs = std::env::var_os("PATH").unwrap_or_default();
        let found = |name: &str| std::env::split_paths(&programs).map(|it| it.join(name)).find(|it| it.is_file());
        let node_program = found("node");
        let venv = folder.join("venv/bin");
        let python_program = Some(venv.join("python3")).filter(|it| it.exists()).or_else(|| found("python3"));
        let node_folder = node_program.as_deref().and_then(Path::parent).map(Path::to_owned);
        let folders = [Some(venv), Some(folder.join("node_modules/.bin")), node_folder].into_iter().flatten();
        let folders = folders.chain(SYSTEM_FOLDERS.map(PathBuf::from)).map(|it| it.display().to_string());
        Ok(Self {
            npm: npm(&folder)?,
            python: python(&folder)?,
            node_program,
            python_program,
            path: folders.collect::<Vec<_>>().join(":"),
        })
    }
}

fn npm(folder: &Path) -> Result<PackageList> {
    let Some(list) = optional(&folder.join("package.json"))? else { return Ok(PackageList::new()) };
    let list: NpmManifest = serde_json::from_str(&list)?;
    list.dependencies.into_keys().map(|name| Ok((name.clone(), npm_package(folder, &name)?))).collect()
}

fn npm_package(folder: &Path, name: &str) -> Result<Package> {
    let home = folder.join("node_modules").join(name);
    let path = home.join("package.json");
    let text = fs::read_to_string(&path).map_err(|cause| at(&path, cause))?;
    let manifest: NpmManifest = serde_json::from_str(&text)?;
    let programs = match manifest.bin {
        Some(NpmPrograms::One(file)) => BTreeMap::from([(unscoped(name).to_owned(), file)]),
        Some(NpmPrograms::Many(programs)) => programs,
        None => BTreeMap::new(),
    };
    let programs = programs.into_iter().map(|(name, file)| (name, home.join(file))).collect();
    Ok(Package { version: manifest.version, programs })
}

/// A package's name without its scope.
pub fn unscoped(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn python(folder: &Path) -> Result<PackageList> {
    let Some(list) = optional(&folder.join("requirements.txt"))? else { return Ok(PackageList::new()) };
    let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let names = lines.filter_map(|line| line.split(['=', '<', '>', '~', '!', '[', ';', ' ']).next());
    names.filter(|name| !name.is_empty()).map(|name| python_package(folder, &normalised(name))).collect()
}

fn python_package(folder: &Path, name: &str) -> Result<(String, Package)> {
    let described = distributions(folder)?.into_iter().find_map(|path| {
        let described = path.file_name()?.to_str()?.strip_suffix(".dist-info")?;
        let (found, version) = described.split_once('-')?;
        (normalised(found) == name).then(|| (version.to_owned(), path.clone()))
    });
    let (version, path) =
        described.ok_or_else(|| Error::other(format!("the Python package {name} is not installed")))?;
    let entry_points = optional(&path.join("entry_points.txt"))?.unwrap_or_default();
    let scripts = console_scripts(&entry_points);
    let programs = scripts.map(|script| (script.to_owned(), folder.join("venv/bin").join(script))).collect();
    Ok((name.to_owned(), Package { version, programs }))
}

/// The folders that describe the packages of the Python environment.
fn distributions(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let library = folder.join("venv/lib");
    for python in fs::read_dir(&library).map_err(|cause| at(&library, cause))? {
        let Ok(packages) = fs::read_dir(python?.path().join("site-packages")) else { continue };
        for package in packages {
            found.push(package?.path());
        }
    }
    Ok(found)
}

/// The names in the section `[console_scripts]`.
fn console_scripts(entry_points: &str) -> impl Iterator<Item = &str> {
    let lines = entry_points.lines().map(str::trim).skip_while(|line| *line != "[console_scripts]").skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter_map(|line| Some(line.split_once('=')?.0.trim()))
}

/// Python takes `Foo.Bar`, `foo_bar` and `foo-bar` for the same package.
pub fn normalised(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

fn optional(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(at(path, cause)),
    }
}

fn at(path: &Path, cause: Error) -> Error {
    Error::other(format!("{}: {cause}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_those_of_their_section() {
        let told = "[gui_scripts]\nwin = a:b\n[console_scripts]\none = a:b\n two=c:d\n\n[other]\nthree = e:f\n";
        assert_eq!(console_scripts(told).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(console_scripts("").count(), 0);
    }

    #[test]
    fn names_are_compared_as_their_registries_do() {
        assert_eq!(normalised("Mcp_Server.Time"), "mcp-server-time");
        assert_eq!([unscoped("@scope/name"), unscoped("name")], ["name", "name"]);
    }
}
