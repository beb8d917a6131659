//! SQL for reading the table `changes`.

use super::log::ChangeFilter;
use crate::changes::Action;
use crate::db::{Statement, first_bytes, sql};
use crate::ids::WorkspaceId;
use crate::page::AgeOrder;
use crate::time::Timestamp;

/// How many bytes of states one query returns. The row that exceeds this limit is still returned. The rows after it are
/// left for the next query.
const MAX_BYTES: u32 = 4_000_000;

/// The size of a row's states. SQLite knows the size without reading the states.
const BYTES: &str = "coalesce(octet_length(previous_state), 0) + coalesce(octet_length(new_state), 0)";

/// How many rows one query looks at if no index holds exactly the rows that pass the filter. A rare change may be a
/// million rows away; the page then ends without it, and the next page goes on.
const MAX_LOOKED_AT: u32 = 10_000;

/// The name of the operator, if the operator is a token. The change that made the token still knows the name of a token
/// that was revoked.
const OPERATOR_NAME: &str = "iif(c.operator GLOB 'tok_*', coalesce(
    (SELECT name FROM tokens t WHERE t.workspace_id = ?1 AND t.id = c.operator),
    (SELECT made.new_state ->> 'name' FROM changes made INDEXED BY changes_by_subject
     WHERE made.workspace_id = ?1 AND made.subject = 'token:' || c.operator ORDER BY made.seq LIMIT 1)), NULL)";

/// `asked`: the first and the last number between which the changes must be. Times never decrease in the log, so a time
/// can be translated into a number of the log. The bounds are numbers and not conditions, so that a query begins at its
/// first row, however far away this row is.
fn asked(order: AgeOrder) -> String {
    let (after, before) = match order {
        AgeOrder::Oldest => ("coalesce(?2 + 1, 0)", "4294967295"),
        AgeOrder::Newest => ("0", "coalesce(?2 - 1, 4294967295)"),
    };
    format!(
        "asked AS MATERIALIZED (
           SELECT max({after}, iif(?5 IS NULL, 0, coalesce((
               SELECT seq FROM changes INDEXED BY changes_by_time
               WHERE workspace_id = ?1 AND timestamp >= ?5 ORDER BY timestamp, seq LIMIT 1), 4294967295))) AS low,
             min({before}, iif(?6 IS NULL, 4294967295, coalesce((
               SELECT seq FROM changes INDEXED BY changes_by_time
               WHERE workspace_id = ?1 AND timestamp <= ?6 ORDER BY timestamp DESC, seq DESC LIMIT 1), 0))) AS high)"
    )
}

/// Rows after the number `after`, in the order of the filter. The column `reached` is the number up to which the query has
/// looked, or null if it has looked at all rows. A query that may not look at all rows always has a row: if nothing was
/// found, the other columns are null.
pub fn list_changes(workspace: &WorkspaceId, filter: &ChangeFilter, after: Option<u32>, limit: u32) -> Statement {
    let order = match filter.order {
        AgeOrder::Oldest => "seq",
        AgeOrder::Newest => "seq DESC",
    };
    let walk = Walk::of(filter);
    let (first, last) = match filter.order {
        AgeOrder::Oldest => ("low", "min(high, coalesce((SELECT reached FROM reach), high))"),
        AgeOrder::Newest => ("max(low, coalesce((SELECT reached FROM reach), low))", "high"),
    };
    let found = first_bytes(
        &format!(
            "SELECT seq, {BYTES} AS bytes FROM {} {} AND seq >= (SELECT {first} FROM asked)
               AND seq <= (SELECT {last} FROM asked) ORDER BY {order} LIMIT +?9",
            walk.along, walk.rest
        ),
        order,
        MAX_BYTES,
    );
    // The second form costs some rows more.
    let from = match walk.is_exact() {
        true => format!("({found}) found CROSS JOIN changes c"),
        false => format!("reach LEFT JOIN ({found}) found ON true LEFT JOIN changes c"),
    };
    sql(format!(
        "WITH {}, reach AS MATERIALIZED (SELECT {} AS reached)
         SELECT c.seq, c.timestamp, c.action, c.subject, c.tool_id, c.version, c.operator,
           {OPERATOR_NAME} AS operator_name, c.reason, c.previous_state, c.new_state, found.full,
           (SELECT reached FROM reach) AS reached
         FROM {from} ON c.workspace_id = ?1 AND c.seq = found.seq ORDER BY c.{order}",
        asked(filter.order),
        walk.reached(filter.order)
    ))
    .bind(workspace.as_str())
    .bind(after)
    .bind(filter.subject.as_deref())
    .bind(filter.tool_id.as_deref())
    .bind(filter.since.map(|it| it.to_string()))
    .bind(filter.until.map(|it| it.to_string()))
    .bind(filter.operator.as_deref())
    .bind(filter.action.map(Action::as_str))
    .bind(limit)
}

/// The condition on the operator. A token also goes by its name; the change that made a token knows the name for ever.
fn of_operator(operator: &str) -> &'static str {
    match operator {
        "root" | "anonymous" | "pegboard" => " AND operator = ?7",
        id if id.starts_with("tok_") => " AND operator = ?7",
        _ => {
            " AND operator IN (SELECT substr(made.subject, 7) FROM changes made INDEXED BY changes_by_subject
               WHERE made.workspace_id = ?1 AND made.subject >= 'token:' AND made.subject < 'token;'
                 AND made.new_state ->> 'name' = ?7)"
        }
    }
}

/// How a query walks through the log.
struct Walk {
    /// The table with the index and its condition. The index is named, because SQLite's planner would choose by averages
    /// over all workspaces.
    along: &'static str,
    /// The conditions that the index does not know.
    rest: String,
    is_indexed: bool,
}

impl Walk {
    /// The walk along the index that has the fewest rows to look at. Only changes by tokens are in the index by operator.
    fn of(filter: &ChangeFilter) -> Self {
        let mut rest = [
            filter.subject.as_ref().map(|_| " AND subject = ?3"),
            filter.tool_id.as_ref().map(|_| " AND tool_id IS ?4"),
            filter.operator.as_deref().map(of_operator),
            filter.action.map(|_| " AND action = ?8"),
        ];
        let by_token = filter.operator.as_ref().is_some_and(|it| it.starts_with("tok_"));
        let (along, is_indexed) = if filter.names_all_versions() {
            rest[0] = Some(" AND subject >= ?3 || '@' AND subject < ?3 || 'A'");
            ("changes INDEXED BY changes_by_tool WHERE workspace_id = ?1 AND tool_id = substr(?3, 6)", true)
        } else if rest[0].take().is_some() {
            ("changes INDEXED BY changes_by_subject WHERE workspace_id = ?1 AND subject = ?3", true)
        } else if rest[1].take().is_some() {
            ("changes INDEXED BY changes_by_tool WHERE workspace_id = ?1 AND tool_id = ?4", true)
        } else if by_token {
            rest[2] = None;
            (
                "changes INDEXED BY changes_by_token
                 WHERE workspace_id = ?1 AND operator = ?7 AND substr(operator, 1, 4) = 'tok_'",
                true,
            )
        } else {
            ("changes WHERE workspace_id = ?1", false)
        };
        Self { along, rest: rest.into_iter().flatten().collect(), is_indexed }
    }

    /// Whether every row along the index passes the filter.
    fn is_exact(&self) -> bool {
        self.rest.is_empty()
    }

    /// The SQL of the number up to which the query may look. Null if the query may look at all rows: because the walk
    /// is exact, or because there are not so many.
    fn reached(&self, order: AgeOrder) -> String {
        if self.is_exact() {
            return "NULL".to_owned();
        }
        let further = MAX_LOOKED_AT - 1;
        let newest = "(SELECT max(seq) FROM changes WHERE workspace_id = ?1)";
        match (self.is_indexed, order) {
            (true, order) => format!(
                "(SELECT seq FROM {} AND seq >= (SELECT low FROM asked) AND seq <= (SELECT high FROM asked)
                  ORDER BY seq {} LIMIT 1 OFFSET {further})",
                self.along,
                match order {
                    AgeOrder::Oldest => "",
                    AgeOrder::Newest => "DESC",
                }
            ),
            // The numbers have no gaps.
            (false, AgeOrder::Oldest) => format!(
                "(SELECT iif(first + {further} < min(high, {newest}), first + {further}, NULL)
                  FROM (SELECT max(low, 1) AS first, high FROM asked))"
            ),
            (false, AgeOrder::Newest) => format!(
                "(SELECT iif(first - {further} > max(low, 1), first - {further}, NULL)
                  FROM (SELECT low, min(high, {newest}) AS first FROM asked))"
            ),
        }
    }
}

/// The last change of the workspace.
pub fn last_change(workspace: &WorkspaceId) -> Statement {
    sql("SELECT seq, timestamp FROM changes WHERE workspace_id = ?1 ORDER BY seq DESC LIMIT 1").bind(workspace.as_str())
}

/// The last change at or before a time.
pub fn change_at(workspace: &WorkspaceId, at: Timestamp) -> Statement {
    sql("SELECT seq, timestamp FROM changes INDEXED BY changes_by_time
         WHERE workspace_id = ?1 AND timestamp <= ?2 ORDER BY timestamp DESC, seq DESC LIMIT 1")
    .bind(workspace.as_str())
    .bind(at.to_string())
}

/// The change with the number `seq`.
pub fn change_numbered(workspace: &WorkspaceId, seq: u32) -> Statement {
    sql("SELECT seq, timestamp FROM changes WHERE workspace_id = ?1 AND seq = ?2").bind(workspace.as_str()).bind(seq)
}

/// The states of the subjects of one kind after the change `seq`. Only subjects whose names come after `after` are
/// returned, sorted by name. Each subject costs a few seeks, however long its history is: one to find the subject, one
/// to find its last change, and one to read this change.
pub fn states(workspace: &WorkspaceId, kind: &str, after: &str, seq: u32, limit: u32) -> Statement {
    let next = "SELECT min(subject) FROM changes INDEXED BY changes_by_subject
        WHERE workspace_id = ?1 AND subject < ?3 AND subject >";
    let found = first_bytes(
        &format!(
            "WITH RECURSIVE things (subject) AS (
               {next} ?2
               UNION ALL
               SELECT ({next} things.subject) FROM things WHERE things.subject IS NOT NULL
               LIMIT +?5)
             SELECT things.subject, c.seq, coalesce(octet_length(c.new_state), 0) AS bytes
             FROM things LEFT JOIN changes c ON c.workspace_id = ?1 AND c.seq = (
               SELECT max(seq) FROM changes INDEXED BY changes_by_subject
               WHERE workspace_id = ?1 AND subject = things.subject AND seq <= ?4)
             WHERE things.subject IS NOT NULL"
        ),
        "subject",
        MAX_BYTES,
    );
    sql(format!(
        "SELECT found.subject, c.new_state, found.full
         FROM ({found}) found LEFT JOIN changes c ON c.workspace_id = ?1 AND c.seq = found.seq ORDER BY found.subject"
    ))
    .bind(workspace.as_str())
    .bind(format!("{kind}:{after}"))
    // `;` is the character that follows `:`, so this text sorts after all subjects of the kind.
    .bind(format!("{kind};"))
    .bind(seq)
    .bind(limit)
}
