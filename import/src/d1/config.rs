//! The entry of a database in wrangler.toml.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    d1_databases: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    binding: String,
    database_id: Option<String>,
    preview_database_id: Option<String>,
    migrations_dir: Option<PathBuf>,
    migrations_table: Option<String>,
}

/// One database of a configuration.
pub struct Database {
    pub binding: String,
    /// The id of the deployed database.
    pub deployed_id: String,
    /// The id from which the name of the local file follows.
    pub local_id: String,
    pub migrations: PathBuf,
    pub migrations_table: String,
}

pub fn read(path: &Path, binding: &str) -> Result<Database> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let config: Config = toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
    let entry = config.d1_databases.into_iter().find(|entry| entry.binding == binding);
    let entry = entry.with_context(|| format!("{} binds no D1 database as {binding}", path.display()))?;
    // Paths in the configuration are relative to its folder.
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    Ok(Database {
        deployed_id: entry.database_id.clone().unwrap_or_else(|| entry.binding.clone()),
        // wrangler looks for a name in this order.
        local_id: entry.preview_database_id.or(entry.database_id).unwrap_or_else(|| entry.binding.clone()),
        migrations: folder.join(entry.migrations_dir.unwrap_or_else(|| "migrations".into())),
        migrations_table: entry.migrations_table.unwrap_or_else(|| "d1_migrations".into()),
        binding: entry.binding,
    })
}
