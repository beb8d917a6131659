//! Loads the deployed database. The mail is first loaded into a file on this machine, without the index. Then the file
//! is written out as SQL files within D1's limits (`chunks`), and wrangler runs them one by one. Each file may run
//! twice without harm, so that an interrupted upload continues when it is started again.

mod chunks;
mod done;
mod sql;
mod wrangler;

use crate::args;
use crate::d1::{config::Database, migrations};
use crate::load::{self, Plan};
use crate::progress::Progress;
use anyhow::{Context, Result, ensure};
use done::Done;
use std::fs;
use std::path::{Path, PathBuf};
use wrangler::Wrangler;

/// Noted when the database was found empty: from then on the database holds only rows of this upload.
const EMPTY: &str = "empty";

pub fn upload(options: &args::Load, plan: &Plan, database: &Database, report: &Path) -> Result<()> {
    let folder = options.work.join("upload");
    if options.restart {
        remove(&folder)?;
    }
    let mut connection = load::open(&folder.join("mail.sqlite"))?;
    migrations::apply(&mut connection, database)?;
    let (state, mut summary) = load::rows_and_places(&mut connection, plan)?;
    load::count_up(&connection, &state, &mut summary)?;
    load::write_report(&connection, report)?;
    let of = format!("database {} import {}", database.deployed_id, state.job.fingerprint()?);
    let sql = folder.join("sql");
    let mut done = match Done::read(&folder.join("done"), &of)? {
        Some(done) => done,
        None => {
            // Files without noted progress are useless.
            remove(&sql)?;
            Done::begin(&folder.join("done"), &of)?
        }
    };
    let files = chunks::prepare(&connection, &state, &sql, options.chunk_mb * 1_000_000)?;
    if options.prepare_only {
        print!("{summary}");
        println!("\n{} SQL files are in {}: run them in the order of their names", files.len(), sql.display());
        return Ok(());
    }
    let wrangler = Wrangler { program: &options.wrangler, config: &options.config, binding: &database.binding };
    send(&wrangler, &mut done, &files)?;
    drop(connection);
    remove(&folder)?;
    print!("{summary}");
    Ok(())
}

fn send(wrangler: &Wrangler, done: &mut Done, files: &[PathBuf]) -> Result<()> {
    if !done.has(EMPTY) {
        wrangler.migrate()?;
        let emails = wrangler.count_emails()?;
        ensure!(
            emails == 0,
            "the deployed database holds {emails} emails already, and an upload fills an empty one: make a new database"
        );
        done.add(EMPTY)?;
    }
    let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let rest: Vec<&PathBuf> = files.iter().filter(|file| !done.has(&name(file))).collect();
    let before = (files.len() - rest.len()) as u64;
    let mut progress = Progress::bar("uploading", files.len() as u64).starting_at(before);
    for (sent, file) in (1..).zip(rest) {
        wrangler.execute(file)?;
        done.add(&name(file))?;
        progress.at(before + sent, sent, 0);
    }
    progress.finish(&format!("{} files", files.len()));
    Ok(())
}

/// Removes a folder, if it exists. The folder is renamed first, so that an interrupted removal does not leave a folder
/// that looks complete; the next removal deletes the rest.
fn remove(folder: &Path) -> Result<()> {
    let failed = || format!("cannot remove {}", folder.display());
    let removed = folder.with_extension("removed");
    if removed.exists() {
        fs::remove_dir_all(&removed).with_context(failed)?;
    }
    if folder.exists() {
        fs::rename(folder, &removed).with_context(failed)?;
        fs::remove_dir_all(&removed).with_context(failed)?;
    }
    Ok(())
}
