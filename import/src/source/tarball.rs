//! The maildir in one `.tar.gz`, as CMU publishes it; `.tar` too. The archive is read as a stream, and nothing is
//! unpacked to disk.

use super::{Content, Found, Visit};
use anyhow::{Context, Result};
use flate2::bufread::MultiGzDecoder;
use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;
use tar::Archive;

const GZIP: [u8; 2] = [0x1f, 0x8b];

pub fn read(path: &Path, skip: u64, visit: Visit) -> Result<()> {
    let failed = || format!("cannot read {}", path.display());
    let consumed = Rc::new(Cell::new(0));
    let file = Counted { file: File::open(path).with_context(failed)?, consumed: consumed.clone() };
    let mut file = BufReader::with_capacity(1 << 16, file);
    let is_packed = file.fill_buf().with_context(failed)?.starts_with(&GZIP);
    let bytes: Box<dyn Read> = if is_packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };

    let mut archive = Archive::new(bytes);
    let mut found = 0;
    for entry in archive.entries().with_context(failed)? {
        let mut entry = entry.with_context(|| cut_short(path, found))?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        found += 1;
        if found <= skip {
            continue;
        }
        let file = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let content = if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() {
            Content::read(entry.size(), &mut entry).with_context(|| cut_short(path, found - 1))?
        } else {
            let to = entry.link_name_bytes().map(|name| format!(" to {}", String::from_utf8_lossy(&name)));
            Content::Unreadable(format!("a link{}", to.unwrap_or_default()))
        };
        if visit(Found { file, content, at: consumed.get() }).is_break() {
            break;
        }
    }
    Ok(())
}

/// Truncated copies of this archive are in circulation.
fn cut_short(path: &Path, whole: u64) -> String {
    format!("{} is damaged after {whole} messages: start again with --limit {whole} to load those", path.display())
}

/// Counts the bytes read of the packed file, which is the only measure of progress.
struct Counted {
    file: File,
    consumed: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.consumed.set(self.consumed.get() + count as u64);
        Ok(count)
    }
}
