//! The bodies of `POST /files/run`, `POST /inspect`, `POST /files/contents` and `POST /files/read`.

use crate::answer::Encoding;
use crate::folder::{Hash, MAX_PATH_BYTES};
use crate::json;
use crate::limits::Limits;
use crate::request::{LimitsIn, MAX_CODE_BYTES, MAX_SHARE_BYTES, lowered, named};
use crate::slot_size::{MAX_ENTRIES, MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// The longest name of a file. A path of the session may have longer names, but no file system has.
const MAX_NAME_BYTES: usize = 255;
const MAX_ENTRYPOINTS: usize = 200;
/// The time of a call that asks for none.
const USUAL_TIMEOUT: Duration = Duration::from_secs(30);

/// A valid request to run or to inspect code.
#[derive(Debug)]
pub struct FileRequest {
    /// The task in the child's format.
    pub task: Vec<u8>,
    pub limits: Limits,
    pub share: String,
    /// The session's files, by their paths from the root. None if the code is only inspected.
    pub files: Vec<NamedFile>,
    /// The bundle's files, by their paths from the bundle's root, without a slash at the beginning.
    pub bundle: Vec<NamedFile>,
    /// Whether the changes of the session's files are told.
    pub tells_changes: bool,
}

#[derive(Debug, PartialEq)]
pub struct NamedFile {
    pub path: String,
    pub hash: Hash,
    pub size: u64,
}

/// A file: path, SHA-256, size.
type FileIn = (String, String, u64);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunIn {
    share: String,
    #[serde(default)]
    files: Vec<FileIn>,
    #[serde(default)]
    bundle: Vec<FileIn>,
    code: Option<String>,
    module: Option<String>,
    function: String,
    arguments: Option<Box<RawValue>>,
    properties: Option<Vec<String>>,
    context: Option<ContextIn>,
    limits: Option<LimitsIn>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ContextIn {
    #[serde(default)]
    chat_id: String,
    toolset_id: Option<String>,
    extra: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InspectIn {
    share: String,
    #[serde(default)]
    bundle: Vec<FileIn>,
    code: Option<String>,
    entrypoints: Vec<String>,
    limits: Option<LimitsIn>,
}

#[derive(Serialize)]
struct CallTask<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<&'a str>,
    function: &'a str,
    arguments: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<&'a [String]>,
    context: Option<&'a ContextIn>,
}

#[derive(Serialize)]
struct InspectTask<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    inspect: &'a [String],
}

/// Pieces of contents.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentsIn {
    pub share: String,
    pub pieces: Vec<PieceIn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieceIn {
    pub sha256: String,
    pub encoding: Encoding,
    pub number: u32,
    pub count: u32,
    pub data: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadIn {
    pub share: String,
    pub sha256: String,
    #[serde(default)]
    pub from: usize,
    pub bytes: Option<usize>,
}

/// A body that needs no further rules than its types, but for its share.
pub fn parse<T: DeserializeOwned>(body: &[u8], share: impl Fn(&T) -> &str) -> Result<T, String> {
    let parsed = serde_json::from_slice(body).map_err(|cause| cause.to_string())?;
    check_share(share(&parsed))?;
    Ok(parsed)
}

impl FileRequest {
    pub fn to_run(body: &[u8], most: Limits) -> Result<Self, String> {
        let request: RunIn = parse(body, |it: &RunIn| &it.share)?;
        match (&request.code, &request.module) {
            (Some(code), None) => check_code(code)?,
            (None, Some(module)) => check_module("module", module)?,
            _ => return Err("code, module: exactly one of them is needed".into()),
        }
        let none = RawValue::from_string("{}".into()).map_err(|cause| cause.to_string())?;
        let arguments = request.arguments.as_deref().unwrap_or(&none);
        if !arguments.get().starts_with('{') {
            return Err("arguments: an object is needed".into());
        }
        json::check(arguments).map_err(|cause| format!("arguments: {cause}"))?;
        let task = CallTask {
            code: request.code.as_deref(),
            module: request.module.as_deref(),
            function: named(&request.function)?,
            arguments,
            properties: request.properties.as_deref(),
            context: request.context.as_ref(),
        };
        let task = serde_json::to_vec(&task).map_err(|cause| cause.to_string())?;
        let (files, bundle) = named_files(request.files, request.bundle)?;
        let limits = limits(request.limits.as_ref(), most)?;
        Ok(Self { task, limits, share: request.share, files, bundle, tells_changes: true })
    }

    pub fn to_inspect(body: &[u8], most: Limits) -> Result<Self, String> {
        let request: InspectIn = parse(body, |it: &InspectIn| &it.share)?;
        if let Some(code) = &request.code {
            check_code(code)?;
        }
        if !(1..=MAX_ENTRYPOINTS).contains(&request.entrypoints.len()) {
            return Err(format!("entrypoints: 1 to {MAX_ENTRYPOINTS} are needed"));
        }
        for entrypoint in &request.entrypoints {
            let (module, function) = entrypoint
                .split_once(':')
                .ok_or_else(|| format!("entrypoints: {entrypoint:?} is no module:function"))?;
            check_module("entrypoints", module)?;
            named(function)?;
        }
        let task = InspectTask { code: request.code.as_deref(), inspect: &request.entrypoints };
        let task = serde_json::to_vec(&task).map_err(|cause| cause.to_string())?;
        let (files, bundle) = named_files(Vec::new(), request.bundle)?;
        let limits = limits(request.limits.as_ref(), most)?;
        Ok(Self { task, limits, share: request.share, files, bundle, tells_changes: false })
    }

    /// Compares the sizes of the contents with those that the request names, because the bounds were checked by the latter.
    pub fn check_sizes(&self, contents: &[Arc<[u8]>]) -> Result<(), String> {
        let files = self.files.iter().chain(&self.bundle).zip(contents);
        match files.into_iter().find(|(file, bytes)| file.size != bytes.len() as u64) {
            Some((file, bytes)) => {
                Err(format!("files, bundle: {} has {} bytes, not {}", file.path, bytes.len(), file.size))
            }
            None => Ok(()),
        }
    }

    /// The contents that the call needs.
    pub fn hashes(&self) -> impl Iterator<Item = &Hash> {
        self.files.iter().chain(&self.bundle).map(|file| &file.hash)
    }
}

fn limits(asked: Option<&LimitsIn>, most: Limits) -> Result<Limits, String> {
    let limits = lowered(asked, most)?;
    match asked.and_then(|asked| asked.timeout_seconds) {
        Some(_) => Ok(limits),
        None => Ok(limits.lowered(Some(USUAL_TIMEOUT), None)),
    }
}

fn check_share(share: &str) -> Result<(), String> {
    match share.len() {
        1..=MAX_SHARE_BYTES => Ok(()),
        length => Err(format!("share: {length} bytes; 1 to {MAX_SHARE_BYTES} are needed")),
    }
}

fn check_code(code: &str) -> Result<(), String> {
    match code.len() > MAX_CODE_BYTES {
        true => Err(format!("code: {} bytes, and {MAX_CODE_BYTES} are allowed", code.len())),
        false => Ok(()),
    }
}

fn check_module(field: &str, module: &str) -> Result<(), String> {
    let is_name = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(|first| first == '_' || first.is_alphabetic())
            && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
    };
    match module.len() <= MAX_PATH_BYTES && module.split('.').all(is_name) {
        true => Ok(()),
        false => Err(format!("{field}: {:?} is no name of a module", module.chars().take(80).collect::<String>())),
    }
}

/// The files of the session and of the bundle, if they keep to the rules.
fn named_files(files: Vec<FileIn>, bundle: Vec<FileIn>) -> Result<(Vec<NamedFile>, Vec<NamedFile>), String> {
    let count = files.len() + bundle.len();
    if count > MAX_FILES {
        return Err(format!("files, bundle: {count} files, and {MAX_FILES} are allowed"));
    }
    let bytes = files.iter().chain(&bundle).map(|file| file.2).fold(0, u64::saturating_add);
    if bytes > MAX_TOTAL_BYTES {
        return Err(format!("files, bundle: {bytes} bytes, and {MAX_TOTAL_BYTES} are allowed"));
    }
    let read = |field: &'static str, list: Vec<FileIn>| {
        let mut seen = HashSet::new();
        let files = list.into_iter().map(|file| {
            let file = named_file(field, file)?;
            if !seen.insert(file.path.clone()) {
                return Err(format!("{field}: {} comes twice", file.path));
            }
            Ok(file)
        });
        let files = files.collect::<Result<Vec<_>, String>>()?;
        let directories = files.iter().flat_map(|file| file.path.match_indices('/').map(|(end, _)| &file.path[..end]));
        let directories: HashSet<&str> = directories.collect();
        if let Some(path) = directories.iter().find(|path| seen.contains(**path)) {
            return Err(format!("{field}: {path} is both a file and a directory"));
        }
        let directories = directories.len();
        Ok((files, directories))
    };
    let ((files, of_files), (bundle, of_bundle)) = (read("files", files)?, read("bundle", bundle)?);
    let entries = count + of_files + of_bundle;
    if entries > MAX_ENTRIES {
        return Err(format!("files, bundle: {entries} files and directories, and {MAX_ENTRIES} are allowed"));
    }
    Ok((files, bundle))
}

fn named_file(field: &str, (path, sha256, size): FileIn) -> Result<NamedFile, String> {
    let refused = |why: &str| Err(format!("{field}: {} {why}", path.chars().take(1_100).collect::<String>()));
    if size > MAX_FILE_BYTES {
        return refused(&format!("has {size} bytes, and {MAX_FILE_BYTES} are allowed"));
    }
    let relative = match field {
        "files" => path.strip_prefix('/'),
        _ => Some(&*path),
    };
    let Some(relative) = relative else { return refused("does not begin with a slash") };
    let is_sound = |name: &str| !matches!(name, "" | "." | "..") && !name.chars().any(char::is_control);
    if path.len() > MAX_PATH_BYTES || !relative.split('/').all(is_sound) {
        return refused("is no path of a file");
    }
    if relative.split('/').any(|name| name.len() > MAX_NAME_BYTES) {
        return refused(&format!("has a name of more than {MAX_NAME_BYTES} bytes, which no file can have"));
    }
    let Some(hash) = hash(&sha256) else { return refused("has a sha256 that is none") };
    Ok(NamedFile { hash, path, size })
}

/// A hash of 64 lower-case hexadecimal digits.
pub fn hash(text: &str) -> Option<Hash> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 64 || !text.as_bytes().iter().all(is_digit) {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(hash)
}

pub fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::Random;
    use serde_json::{Value, json};

    const MOST: Limits = Limits { timeout: Duration::from_secs(120), memory_bytes: 256 << 20 };
    const HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn body(change: Value) -> Value {
        let mut body = json!({"share": "s", "code": "def f(): ...", "function": "f"});
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        body
    }

    fn parsed(change: Value) -> Result<FileRequest, String> {
        FileRequest::to_run(body(change).to_string().as_bytes(), MOST)
    }

    #[test]
    fn what_the_child_reads() {
        let task = |change| serde_json::from_slice::<Value>(&parsed(change).unwrap().task).unwrap();
        let expected = json!({"code": "def f(): ...", "function": "f", "arguments": {}, "context": null});
        assert_eq!(task(json!({})), expected);
        let context = json!({"chat_id": "c", "toolset_id": null, "extra": {"a": 1}});
        let given = json!({"code": null, "module": "tools.x", "arguments": {"a": [1]}, "properties": ["a"], "context": context});
        let expected = json!({
            "module": "tools.x", "function": "f", "arguments": {"a": [1]}, "properties": ["a"], "context": context,
        });
        assert_eq!(task(given), expected);
        let asked = json!({"share": "s", "code": "x", "entrypoints": ["main:f", "a.b:g"]}).to_string();
        let inspect = FileRequest::to_inspect(asked.as_bytes(), MOST).unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&inspect.task).unwrap(),
            json!({"code": "x", "inspect": ["main:f", "a.b:g"]})
        );
        assert!(!inspect.tells_changes);
    }

    #[test]
    fn files_are_read() {
        let files = json!({"files": [["/a/b c", HASH, 0]], "bundle": [["tools/x.py", HASH, 0]]});
        let request = parsed(files).unwrap();
        assert_eq!(request.files, [NamedFile { path: "/a/b c".into(), hash: hash(HASH).unwrap(), size: 0 }]);
        assert_eq!(request.bundle[0].path, "tools/x.py");
        assert_eq!(request.hashes().count(), 2);
        assert_eq!(hex(&hash(HASH).unwrap()), HASH);
    }

    #[test]
    fn half_a_minute_is_usual_and_two_are_possible() {
        let timeout = |limits: Value| parsed(json!({"limits": limits})).unwrap().limits.timeout.as_secs();
        assert_eq!(timeout(json!(null)), 30);
        assert_eq!(timeout(json!({"memory_mb": 1})), 30);
        assert_eq!(timeout(json!({"timeout_seconds": 100})), 100);
        assert_eq!(timeout(json!({"timeout_seconds": 1000})), 120);
    }

    #[track_caller]
    fn refused(change: Value, expected: &str) {
        let why = parsed(change).unwrap_err();
        assert!(why.starts_with(expected), "{why}");
    }

    #[test]
    fn what_breaks_a_rule_is_named() {
        refused(json!({"share": ""}), "share: 0 bytes");
        refused(json!({"share": "s".repeat(257)}), "share: 257 bytes");
        refused(json!({"code": null}), "code, module: exactly one");
        refused(json!({"module": "m"}), "code, module: exactly one");
        refused(json!({"function": ""}), "function: a name is needed");
        refused(json!({"arguments": []}), "arguments: an object");
        refused(json!({"other": 1}), "unknown field `other`");
        refused(json!({"code": "x".repeat(MAX_CODE_BYTES + 1)}), "code: 1048577 bytes");
        for module in ["", ".", "a.", "../a", "a/b", "1a", "a b", "a:b"] {
            refused(json!({"code": null, "module": module}), "module: ");
        }
        for path in ["", "a", "/", "//a", "/a/", "/a//b", "/./a", "/a/..", "/../a", "/a\nb", "/\u{0}"] {
            refused(json!({"files": [[path, HASH, 0]]}), "files: ");
        }
        for path in ["", "/a", "a/", "../a", "a/../b", ".", "a\u{7f}"] {
            refused(json!({"bundle": [[path, HASH, 0]]}), "bundle: ");
        }
        let long = "x".repeat(256);
        refused(
            json!({"files": [[format!("/{long}"), HASH, 0]]}),
            &format!("files: /{long} has a name of more than 255"),
        );
        refused(json!({"files": [[format!("/{}", "x/".repeat(600) + "x"), HASH, 0]]}), "files: /x/x");
        refused(json!({"files": [["/a", HASH, 0], ["/a", HASH, 0]]}), "files: /a comes twice");
        refused(json!({"files": [["/a/b", HASH, 0], ["/a", HASH, 0]]}), "files: /a is both");
        for sha256 in ["", "x", &HASH.to_uppercase(), &HASH[1..]] {
            refused(json!({"files": [["/a", sha256, 0]]}), "files: /a has a sha256 that is none");
        }
        refused(json!({"files": [["/a", HASH, (10 << 20) + 1]]}), "files: /a has 10485761 bytes");
        refused(json!({"files": [["/a", HASH, -1]]}), "invalid value");
        let many = |count: usize| (0..count).map(|number| json!([format!("/{number}"), HASH, 0])).collect::<Vec<_>>();
        assert!(parsed(json!({"files": many(MAX_FILES)})).is_ok());
        refused(json!({"files": many(MAX_FILES), "bundle": [["a", HASH, 0]]}), "files, bundle: 2001 files");
        let large = (0..7).map(|number| json!([format!("/{number}"), HASH, 10 << 20])).collect::<Vec<_>>();
        refused(json!({"files": large}), "files, bundle: 73400320 bytes");
        let deep = (0..80).map(|number| json!([format!("/{number}{}", "/d".repeat(120)), HASH, 0])).collect::<Vec<_>>();
        refused(json!({"files": deep}), "files, bundle: 9681 files and directories, and 8000");
        let request = parsed(json!({"files": [["/a", HASH, 3]]})).unwrap();
        assert_eq!(request.check_sizes(&[Arc::from(*b"abc")]), Ok(()));
        let why = request.check_sizes(&[Arc::from(*b"ab")]).unwrap_err();
        assert_eq!(why, "files, bundle: /a has 2 bytes, not 3");
        let inspect = |change: Value| FileRequest::to_inspect(change.to_string().as_bytes(), MOST).unwrap_err();
        assert!(inspect(json!({"share": "s", "entrypoints": []})).starts_with("entrypoints: 1 to 200"));
        assert!(inspect(json!({"share": "s", "entrypoints": ["a"]})).contains("no module:function"));
        assert!(inspect(json!({"share": "s", "entrypoints": ["/a:f"]})).starts_with("entrypoints: "));
    }

    /// Random bodies, from a fixed seed: each is a request that keeps to the rules, or is refused with a reason.
    #[test]
    fn any_body_is_a_request_or_is_refused() {
        let seed = body(json!({"files": [["/a/b", HASH, 3]], "bundle": [["t/x.py", HASH, 1]], "arguments": {"a": 1}}));
        let seed = seed.to_string().into_bytes();
        let mut random = Random(7);
        let (mut good, mut bad) = (0, 0);
        for _ in 0..50_000 {
            let mut bytes = seed.clone();
            for _ in 0..random.below(4) {
                random.mutate(&mut bytes);
            }
            match FileRequest::to_run(&bytes, MOST) {
                Ok(request) => {
                    good += 1;
                    assert!(serde_json::from_slice::<Value>(&request.task).is_ok());
                    assert!(request.files.iter().all(|file| file.path.starts_with('/') && !file.path.contains("/../")));
                    assert!(request.bundle.iter().all(|file| !file.path.starts_with('/')));
                }
                Err(why) => {
                    bad += 1;
                    assert!(!why.is_empty());
                }
            }
        }
        assert!(good > 5_000 && bad > 5_000, "{good} {bad}");
    }
}
