//! Lists of tools that are bounded by bytes. A tool may have half a megabyte, a page may have 200 tools, and an isolate has
//! 128 MB. So SQLite adds up the bytes and ends a page in time.

use crate::db::Rows;
use crate::error::Result;
use serde::Deserialize;

/// How many bytes of tools one query returns.
pub const MAX_LISTED_BYTES: u32 = 4_000_000;

/// How many bytes the version `v` with the override `o` may take in a response. SQLite knows the length of a text without reading it. Schemas
/// count twice, because a response may hold them as texts, with escapes.
pub const TOOL_BYTES: &str = "1000 + 2 * octet_length(v.parameters_schema)
    + 2 * coalesce(octet_length(v.returns_schema), 0) + octet_length(v.examples) + octet_length(v.handler)
    + octet_length(v.side_effects) + octet_length(v.required_capabilities) + octet_length(v.credentials_required)
    + octet_length(v.description) + coalesce(octet_length(o.renderer_config), 0)";

/// Selects as many of the first rows as fit into [`MAX_LISTED_BYTES`], and at least one row. `bytes` is the SQL of a row's
/// size. The additional column `cut` tells whether rows were left out: `'1'` or `'0'`.
pub fn select_within_bytes(shown: &str, columns: &str, bytes: &str, from: &str, order: &str) -> String {
    format!(
        "SELECT {shown}, iif(total > {MAX_LISTED_BYTES}, '1', '0') AS cut FROM (
           SELECT {columns}, {bytes} AS bytes, sum({bytes}) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING) AS until,
             sum({bytes}) OVER () AS total
           {from})
         WHERE until <= {MAX_LISTED_BYTES} OR until = bytes ORDER BY until"
    )
}

/// Whether rows were left out of the result of [`select_within_bytes`].
pub fn is_cut(rows: &Rows) -> Result<bool> {
    #[derive(Deserialize)]
    struct CutRow<'a> {
        cut: &'a str,
    }
    Ok(rows.first::<CutRow<'_>>()?.is_some_and(|it| it.cut == "1"))
}
