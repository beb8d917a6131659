//! Finds modules that Python code of a toolset imports and cannot use: the sandbox has no processes and no network.

use crate::error::BundleNote;

/// The modules, and what the sandbox lacks for them.
const UNUSABLE: [(&str, &str); 4] = [
    ("subprocess", "starts no processes"),
    ("multiprocessing", "starts no processes"),
    ("socket", "has no network"),
    ("urllib.request", "has no network"),
];

/// A warning for each module that a file imports and cannot use, with the line of the first import.
pub fn warnings(file: &str, code: &str) -> Vec<BundleNote> {
    let mut warnings: Vec<BundleNote> = Vec::new();
    for (number, line) in (1..).zip(code.lines()) {
        for (module, lack) in UNUSABLE.iter().filter(|(module, _)| imports(line, module)) {
            let message = format!("imports {module}, and the sandbox {lack}: what uses it fails when it is called");
            if !warnings.iter().any(|it| it.message == message) {
                let file = Some(file.to_owned());
                warnings.push(BundleNote { file, line: Some(number), path: None, message });
            }
        }
    }
    warnings
}

/// Whether the line imports the module, or something of it.
fn imports(line: &str, module: &str) -> bool {
    let line = line.trim_start();
    let is_module = |name: &str| {
        let name = name.split_whitespace().next().unwrap_or_default().trim_end_matches(';');
        name == module || name.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'))
    };
    if let Some(names) = line.strip_prefix("import ") {
        return names.split(',').any(is_module);
    }
    let Some(rest) = line.strip_prefix("from ") else { return false };
    if is_module(rest) {
        return true;
    }
    // `from urllib import request`
    let Some((parent, child)) = module.split_once('.') else { return false };
    let Some((from, names)) = rest.split_once(" import ") else { return false };
    from.trim() == parent && names.split(',').any(|it| it.split_whitespace().next() == Some(child))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_with_their_lines() {
        let found = |code: &str| warnings("a.py", code).iter().map(|it| it.line.unwrap()).collect::<Vec<_>>();
        assert_eq!(found("import os\nimport subprocess\nimport subprocess as s\n"), [2]);
        assert_eq!(found("def f():\n    from subprocess import run\n"), [2]);
        assert_eq!(found("import json, socket\n"), [1]);
        assert_eq!(found("import urllib.request\nfrom multiprocessing.pool import Pool"), [1, 2]);
        assert_eq!(found("from urllib import parse, request"), [1]);
        for harmless in
            ["import urllib.parse", "import subprocesses", "x = 'import socket'", "from . import socket", ""]
        {
            assert_eq!(found(harmless), Vec::<u32>::new(), "{harmless}");
        }
    }
}
