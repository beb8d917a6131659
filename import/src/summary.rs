//! The figures of an import, for its user.

use crate::mail::Unusable;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::time::Instant;

pub struct Summary {
    begun: Instant,
    /// Messages that earlier, interrupted runs took from the source.
    before: u64,
    /// Messages and bytes that this run took from the source.
    pub read: u64,
    pub bytes: u64,
    /// The counts of this import, in all its runs.
    pub loaded: u64,
    pub elsewhere: u64,
    pub inboxes: u64,
    pub entries: u64,
    pub skipped: BTreeMap<String, u64>,
}

impl Summary {
    pub fn begin(before: u64) -> Self {
        Self {
            begun: Instant::now(),
            before,
            read: 0,
            bytes: 0,
            loaded: 0,
            elsewhere: 0,
            inboxes: 0,
            entries: 0,
            skipped: BTreeMap::new(),
        }
    }

    pub fn take(&mut self, bytes: u64) {
        self.read += 1;
        self.bytes += bytes;
    }

    pub fn skip(&mut self, unusable: &Unusable) {
        *self.skipped.entry(unusable.reason().to_owned()).or_default() += 1;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.begun.elapsed().as_secs_f64().max(0.001);
        let megabytes = self.bytes as f64 / 1e6;
        let mut line = |name: &str, value: String| writeln!(f, "{name:<24}{value}");
        line("messages read", (self.before + self.read).to_string())?;
        line("messages loaded", self.loaded.to_string())?;
        line("inboxes", self.inboxes.to_string())?;
        line("entries in inboxes", self.entries.to_string())?;
        if self.elsewhere > 0 {
            line("in no chosen inbox", self.elsewhere.to_string())?;
        }
        line("skipped", self.skipped.values().sum::<u64>().to_string())?;
        for (reason, count) in &self.skipped {
            line(&format!("  {reason}"), count.to_string())?;
        }
        if self.before > 0 {
            line("of them before", format!("{} messages, in a run that was interrupted", self.before))?;
        }
        line("seconds", format!("{seconds:.1}"))?;
        line("speed", format!("{:.0} messages/s, {:.1} MB/s", self.read as f64 / seconds, megabytes / seconds))?;
        if let Some(kib) = peak_memory() {
            line("peak memory", format!("{:.0} MB", kib as f64 * 1024.0 / 1e6))?;
        }
        Ok(())
    }
}

/// In KiB, if the system tells it.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
