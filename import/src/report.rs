//! A file that names each message that was not loaded, and the reason.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

pub struct Report<'a> {
    path: &'a Path,
    file: BufWriter<File>,
}

impl<'a> Report<'a> {
    pub fn create(path: &'a Path) -> Result<Self> {
        let failed = || format!("cannot write {}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(failed)?;
        }
        let mut report = Self { path, file: BufWriter::new(File::create(path).with_context(failed)?) };
        report.row(["reason", "file", "detail"])?;
        Ok(report)
    }

    pub fn row(&mut self, cells: [&str; 3]) -> Result<()> {
        // A tab or a line break in a name would look like another column or row.
        let cells = cells.map(|cell| cell.replace(['\t', '\r', '\n'], " "));
        writeln!(self.file, "{}", cells.join("\t")).with_context(|| format!("cannot write {}", self.path.display()))
    }

    pub fn finish(mut self) -> Result<()> {
        self.file.flush().with_context(|| format!("cannot write {}", self.path.display()))
    }
}
