//! What can be asked for on the command line.

use crate::mailboxes::Rule;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Loads the Enron mail into Pegboard's benchmark database, and makes mail up to measure with.
#[derive(Parser)]
// The script that calls this gives paths of its own, which those that it is given take the place of.
#[command(name = "pegboard-import", args_override_self = true)]
pub struct Command {
    #[command(subcommand)]
    pub what: What,
}

#[derive(Subcommand)]
pub enum What {
    /// Loads mail into a local or a remote D1 database
    Load(Box<Load>),
    /// Makes up a corpus of any size from real messages: the same one each time
    Synthesise(Synthesise),
}

#[derive(Args)]
pub struct Load {
    /// CMU's maildir folder, its .tar.gz, Kaggle's emails.csv, parquet files or a folder of them, or hf:OWNER/NAME: the
    /// parquet files of a dataset on Hugging Face (ART-E's is hf:corbt/enron-emails)
    pub source: String,

    /// Upload to the deployed database, through wrangler, instead of loading the local one
    #[arg(long, conflicts_with_all = ["dry_run", "if_empty", "database"])]
    pub remote: bool,
    /// With --remote: only write the SQL files, and say where they are
    #[arg(long, requires = "remote")]
    pub prepare_only: bool,

    /// Load only these inboxes, by address; may be given several times
    #[arg(long = "inbox", value_name = "ADDRESS")]
    pub inboxes: Vec<String>,
    /// In which inboxes a message is: in that of the mailbox it was found in, or in each chosen one that takes part in
    /// it (From, To, Cc, Bcc; without --inbox, the 28 that ART-E asks about)
    #[arg(long, value_enum, default_value = "owner", value_name = "RULE")]
    pub inbox_rule: Rule,
    /// Place all mail by --inbox-rule and --inbox, that of earlier imports too. Without this, inboxes are added to those
    /// that there are, and another rule is refused
    #[arg(long)]
    pub replace_inboxes: bool,
    /// Take only so many messages, from the beginning of the source
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Read and count, and write nothing but the report
    #[arg(long)]
    pub dry_run: bool,
    /// Do nothing if the database holds mail already, or an import of something else that was interrupted
    #[arg(long)]
    pub if_empty: bool,
    /// Forget an import that was interrupted, with what it had loaded, and begin anew
    #[arg(long)]
    pub restart: bool,

    /// Where a report names each message that was not loaded [default: report.tsv in --work]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// More owners of mailboxes, `directory TAB address` a line
    #[arg(long, value_name = "FILE")]
    pub owners: Option<PathBuf>,
    /// Messages in one transaction: what a killed import loses at most
    #[arg(long, value_name = "N", default_value = "50000", value_parser = clap::value_parser!(u64).range(1..))]
    pub batch: u64,

    /// Where the databases are bound
    #[arg(long, value_name = "FILE", default_value = "wrangler.toml")]
    pub config: PathBuf,
    /// Which of them holds the mail
    #[arg(long, value_name = "NAME", default_value = "BENCHMARKS_DB")]
    pub binding: String,
    /// Where the dev server keeps its state
    #[arg(long, value_name = "DIR", default_value = ".wrangler/state")]
    pub persist_to: PathBuf,
    /// A SQLite file to load, instead of the dev server's
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,
    /// Where downloads, reports and uploads in the making are kept
    #[arg(long, value_name = "DIR", default_value = ".wrangler/import")]
    pub work: PathBuf,
    /// How wrangler is called
    #[arg(long, value_name = "PROGRAM", default_value = "node_modules/.bin/wrangler")]
    pub wrangler: PathBuf,
    /// With --remote: how large an SQL file is at most
    #[arg(long, value_name = "MB", default_value = "20", value_parser = clap::value_parser!(u64).range(1..))]
    pub chunk_mb: u64,
}

#[derive(Args)]
pub struct Synthesise {
    /// Real messages, in any form that can be loaded
    pub sample: PathBuf,
    /// The CSV file to write, in Kaggle's form
    pub output: PathBuf,
    #[arg(long, value_name = "N", default_value = "300000")]
    pub messages: u64,
}
