//! Parquet files of a dataset on Hugging Face. The hub tells the size and the SHA-256 of each file. A complete file is
//! not downloaded again, and a partial download is continued.
//!
//! `curl` downloads: every machine that builds this has it, and it knows proxies and certificates, and resumes.

use crate::hex::hex;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HUB: &str = "https://huggingface.co";

/// One entry of the hub's listing. Files that are in git itself, and not in LFS, have no usable hash there.
#[derive(Deserialize)]
struct Listed {
    path: String,
    size: u64,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    /// SHA-256, in hex.
    oid: String,
}

/// Downloads the parquet files of `owner/name` into a folder under `downloads`, and returns them in the order of their
/// paths.
pub fn fetch(dataset: &str, downloads: &Path) -> Result<Vec<PathBuf>> {
    // Hugging Face's own tools read the address of a mirror from this variable.
    let hub = std::env::var("HF_ENDPOINT").unwrap_or_else(|_| HUB.to_owned());
    let hub = hub.trim_end_matches('/');
    let is_name = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|each| each.is_ascii_alphanumeric() || "-_.".contains(each))
    };
    ensure!(
        dataset.split('/').count() == 2 && dataset.split('/').all(is_name),
        "a dataset is `hf:owner/name`, not `hf:{dataset}`"
    );

    let url = format!("{hub}/api/datasets/{dataset}/tree/main?recursive=true");
    let listing = curl(&[&url]).output().context("curl is needed to download")?;
    ensure!(listing.status.success(), "cannot list {dataset}: {}", String::from_utf8_lossy(&listing.stderr).trim());
    let listed: Vec<Listed> =
        serde_json::from_slice(&listing.stdout).with_context(|| format!("cannot read the listing at {url}"))?;
    let mut files: Vec<_> = listed.iter().filter(|each| each.path.ends_with(".parquet")).collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    ensure!(!files.is_empty(), "{dataset} has no parquet files");

    let folder = downloads.join(dataset.replace('/', "--"));
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut paths = Vec::new();
    for file in files {
        // The whole path becomes one file name, so that no foreign folder is followed, and no two files are confused.
        let path = folder.join(file.path.replace('/', "--"));
        ensure!(!paths.contains(&path), "{dataset} has two files that would be {}", path.display());
        fetch_file(&format!("{hub}/datasets/{dataset}/resolve/main/{}", file.path), file, &path)?;
        paths.push(path);
    }
    Ok(paths)
}

fn fetch_file(url: &str, listed: &Listed, path: &Path) -> Result<()> {
    if path.exists() {
        if is_as_listed(path, listed)? {
            return Ok(());
        }
        fs::remove_file(path)?;
    }
    let part = path.with_extension("parquet.part");
    let size_of = |path: &Path| fs::metadata(path).map_or(0, |it| it.len());
    if size_of(&part) > listed.size {
        fs::remove_file(&part)?;
    }
    eprintln!(
        "downloading {} ({} of {} MB are here)",
        listed.path,
        size_of(&part) / 1_000_000,
        listed.size / 1_000_000
    );
    if size_of(&part) < listed.size {
        let output = part.to_str().context("a path that is not UTF-8")?;
        let status = curl(&["--continue-at", "-", "--output", output, url]).stderr(Stdio::inherit()).status();
        ensure!(status.context("curl is needed to download")?.success(), "cannot fetch {url}: run it again to go on");
    }
    let have = size_of(&part);
    ensure!(have == listed.size, "{url} gave {have} bytes of {}: run it again to go on", listed.size);
    if !is_as_listed(&part, listed)? {
        fs::remove_file(&part)?;
        bail!("{url} is not what it should be by its checksum, and was removed: run it again");
    }
    fs::rename(&part, path)?;
    Ok(())
}

/// Checks the size, and the checksum if there is one.
fn is_as_listed(path: &Path, listed: &Listed) -> Result<bool> {
    Ok(fs::metadata(path)?.len() == listed.size
        && match &listed.lfs {
            Some(lfs) => sha256(path)? == lfs.oid,
            None => true,
        })
}

fn curl(arguments: &[&str]) -> Command {
    let mut command = Command::new("curl");
    command.args(["--fail", "--globoff", "--location", "--silent", "--show-error", "--retry", "5"]).args(arguments);
    command.stdin(Stdio::null());
    command
}

fn sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}
