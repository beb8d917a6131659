//! The files that a server brings along. The host keeps their contents in one file that has no name, so that nothing is left
//! if the host is killed. Every process gets copies in its private folder: what a process does to them, the next one does not
//! see.

use crate::configuration::hash;
use data_encoding::{BASE64, HEXLOWER};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{Result as IoResult, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The largest list of files, and the largest request that brings contents.
pub const MAX_LIST_BYTES: usize = 4 << 20;
pub const MAX_PIECES_BYTES: usize = 16 << 20;

const MAX_FILES: usize = 2_000;
const MAX_BYTES: u64 = 64 << 20;
const MAX_PATH_BYTES: usize = 1_024;
const COPIED_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileList {
    files: Vec<ListedFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedFile {
    path: String,
    sha256: String,
    size: u64,
}

/// Pieces of contents, as the Worker stores them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pieces {
    pieces: Vec<Piece>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Piece {
    sha256: String,
    encoding: Encoding,
    /// Its place among the pieces of the same contents, from 0.
    number: u32,
    count: u32,
    data: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    Utf8,
    Base64,
}

impl Pieces {
    pub fn parse(body: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(body).map_err(|cause| cause.to_string())
    }
}

/// A list of files, and as much of their contents as has come.
pub struct FileSet {
    /// The SHA-256 of the list's bytes.
    pub hash: String,
    files: Vec<ListedFile>,
    kept: File,
    /// By their SHA-256.
    contents: Mutex<BTreeMap<String, Contents>>,
}

/// Where contents are in the file without a name, and how much of them has come.
struct Contents {
    offset: u64,
    size: u64,
    next: u32,
    written: u64,
    hasher: Sha256,
    complete: bool,
}

impl FileSet {
    /// Reads a list. `name` is a name that no other file has for this moment.
    pub fn new(list: &[u8], name: &str) -> Result<Self, String> {
        let FileList { files } = serde_json::from_slice(list).map_err(|cause| cause.to_string())?;
        check(&files)?;
        let (mut contents, mut offset) = (BTreeMap::new(), 0);
        for file in &files {
            let fresh =
                || Contents { offset, size: file.size, next: 0, written: 0, hasher: Sha256::new(), complete: false };
            let known = contents.entry(file.sha256.clone()).or_insert_with(fresh);
            if known.size != file.size {
                return Err(format!("{} has two sizes", file.sha256));
            }
            offset = offset.max(known.offset + known.size);
        }
        let kept = nameless_file(name).map_err(|cause| format!("there is no room for files: {cause}"))?;
        Ok(Self { hash: hash(list), files, kept, contents: Mutex::new(contents) })
    }

    fn contents(&self) -> MutexGuard<'_, BTreeMap<String, Contents>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The contents that have not come, or not whole.
    pub fn missing(&self) -> Vec<String> {
        self.contents().iter().filter(|(_, it)| !it.complete).map(|(sha256, _)| sha256.clone()).collect()
    }

    /// Takes pieces. A piece that has come before is skipped, because two requests may bring the same contents at once.
    pub fn take(&self, pieces: Pieces) -> Result<(), String> {
        let mut contents = self.contents();
        for piece in pieces.pieces {
            let name = piece.sha256.clone();
            let of = contents.get_mut(&name).ok_or_else(|| format!("{name:?} is not in the list"))?;
            of.take(piece, &self.kept).map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(())
    }

    /// Writes all files into a folder.
    pub fn copy_to(&self, folder: &Path) -> IoResult<()> {
        let mut buffer = vec![0; COPIED_BYTES];
        for file in &self.files {
            let path = folder.join(&file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            let from = self.contents().get(&file.sha256).map_or(0, |it| it.offset);
            let mut copy = File::create_new(path)?;
            let mut done = 0;
            while done < file.size {
                let piece = usize::try_from(file.size - done).unwrap_or(COPIED_BYTES).min(COPIED_BYTES);
                self.kept.read_exact_at(&mut buffer[..piece], from + done)?;
                copy.write_all(&buffer[..piece])?;
                done += piece as u64;
            }
        }
        Ok(())
    }
}

impl Contents {
    fn take(&mut self, piece: Piece, kept: &File) -> Result<(), String> {
        if self.complete || piece.number < self.next {
            return Ok(());
        }
        if piece.number > self.next || piece.number >= piece.count {
            return Err(format!("piece {} is to come, and not {}", self.next, piece.number));
        }
        let bytes = match piece.encoding {
            Encoding::Utf8 => piece.data.into_bytes(),
            Encoding::Base64 => BASE64.decode(piece.data.as_bytes()).map_err(|_| "this is no base64".to_owned())?,
        };
        let after = self.written + bytes.len() as u64;
        let is_last = piece.number + 1 == piece.count;
        if after > self.size || (is_last && after != self.size) {
            self.begin_again();
            return Err(format!("its size is not {}", self.size));
        }
        kept.write_all_at(&bytes, self.offset + self.written).map_err(|cause| cause.to_string())?;
        self.hasher.update(&bytes);
        (self.written, self.next) = (after, self.next + 1);
        if is_last {
            let found = HEXLOWER.encode(&self.hasher.clone().finalize());
            if found != piece.sha256 {
                self.begin_again();
                return Err(format!("its sha256 is {found}"));
            }
            self.complete = true;
        }
        Ok(())
    }

    fn begin_again(&mut self) {
        (self.next, self.written, self.hasher) = (0, 0, Sha256::new());
    }
}

fn check(files: &[ListedFile]) -> Result<(), String> {
    if files.len() > MAX_FILES || files.iter().map(|it| it.size).fold(0, u64::saturating_add) > MAX_BYTES {
        return Err(format!("there are at most {MAX_FILES} files, with {MAX_BYTES} bytes together"));
    }
    let mut paths = BTreeSet::new();
    for ListedFile { path, sha256, .. } in files {
        if !is_plain_path(path) {
            return Err(format!("a file has a relative path without \"..\", not {path:?}"));
        }
        if !paths.insert(path.as_str()) {
            return Err(format!("{path} is there twice"));
        }
        if sha256.len() != 64 || !sha256.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(format!("{path} has no sha256"));
        }
    }
    let is_inside_a_file = |path: &&&str| path.match_indices('/').any(|(at, _)| paths.contains(&path[..at]));
    match paths.iter().find(is_inside_a_file) {
        Some(path) => Err(format!("{path} is inside another file")),
        None => Ok(()),
    }
}

fn is_plain_path(path: &str) -> bool {
    let is_name = |part: &str| !part.is_empty() && part != "." && part != "..";
    path.len() <= MAX_PATH_BYTES && !path.contains('\0') && path.split('/').all(is_name)
}

/// A file that goes when it is closed, whatever becomes of the host.
fn nameless_file(name: &str) -> IoResult<File> {
    let path = std::env::temp_dir().join(format!("pegboard-mcp-files-{name}"));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Home;
    use serde_json::{Value, json};

    fn list(files: &[(&str, &[u8])]) -> Value {
        let files = files.iter().map(|(path, bytes)| json!({"path": path, "sha256": hash(bytes), "size": bytes.len()}));
        json!({"files": files.collect::<Vec<_>>()})
    }

    fn set(name: &str, list: &Value) -> Result<FileSet, String> {
        FileSet::new(list.to_string().as_bytes(), &format!("test-{}-{name}", std::process::id()))
    }

    fn pieces(pieces: Value) -> Pieces {
        Pieces::parse(json!({"pieces": pieces}).to_string().as_bytes()).unwrap()
    }

    fn piece(bytes: &[u8], number: u32, count: u32, data: &str) -> Value {
        json!({"sha256": hash(bytes), "encoding": "utf8", "number": number, "count": count, "data": data})
    }

    #[test]
    fn pieces_become_files() {
        let files: [(&str, &[u8]); 4] =
            [("a.py", b"text"), ("b/c.bin", b"\xff\x00"), ("b/d/e.py", b"text"), ("f", b"")];
        let set = set("pieces", &list(&files)).unwrap();
        assert_eq!(set.missing().len(), 3, "equal contents come once");
        set.take(pieces(json!([piece(b"text", 0, 2, "te"), piece(b"", 0, 1, "")]))).unwrap();
        assert_eq!(set.missing().len(), 2);
        // Another request brings the same.
        set.take(pieces(json!([piece(b"text", 0, 2, "te"), piece(b"text", 1, 2, "xt")]))).unwrap();
        set.take(pieces(json!([{"sha256": hash(b"\xff\x00"), "encoding": "base64", "number": 0, "count": 1,
            "data": "/wA="}])))
            .unwrap();
        assert_eq!(set.missing(), Vec::<String>::new());
        let home = Home::create(format!("test-files-{}", std::process::id())).unwrap();
        set.copy_to(home.path()).unwrap();
        for (path, bytes) in files {
            assert_eq!(fs::read(home.path().join(path)).unwrap(), bytes, "{path}");
        }
        assert!(set.copy_to(home.path()).is_err(), "nothing is overwritten");
    }

    #[test]
    fn contents_that_are_not_the_listed_ones_are_refused() {
        let set = set("refused", &list(&[("a", b"text")])).unwrap();
        let refused = |pieces: Value| set.take(self::pieces(pieces)).expect_err("they are not the listed ones");
        assert!(refused(json!([piece(b"text", 1, 2, "xt")])).contains("piece 0 is to come"));
        assert!(refused(json!([piece(b"text", 0, 1, "texts")])).contains("its size is not 4"));
        assert!(refused(json!([piece(b"text", 0, 1, "tex")])).contains("its size is not 4"));
        assert!(refused(json!([piece(b"text", 0, 1, "test")])).contains("its sha256 is"));
        assert!(refused(json!([piece(b"other", 0, 1, "other")])).contains("is not in the list"));
        assert_eq!(set.missing().len(), 1);
        set.take(pieces(json!([piece(b"text", 0, 1, "text")]))).unwrap();
        assert_eq!(set.missing().len(), 0);
    }

    #[test]
    fn a_list_leads_nowhere_else() {
        for path in ["", "/a", "..", "a/../b", "a//b", "./a", "a/", "a\0"] {
            assert!(set("paths", &list(&[(path, b"")])).is_err(), "{path:?}");
        }
        assert!(set("twice", &list(&[("a", b""), ("a", b"")])).is_err_and(|it| it.contains("twice")));
        assert!(set("inside", &list(&[("a", b""), ("a/b", b"")])).is_err_and(|it| it.contains("inside another")));
        let large = json!({"files": [{"path": "a", "sha256": hash(b""), "size": MAX_BYTES + 1}]});
        assert!(set("large", &large).is_err_and(|it| it.contains("at most")));
        assert!(set("hash", &json!({"files": [{"path": "a", "sha256": "x", "size": 0}]})).is_err());
        assert!(
            set(
                "sizes",
                &json!({"files": [{"path": "a", "sha256": hash(b""), "size": 0},
            {"path": "b", "sha256": hash(b""), "size": 1}]})
            )
            .is_err_and(|it| it.contains("two sizes"))
        );
    }
}
