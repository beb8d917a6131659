//! Loads the Enron mail. docs/mail-import.md explains its use, and `load` its method.

mod args;
mod d1;
mod hex;
mod load;
mod mail;
mod mailboxes;
mod parse;
mod progress;
mod report;
mod source;
mod summary;
mod synthesise;
mod upload;

use anyhow::{Context, Result};
use args::{Command, What};
use clap::Parser;
use load::Plan;
use mailboxes::{Inboxes, Owners};
use source::Source;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match Command::parse().what {
        What::Load(options) => load_mail(&options),
        What::Synthesise(options) => synthesise::synthesise(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("error: {cause:#}");
            ExitCode::FAILURE
        }
    }
}

fn load_mail(options: &args::Load) -> Result<()> {
    let owners = Owners::read(options.owners.as_deref())?;
    let source = match options.source.strip_prefix("hf:") {
        Some(dataset) => Source::Parquet(source::hub::fetch(dataset, &options.work.join("downloads"))?),
        None => Source::open(Path::new(&options.source), |name| owners.know(name))?,
    };
    let plan = Plan {
        source: &source,
        owners: &owners,
        inboxes: Inboxes::new(options.inbox_rule, &options.inboxes),
        replace_inboxes: options.replace_inboxes,
        limit: options.limit,
        batch: options.batch,
        restart: options.restart,
    };
    let report = options.report.clone().unwrap_or_else(|| options.work.join("report.tsv"));
    if options.dry_run {
        let summary = load::dry_run(&plan, &report)?;
        print!("No mail was loaded. Into an empty database this would have been:\n{summary}");
        eprintln!("skipped messages are listed in {}", report.display());
        return Ok(());
    }
    let database = d1::config::read(&options.config, &options.binding)?;
    if options.remote {
        return upload::upload(options, &plan, &database, &report);
    }
    let path: PathBuf = match &options.database {
        Some(file) => file.clone(),
        None => d1::file::path(&options.persist_to, &database.local_id)?,
    };
    d1::file::refuse_if_served(&path)?;
    let mut connection = load::open(&path)?;
    d1::migrations::apply(&mut connection, &database)?;
    if options.if_empty
        && let Some(what) = load::in_the_way(&connection, &plan)?
    {
        eprintln!("{} holds {what} already", path.display());
        return Ok(());
    }
    let summary = load::load(&mut connection, &plan, &report)?;
    connection.close().map_err(|(_, cause)| cause).context("cannot close the database")?;
    print!("{summary}");
    eprintln!("skipped messages are listed in {}", report.display());
    Ok(())
}
