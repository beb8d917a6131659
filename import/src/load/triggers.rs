//! The schema's triggers, which are removed for a bulk load and restored unchanged.

use anyhow::Result;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trigger {
    pub name: String,
    pub sql: String,
}

pub fn remove(connection: &Connection) -> Result<Vec<Trigger>> {
    let triggers = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name")?
        .query_map([], |row| Ok(Trigger { name: row.get(0)?, sql: row.get(1)? }))?
        .collect::<Result<Vec<_>, _>>()?;
    for trigger in &triggers {
        connection.execute_batch(&drop_sql(trigger))?;
    }
    Ok(triggers)
}

pub fn restore(connection: &Connection, triggers: &[Trigger]) -> Result<()> {
    for trigger in triggers {
        connection.execute_batch(&trigger.sql)?;
    }
    Ok(())
}

/// The statement that removes the trigger.
pub fn drop_sql(trigger: &Trigger) -> String {
    format!("DROP TRIGGER IF EXISTS \"{}\"", trigger.name.replace('"', "\"\""))
}
