//! The command line.

use crate::mailboxes::Rule;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Loads the Enron mail into Pegboard's benchmark database, and makes synthetic mail for measurements.
#[derive(Parser)]
// scripts/import-enron passes paths of its own first, which the user's options override.
#[command(name = "pegboard-import", args_override_self = true)]
pub struct Command {
    #[command(subcommand)]
    pub what: What,
}

#[derive(Subcommand)]
pub enum What {
    /// Loads mail into a local or a remote D1 database
    Load(Box<Load>),
    /// Makes a synthetic corpus of any size from real messages: the same corpus each time
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
    /// With --remote: only write the SQL files, and print their folder
    #[arg(long, requires = "remote")]
    pub prepare_only: bool,

    /// Load only these inboxes, by address; may be given several times
    #[arg(long = "inbox", value_name = "ADDRESS")]
    pub inboxes: Vec<String>,
    /// The inboxes of a message: the inbox of the mailbox where it was found, or each chosen inbox that takes part in
    /// it (From, To, Cc, Bcc; without --inbox, the 28 inboxes of ART-E's questions)
    #[arg(long, value_enum, default_value = "owner", value_name = "RULE")]
    pub inbox_rule: Rule,
    /// Assign all mail by --inbox-rule and --inbox, including the mail of earlier imports. Without this, new inboxes
    /// are added to the existing ones, and another rule is refused
    #[arg(long)]
    pub replace_inboxes: bool,
    /// Take only this many messages, from the beginning of the source
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Read and count, but write only the report
    #[arg(long)]
    pub dry_run: bool,
    /// Do nothing if the database has mail already, or holds an interrupted import of another source
    #[arg(long)]
    pub if_empty: bool,
    /// Forget an interrupted import and the messages that it loaded, and start again
    #[arg(long)]
    pub restart: bool,

    /// The report, which names each message that was not loaded [default: report.tsv in --work]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// More owners of mailboxes, one `directory TAB address` a line
    #[arg(long, value_name = "FILE")]
    pub owners: Option<PathBuf>,
    /// Messages in one transaction: a killed import loses at most this many
    #[arg(long, value_name = "N", default_value = "50000", value_parser = clap::value_parser!(u64).range(1..))]
    pub batch: u64,

    /// The configuration that binds the databases
    #[arg(long, value_name = "FILE", default_value = "wrangler.toml")]
    pub config: PathBuf,
    /// The binding of the database that holds the mail
    #[arg(long, value_name = "NAME", default_value = "BENCHMARKS_DB")]
    pub binding: String,
    /// The folder of the dev server's state
    #[arg(long, value_name = "DIR", default_value = ".wrangler/state")]
    pub persist_to: PathBuf,
    /// A SQLite file to load, instead of the dev server's
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,
    /// The folder of downloads, reports and unfinished uploads
    #[arg(long, value_name = "DIR", default_value = ".wrangler/import")]
    pub work: PathBuf,
    /// The wrangler command
    #[arg(long, value_name = "PROGRAM", default_value = "node_modules/.bin/wrangler")]
    pub wrangler: PathBuf,
    /// With --remote: the maximum size of an SQL file
    #[arg(long, value_name = "MB", default_value = "20", value_parser = clap::value_parser!(u64).range(1..))]
    pub chunk_mb: u64,
}

#[derive(Args)]
pub struct Synthesise {
    /// Real messages, in any supported form
    pub sample: PathBuf,
    /// The CSV file to write, in Kaggle's form
    pub output: PathBuf,
    #[arg(long, value_name = "N", default_value = "300000")]
    pub messages: u64,
}
