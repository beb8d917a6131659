//! Which program a command stands for. Only the two interpreters and the programs of the listed packages can run. `npx` and
//! `uvx` are read here and never started: they would download what is missing, and hang where there is no network.

use crate::packages::{Package, PackageList, Packages, normalised, unscoped};
use std::path::{Path, PathBuf};

/// A program of this machine, and its arguments.
#[derive(Debug, PartialEq)]
pub struct Program {
    pub path: PathBuf,
    pub arguments: Vec<String>,
}

const KNOWN: &str = "node, python3, python, npx, uvx";

/// The program, or the reason why there is none.
pub fn resolve(command: &str, arguments: &[String], packages: &Packages) -> Result<Program, String> {
    match command {
        "node" => Ok(Program { path: node(packages)?.to_owned(), arguments: arguments.to_owned() }),
        "python3" | "python" => Ok(Program { path: python(packages)?.to_owned(), arguments: arguments.to_owned() }),
        "npx" => npx(arguments, packages),
        "uvx" => uvx(arguments, packages),
        name => {
            if let Some(file) = program_of(&packages.npm, name) {
                return npm_program(file, arguments, packages);
            }
            match program_of(&packages.python, name) {
                Some(file) => python_script(file, arguments, packages),
                None => Err(not_allowed(name, packages)),
            }
        }
    }
}

fn program_of<'a>(list: &'a PackageList, name: &str) -> Option<&'a Path> {
    list.values().find_map(|package| package.programs.get(name)).map(PathBuf::as_path)
}

fn not_allowed(name: &str, packages: &Packages) -> String {
    let lists = [&packages.npm, &packages.python];
    let programs = lists.iter().flat_map(|list| list.values()).flat_map(|package| package.programs.keys());
    let programs = programs.map(|it| format!(", {it}")).collect::<String>();
    format!("The command {name:?} is not allowed: the host runs {KNOWN}{programs}")
}

/// `npx [-y|--yes] PACKAGE[@VERSION] ARGUMENTS…`
fn npx(arguments: &[String], packages: &Packages) -> Result<Program, String> {
    let skipped = arguments.iter().take_while(|it| matches!(it.as_str(), "-y" | "--yes")).count();
    let (named, rest) = arguments[skipped..].split_first().ok_or("npx needs the name of a package")?;
    if named.starts_with('-') {
        return Err(format!("npx runs with -y, a package and its arguments: the option {named} is not supported"));
    }
    // The first character may be the one of a scope.
    let (name, version) = match named.char_indices().skip(1).find(|(_, it)| *it == '@') {
        Some((place, _)) => (&named[..place], Some(&named[place + 1..])),
        None => (named.as_str(), None),
    };
    let package = installed("npm", &packages.npm, name, name, version)?;
    let program = package.programs.get(unscoped(name)).or_else(|| {
        let mut programs = package.programs.values();
        programs.next().filter(|_| programs.next().is_none())
    });
    let file =
        program.ok_or_else(|| format!("The npm package {name} has no program of its name, but: {}", names(package)))?;
    npm_program(file, rest, packages)
}

/// `uvx [--from PACKAGE[==VERSION]] NAME[@VERSION] ARGUMENTS…`
fn uvx(arguments: &[String], packages: &Packages) -> Result<Program, String> {
    let (from, rest) = match arguments {
        [flag, from, rest @ ..] if flag == "--from" => (Some(from.as_str()), rest),
        [flag, rest @ ..] if flag.starts_with("--from=") => (flag.strip_prefix("--from="), rest),
        rest => (None, rest),
    };
    let (named, rest) = rest.split_first().ok_or("uvx needs the name of a program")?;
    if named.starts_with('-') {
        return Err(format!("uvx runs with --from, a name and its arguments: the option {named} is not supported"));
    }
    let (program, _) = versioned(named);
    let (name, version) = versioned(from.unwrap_or(named));
    let package = installed("Python", &packages.python, name, &normalised(name), version)?;
    let file = package.programs.get(program);
    let file =
        file.ok_or_else(|| format!("The Python package {name} has no program {program}, but: {}", names(package)))?;
    python_script(file, rest, packages)
}

/// A Python package's name and version, of `name@version` or `name[extra]==version`.
fn versioned(named: &str) -> (&str, Option<&str>) {
    let (name, version) = match named.split_once("==").or_else(|| named.split_once('@')) {
        Some((name, version)) => (name, Some(version)),
        None => (named, None),
    };
    (name.split('[').next().unwrap_or(name), version)
}

/// The package that is listed under `key`.
fn installed<'a>(
    kind: &str,
    list: &'a PackageList,
    name: &str,
    key: &str,
    version: Option<&str>,
) -> Result<&'a Package, String> {
    let Some(package) = list.get(key) else {
        let listed = list.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        return Err(format!("The {kind} package {name} is not installed in the host, which has {listed}"));
    };
    match version {
        Some(version) if version != "latest" && version != package.version => Err(format!(
            "The {kind} package {name} is not installed at version {version}: the host has {}",
            package.version
        )),
        _ => Ok(package),
    }
}

fn names(package: &Package) -> String {
    package.programs.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Node runs the file itself, so that the file needs neither a first line nor a mode of its own.
fn npm_program(file: &Path, arguments: &[String], packages: &Packages) -> Result<Program, String> {
    Ok(Program { path: node(packages)?.to_owned(), arguments: with_file(file, arguments) })
}

fn python_script(file: &Path, arguments: &[String], packages: &Packages) -> Result<Program, String> {
    Ok(Program { path: python(packages)?.to_owned(), arguments: with_file(file, arguments) })
}

fn with_file(file: &Path, arguments: &[String]) -> Vec<String> {
    [file.display().to_string()].into_iter().chain(arguments.iter().cloned()).collect()
}

fn node(packages: &Packages) -> Result<&Path, String> {
    packages.node_program.as_deref().ok_or_else(|| "The host has no Node.js".into())
}

fn python(packages: &Packages) -> Result<&Path, String> {
    packages.python_program.as_deref().ok_or_else(|| "The host has no Python".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn packages() -> Packages {
        let package = |version: &str, programs: &[&str]| {
            let programs = programs.iter().map(|it| ((*it).to_owned(), PathBuf::from(format!("/p/{it}")))).collect();
            Package { version: version.into(), programs }
        };
        Packages {
            npm: BTreeMap::from([
                ("@scope/memory".into(), package("1.2.3", &["mcp-memory"])),
                ("two".into(), package("1.0.0", &["first", "second"])),
            ]),
            python: BTreeMap::from([("mcp-time".into(), package("2.0", &["mcp-time", "other"]))]),
            node_program: Some("/bin/node".into()),
            python_program: Some("/venv/bin/python3".into()),
            path: String::new(),
        }
    }

    fn resolved(line: &str) -> Result<String, String> {
        let words = line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let program = resolve(&words[0], &words[1..], &packages())?;
        Ok(format!("{} {}", program.path.display(), program.arguments.join(" ")).trim().to_owned())
    }

    #[test]
    fn commands_stand_for_programs_of_the_image() {
        for (line, expected) in [
            ("node a.js", "/bin/node a.js"),
            ("python3 -m x", "/venv/bin/python3 -m x"),
            ("python", "/venv/bin/python3"),
            ("npx -y @scope/memory a b", "/bin/node /p/mcp-memory a b"),
            ("npx @scope/memory@1.2.3 -y", "/bin/node /p/mcp-memory -y"),
            ("npx --yes @scope/memory@latest", "/bin/node /p/mcp-memory"),
            ("uvx mcp-time --local UTC", "/venv/bin/python3 /p/mcp-time --local UTC"),
            ("uvx mcp-time@2.0", "/venv/bin/python3 /p/mcp-time"),
            ("uvx --from mcp_time[x]==2.0 other", "/venv/bin/python3 /p/other"),
            ("uvx --from=mcp-time other", "/venv/bin/python3 /p/other"),
            ("mcp-memory x", "/bin/node /p/mcp-memory x"),
            ("mcp-time", "/venv/bin/python3 /p/mcp-time"),
        ] {
            assert_eq!(resolved(line).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_name() {
        for (line, told) in [
            ("bash -c x", "\"bash\" is not allowed"),
            ("/bin/node x", "\"/bin/node\" is not allowed"),
            ("../node", "\"../node\" is not allowed"),
            ("npx -y left-pad", "npm package left-pad is not installed"),
            ("npx @scope/memory@9.9.9", "@scope/memory is not installed at version 9.9.9: the host has 1.2.3"),
            ("npx two", "two has no program of its name, but: first, second"),
            ("npx -c two", "the option -c is not supported"),
            ("npx", "npx needs the name"),
            ("uvx requests", "Python package requests is not installed"),
            ("uvx mcp-time==1", "mcp-time is not installed at version 1"),
            ("uvx --from mcp-time third", "mcp-time has no program third, but: mcp-time, other"),
            ("uvx --with x mcp-time", "the option --with is not supported"),
        ] {
            let refused = resolved(line).expect_err(line);
            assert!(refused.contains(told), "{line}: {refused}");
        }
    }
}
