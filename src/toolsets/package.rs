//! A bundle as it arrives: a ZIP archive with a manifest and files. Everything is checked, and the contents are hashed, before
//! anything is stored. One file at a time is in memory besides the archive.

use super::file_kind::FileKind;
use super::toolset::ToolsetFile;
use crate::archive::{Archive, ArchiveFault, ArchiveLimits, Entry};
use crate::error::{BundleNote, Error, Result};
use crate::files::MAX_FILE_BYTES;
use crate::hex;
use sha2::{Digest, Sha256};

/// The largest bundle.
pub const MAX_BUNDLE_BYTES: usize = 16 * 1024 * 1024;

const LIMITS: ArchiveLimits = ArchiveLimits {
    archive_bytes: MAX_BUNDLE_BYTES,
    entries: 2_000,
    entry_bytes: MAX_FILE_BYTES,
    total_bytes: 64 * 1024 * 1024,
    name_bytes: 1_024,
};

/// The longest manifest.
pub const MAX_MANIFEST_BYTES: u32 = 1024 * 1024;
const MANIFESTS: [&str; 2] = ["toolset.yaml", "toolset.yml"];

/// A bundle whose archive is sound.
#[derive(Debug)]
pub struct Package<'a> {
    manifest_path: &'a str,
    manifest: String,
    files: Vec<ToolsetFile>,
    /// The entries of the files, in the same order.
    entries: Vec<Entry<'a>>,
}

impl<'a> Package<'a> {
    /// Reads a bundle, or tells everything that is wrong with its archive.
    pub fn open(zip: &'a [u8]) -> std::result::Result<Self, Vec<BundleNote>> {
        let archive = Archive::open(zip, &LIMITS).map_err(|it| it.into_iter().map(note).collect::<Vec<_>>())?;
        let layout = Layout::of(&archive);
        let mut faults = Vec::new();
        let manifest_path = layout.manifest().unwrap_or_else(|fault| {
            faults.push(fault);
            ""
        });
        let mut package = Self { manifest_path, manifest: String::new(), files: Vec::new(), entries: Vec::new() };
        for (path, entry) in layout.files {
            if let Err(message) = package.take(path, entry) {
                faults.push(BundleNote { file: Some(path.to_owned()), line: None, path: None, message });
            }
        }
        if faults.is_empty() { Ok(package) } else { Err(faults) }
    }

    fn take(&mut self, path: &'a str, entry: Entry<'a>) -> std::result::Result<(), String> {
        if path == self.manifest_path {
            self.manifest = manifest_of(&entry)?;
            return Ok(());
        }
        let contents = entry.read().map_err(|it| it.message)?;
        let sha256 = hex::encode(&Sha256::digest(&contents));
        self.files.push(ToolsetFile { path: path.to_owned(), kind: FileKind::of(path), sha256, size: entry.size });
        self.entries.push(entry);
        Ok(())
    }

    /// The name and the text of the manifest.
    pub fn manifest(&self) -> (&str, &str) {
        (self.manifest_path, &self.manifest)
    }

    /// The files except for the manifest, in the order of their paths.
    pub fn files(&self) -> &[ToolsetFile] {
        &self.files
    }

    /// The contents of a file.
    pub fn read(&self, path: &str) -> Result<Vec<u8>> {
        let index = self.files.binary_search_by(|it| it.path.as_str().cmp(path)).ok();
        let entry = index.and_then(|it| self.entries.get(it));
        let entry = entry.ok_or_else(|| Error::Internal(format!("{path} is no file of the package")))?;
        // The contents have been read before, so that this cannot fail.
        entry.read().map_err(|fault| Error::Internal(format!("{path} {}", fault.message)))
    }
}

fn manifest_of(entry: &Entry) -> std::result::Result<String, String> {
    if entry.size > MAX_MANIFEST_BYTES {
        return Err(format!("has {} bytes; a manifest has at most {MAX_MANIFEST_BYTES}", entry.size));
    }
    let bytes = entry.read().map_err(|it| it.message)?;
    String::from_utf8(bytes).map_err(|it| {
        let line = it.as_bytes()[..it.utf8_error().valid_up_to()].iter().filter(|it| **it == b'\n').count() + 1;
        format!("is not UTF-8 (line {line})")
    })
}

fn note(fault: ArchiveFault) -> BundleNote {
    BundleNote { file: fault.entry, line: None, path: None, message: fault.message }
}

/// The files of an archive by their paths in the bundle, in the order of the paths.
struct Layout<'a> {
    files: Vec<(&'a str, Entry<'a>)>,
}

impl<'a> Layout<'a> {
    /// Leaves out what tools of others add, and takes away the folder around everything that has the manifest.
    fn of(archive: &Archive<'a>) -> Self {
        let kept = archive.entries.iter().filter(|it| !it.is_directory() && !is_dropped(it.name));
        let mut files = kept.map(|it| (it.name, *it)).collect::<Vec<_>>();
        let folder = files.first().and_then(|it| it.0.split_once('/')).map(|it| format!("{}/", it.0));
        if let Some(folder) = folder {
            let within = files.iter().map(|(path, entry)| Some((path.strip_prefix(folder.as_str())?, *entry)));
            if let Some(stripped) = within.collect::<Option<Vec<_>>>()
                && stripped.iter().any(|(path, _)| MANIFESTS.contains(path))
            {
                files = stripped;
            }
        }
        files.sort_by_key(|it| it.0);
        Self { files }
    }

    /// The path of the one manifest.
    fn manifest(&self) -> std::result::Result<&'a str, BundleNote> {
        let whole = |message| Err(BundleNote { file: None, line: None, path: None, message });
        let mut manifests = self.files.iter().map(|it| it.0).filter(|it| MANIFESTS.contains(it));
        match (manifests.next(), manifests.next()) {
            (Some(path), None) => Ok(path),
            (Some(_), Some(_)) => whole("The ZIP has two manifests, toolset.yaml and toolset.yml".to_owned()),
            (None, _) if self.files.is_empty() => whole("The ZIP has no files".to_owned()),
            (None, _) => {
                let elsewhere = self.files.iter().map(|it| it.0).find(|it| is_almost_manifest(it));
                let hint = elsewhere.map_or(String::new(), |it| format!("; it has {it}"));
                whole(format!("The ZIP has no toolset.yaml at its root or in one folder around everything{hint}"))
            }
        }
    }
}

/// Whether a file is left out: what macOS adds to archives, and all that is hidden.
fn is_dropped(name: &str) -> bool {
    name.starts_with("__MACOSX/") || name.split('/').any(|it| it.starts_with('.'))
}

/// Whether a file is a manifest in another folder, or in another spelling.
fn is_almost_manifest(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |it| it.1);
    MANIFESTS.iter().any(|it| name.eq_ignore_ascii_case(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::samples::{Part, deflated, stored, zip};

    #[track_caller]
    fn refused(zip: &[u8], expected: &[(Option<&str>, &str)]) {
        let faults = Package::open(zip).unwrap_err();
        let told = faults.iter().map(|it| (it.file.as_deref(), it.message.as_str())).collect::<Vec<_>>();
        assert_eq!(told, expected);
        assert!(faults.iter().all(|it| it.line.is_none() && it.path.is_none()));
    }

    fn paths<'a>(package: &'a Package) -> Vec<(&'a str, &'static str)> {
        package.files().iter().map(|it| (it.path.as_str(), it.kind.as_str())).collect()
    }

    #[test]
    fn a_package_has_a_manifest_and_files_of_four_kinds() {
        let names = [
            "tools/x.py",
            "toolset.yaml",
            "artifacts/page.html",
            "artifacts/style.css",
            "artifacts/make.py",
            "view.HTM",
            "pyproject.toml",
            "config/a.json",
            "data.json",
            "tools/toolset.yaml",
            "README.md",
            "noext",
        ];
        let zip = zip(&names.map(|it| deflated(it, it.repeat(10).as_bytes())));
        let package = Package::open(&zip).unwrap();
        assert_eq!(package.manifest(), ("toolset.yaml", "toolset.yaml".repeat(10).as_str()));
        let expected = [
            ("README.md", "asset"),
            ("artifacts/make.py", "python"),
            ("artifacts/page.html", "artifact"),
            ("artifacts/style.css", "artifact"),
            ("config/a.json", "asset"),
            ("data.json", "config"),
            ("noext", "asset"),
            ("pyproject.toml", "config"),
            ("tools/toolset.yaml", "asset"),
            ("tools/x.py", "python"),
            ("view.HTM", "artifact"),
        ];
        assert_eq!(paths(&package), expected);
        for file in package.files() {
            let contents = package.read(&file.path).unwrap();
            assert_eq!(contents, file.path.repeat(10).as_bytes());
            assert_eq!(file.sha256, hex::encode(&Sha256::digest(&contents)));
            assert_eq!(file.size as usize, contents.len());
        }
        assert!(package.read("toolset.yaml").is_err());
        assert!(package.read("tools").is_err());
    }

    #[test]
    fn what_systems_add_is_left_out_and_one_folder_is_taken_away() {
        let names = [
            "quiz-main/",
            "quiz-main/toolset.yml",
            "quiz-main/tools/",
            "quiz-main/tools/quiz.py",
            "quiz-main/.DS_Store",
            "quiz-main/.git/config",
            "__MACOSX/quiz-main/._toolset.yml",
            "__MACOSX/plain",
            ".hidden",
        ];
        let zip = zip(&names.map(|it| stored(it, if it.ends_with('/') { b"" } else { b"1" })));
        let package = Package::open(&zip).unwrap();
        assert_eq!(package.manifest(), ("toolset.yml", "1"));
        assert_eq!(paths(&package), [("tools/quiz.py", "python")]);
    }

    #[test]
    fn a_package_has_one_manifest() {
        let open = |names: &[&str]| zip(&names.iter().map(|it| stored(it, b"1")).collect::<Vec<_>>());
        let none = "The ZIP has no toolset.yaml at its root or in one folder around everything";
        refused(&open(&[]), &[(None, "The ZIP has no files")]);
        refused(&open(&["__MACOSX/toolset.yaml", ".x/toolset.yaml"]), &[(None, "The ZIP has no files")]);
        refused(&open(&["a.py", "b/c.py"]), &[(None, none)]);
        refused(&open(&["a/b/toolset.yaml"]), &[(None, &format!("{none}; it has a/b/toolset.yaml"))]);
        refused(&open(&["a/toolset.yaml", "b.py"]), &[(None, &format!("{none}; it has a/toolset.yaml"))]);
        refused(&open(&["Toolset.YAML"]), &[(None, &format!("{none}; it has Toolset.YAML"))]);
        let two = (None, "The ZIP has two manifests, toolset.yaml and toolset.yml");
        refused(&open(&["toolset.yaml", "toolset.yml"]), &[two]);
        refused(&open(&["x/toolset.yaml", "x/toolset.yml"]), &[two]);
        assert!(Package::open(&open(&["toolset.yaml", "x/toolset.yml"])).is_ok());
    }

    #[test]
    fn a_manifest_is_a_text_of_at_most_one_mebibyte() {
        let text = (Some("toolset.yaml"), "is not UTF-8 (line 2)");
        refused(&zip(&[stored("toolset.yaml", b"a: 1\nb: \xff")]), &[text]);
        let size = (Some("toolset.yaml"), "has 1048577 bytes; a manifest has at most 1048576");
        refused(&zip(&[deflated("x/toolset.yaml", &[b'a'; 1_048_577])]), &[size]);
        assert!(Package::open(&zip(&[deflated("toolset.yaml", &[b'a'; 1_048_576])])).is_ok());
    }

    #[test]
    fn every_fault_is_told_at_once() {
        refused(b"text", &[(None, "The file is no ZIP archive")]);
        let hostile = [stored("../a", b""), Part { mode: 0o120_777, ..stored("x/link", b"/etc") }, stored("x/a", b"")];
        let expected = [(Some("../a"), "has `..` in its name"), (Some("x/link"), "is a symbolic link")];
        refused(&zip(&hostile), &expected);
        let damaged = ["x/b", "x/a"].map(|it| Part { crc32: 1, ..deflated(it, b"1") });
        let none = "The ZIP has no toolset.yaml at its root or in one folder around everything";
        let sum = "has a wrong checksum";
        refused(&zip(&damaged), &[(None, none), (Some("x/a"), sum), (Some("x/b"), sum)]);
        let damaged = ["x/b", "x/a", "x/toolset.yaml"].map(|it| Part { crc32: 1, ..deflated(it, b"1") });
        refused(&zip(&damaged), &[(Some("a"), sum), (Some("b"), sum), (Some("toolset.yaml"), sum)]);
    }
}
