//! Downloads from a hub that breaks off, and from a hub that sends wrong bytes.

use crate::harness::{folder, load, refused, root, run};
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

/// A file of the hub: its path, its bytes, and its claimed SHA-256.
type Listed = (&'static str, Vec<u8>, String);

/// A minimal Hugging Face: a listing, and files. The first response for a file may end in the middle.
struct Hub {
    url: String,
    /// The range in each request for a file.
    ranges: Arc<Mutex<Vec<Option<usize>>>>,
}

impl Hub {
    fn start(files: Vec<Listed>, breaks_off: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let seen = ranges.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &files, breaks_off, &seen);
            }
        });
        Self { url, ranges }
    }

    fn import(&self, work: &Path) -> Command {
        let mut command = load(work);
        command.args(["hf:someone/mail", "--database"]).arg(work.join("a.sqlite")).env("HF_ENDPOINT", &self.url);
        // This machine's proxies do not know the hub.
        command.env("no_proxy", "127.0.0.1").env("NO_PROXY", "127.0.0.1");
        command
    }
}

fn answer(mut stream: TcpStream, files: &[Listed], breaks_off: bool, seen: &Mutex<Vec<Option<usize>>>) {
    let lines =
        BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let lines: Vec<String> = lines.collect();
    if lines[0].contains("/api/datasets/someone/mail/tree/main") {
        let mut listing = vec![serde_json::json!({ "type": "file", "path": "README.md", "size": 7 })];
        for (path, file, sha256) in files {
            let lfs = serde_json::json!({ "oid": sha256, "size": file.len() });
            listing.push(serde_json::json!({ "type": "file", "path": path, "size": file.len(), "lfs": lfs }));
        }
        let body = serde_json::Value::from(listing).to_string();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).unwrap();
        return;
    }
    let asked = |path: &str| lines[0].starts_with(&format!("GET /datasets/someone/mail/resolve/main/{path} "));
    let (_, file, _) = files.iter().find(|(path, ..)| asked(path)).unwrap();
    let range = lines.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let from: Option<usize> = range.map(|range| range.trim_end_matches('-').parse().unwrap());
    seen.lock().unwrap().push(from);
    let rest = &file[from.unwrap_or(0)..];
    let status = if from.is_some() { "206 Partial Content" } else { "200 OK" };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", rest.len()).unwrap();
    if let Some(from) = from {
        write!(stream, "Content-Range: bytes {from}-{}/{}\r\n", file.len() - 1, file.len()).unwrap();
    }
    stream.write_all(b"\r\n").unwrap();
    let sent = if breaks_off && from.is_none() { rest.len() / 2 } else { rest.len() };
    // A client that disconnected in the middle does not matter to the hub.
    let _ = stream.write_all(&rest[..sent]);
}

fn parquet() -> Vec<u8> {
    std::fs::read(root().join("samples/enron/edge-cases/edge-cases.parquet")).unwrap()
}

/// A file of this path with a correct checksum.
fn listed(path: &'static str, file: Vec<u8>) -> Listed {
    let sha256 = hex(&Sha256::digest(&file));
    (path, file, sha256)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_download_is_resumed_and_checked() {
    let work = folder("hub");
    let file = parquet();
    let hub = Hub::start(vec![listed("data/train-0.parquet", file.clone())], true);
    assert!(refused(&mut hub.import(&work)).contains("run it again to go on"));
    assert!(run(&mut hub.import(&work)).contains("messages loaded         33\n"));
    assert_eq!(*hub.ranges.lock().unwrap(), [None, Some(file.len() / 2)]);
    // The file is complete now.
    run(hub.import(&work).arg("--dry-run"));
    assert_eq!(hub.ranges.lock().unwrap().len(), 2);

    let other = Hub::start(vec![("data/train-0.parquet", file, hex(&Sha256::digest("another file")))], true);
    std::fs::remove_dir_all(work.join("work/downloads")).unwrap();
    refused(&mut other.import(&work));
    assert!(refused(&mut other.import(&work)).contains("by its checksum"));
    assert!(refused(load(&work).arg("hf:../mail")).contains("a dataset is `hf:owner/name`"));
}

#[test]
fn only_what_the_hub_lists_is_read_and_only_as_it_lists_it() {
    let work = folder("hub-names");
    let files = vec![listed("train/0.parquet", parquet()), listed("test/0.parquet", parquet())];
    let hub = Hub::start(files, false);
    let both = "messages read           66\n";
    assert!(run(hub.import(&work).arg("--dry-run")).contains(both));
    let downloads = work.join("work/downloads/someone--mail");
    let first = downloads.join("test--0.parquet");
    let mut other = parquet();
    other[100] ^= 1;
    std::fs::write(&first, other).unwrap();
    std::fs::write(downloads.join("left.parquet"), "of another version").unwrap();
    assert!(run(hub.import(&work).arg("--dry-run")).contains(both));
    assert!(std::fs::read(&first).unwrap() == parquet());
    assert_eq!(hub.ranges.lock().unwrap().len(), 3);
}
