//! The SQLite file of a local database. Miniflare names the file by a hash of the database's id, as workerd does.

use crate::hex::hex;
use anyhow::{Context, Result, bail};
use hmac::{Hmac, KeyInit, Mac};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

const OBJECT: &str = "miniflare-D1DatabaseObject";

/// The path of the database with this id, under a folder that wrangler gets as `--persist-to`.
pub fn path(persist_to: &Path, id: &str) -> Result<PathBuf> {
    let key = Sha256::digest(OBJECT);
    let sign = |bytes: &[u8]| -> Result<Vec<u8>> {
        let mac = Hmac::<Sha256>::new_from_slice(&key)?.chain_update(bytes);
        Ok(mac.finalize().into_bytes()[..16].to_vec())
    };
    let name = sign(id.as_bytes())?;
    let proof = sign(&name)?;
    Ok(persist_to.join("v3/d1").join(OBJECT).join(format!("{}.sqlite", hex(&[name, proof].concat()))))
}

/// Fails if a runtime has the folder of local databases open. A runtime opens a database only on demand, but keeps its
/// own `metadata.sqlite` open from start to end.
pub fn refuse_if_served(database: &Path) -> Result<()> {
    let metadata = database.with_file_name("metadata.sqlite");
    if !metadata.exists() {
        return Ok(());
    }
    let connection = Connection::open_with_flags(&metadata, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::ZERO)?;
    // This mode fails not only while another process writes, but while another process has the file open.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    match connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        Err(rusqlite::Error::SqliteFailure(cause, _)) if cause.code == ErrorCode::DatabaseBusy => {
            bail!("the dev server is running on this database: stop it first")
        }
        other => other.with_context(|| format!("cannot look at {}", metadata.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name that Miniflare itself gave to a database of this id.
    #[test]
    fn a_file_is_named_as_miniflare_does() {
        let path = path(Path::new("state"), "abc").unwrap();
        let name = "b9a9be60acbce902d5d9c7bd9c3160b836be10e73e071b91b479e37cb251c1af.sqlite";
        assert_eq!(path, Path::new("state/v3/d1/miniflare-D1DatabaseObject").join(name));
    }
}
