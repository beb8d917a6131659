//! The progress of an upload, on disk: the first line names the upload and its target, and each other line a finished
//! step.

use anyhow::{Context, Result, ensure};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

pub struct Done {
    file: File,
    things: Vec<String>,
}

impl Done {
    /// Reads the progress of this upload, if it was begun. The progress of another upload, or to another target, is
    /// refused.
    pub fn read(path: &Path, of: &str) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let said = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        // An incomplete line does not count: its step is repeated.
        let whole = said.rfind('\n').map_or(0, |at| at + 1);
        let mut lines = said[..whole].lines().map(str::to_owned);
        let Some(first) = lines.next() else { return Ok(None) };
        ensure!(
            first == of,
            "{} is of another upload ({first}) than this one ({of}): finish that one, with the arguments and the database \
             that it had, or forget it with --restart",
            path.display()
        );
        let file = OpenOptions::new().append(true).open(path)?;
        file.set_len(whole as u64)?;
        Ok(Some(Self { file, things: lines.collect() }))
    }

    pub fn begin(path: &Path, of: &str) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let mut done = Self { file, things: Vec::new() };
        done.note(of)?;
        Ok(done)
    }

    pub fn has(&self, thing: &str) -> bool {
        self.things.iter().any(|each| each == thing)
    }

    pub fn add(&mut self, thing: &str) -> Result<()> {
        self.note(thing)?;
        self.things.push(thing.to_owned());
        Ok(())
    }

    fn note(&mut self, line: &str) -> Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())?;
        Ok(self.file.sync_all()?)
    }
}
