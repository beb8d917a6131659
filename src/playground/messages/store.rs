//! SQL for the tables `messages` and `message_chunks`, and for the active message of a session.
//! 0040_messages.sql explains lines.

use super::{ListedMessage, Message, Whereabouts};
use crate::db::{Param, Rows, Statement, first_bytes, sql};
use crate::error::{Error, Result};
use crate::ids::{AgentId, FileManifestId, MessageId, SessionId, WorkspaceId};
use crate::playground::part::{FinishReason, Part, Role, Usage};
use crate::playground::pieces::pieces;
use crate::playground::start::{CheckedOutMessage, MessagePlace};
use crate::quota::{self, MESSAGE_BYTES};
use crate::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// How many bytes of parts one row holds. A row has at most 2 MB in D1, also within a query, and rows with two pieces are
/// sorted.
const MAX_CHUNK_BYTES: usize = 900_000;

/// How many messages of a path a turn reads, and about how many bytes.
const TURN_MESSAGES: u32 = 200;
const TURN_BYTES: u32 = 4_000_000;

/// About how many bytes a page of messages has at most.
const PAGE_BYTES: u32 = 4_000_000;

/// How many messages with the same parent are shown with each message.
const SIBLINGS: u32 = 200;

/// The texts of a message that can be large.
pub struct NewTexts {
    first: String,
    more: Vec<String>,
    metadata: Option<String>,
}

impl NewTexts {
    /// `parts` is a JSON array.
    pub fn new(parts: &str) -> Self {
        let mut pieces = pieces(parts, MAX_CHUNK_BYTES);
        let first = if pieces.is_empty() { String::new() } else { pieces.remove(0).to_owned() };
        Self { first, more: pieces.into_iter().map(str::to_owned).collect(), metadata: None }
    }

    pub fn with_metadata(mut self, metadata: Option<&Value>) -> Self {
        self.metadata = metadata.map(Value::to_string);
        self
    }

    /// The bytes that the message counts with.
    pub fn bytes(&self) -> usize {
        let metadata = self.metadata.as_ref().map_or(0, String::len);
        MESSAGE_BYTES + self.first.len() + self.more.iter().map(String::len).sum::<usize>() + metadata
    }

    /// Binds `bytes`, `chunks`, `metadata` and `parts`.
    fn bind_to(&self, statement: Statement) -> Statement {
        statement
            .bind(Param::Number(self.bytes() as f64))
            .bind(Param::Number((1 + self.more.len()) as f64))
            .bind(self.metadata.as_deref())
            .bind(self.first.as_str())
    }
}

/// A condition that holds for the messages `alias` of the session `?2` with this generation.
fn of_session(alias: &str, generation: &str) -> String {
    format!("{alias}.workspace_id = ?1 AND {alias}.session_id = ?2 AND {alias}.generation = {generation}")
}

/// The session `?2`, if it exists.
const SESSION: &str = "s.workspace_id = ?1 AND s.id = ?2 AND s.deleted = 0";

/// The columns that place a message, in the order of [`place_under`].
const PLACE_COLUMNS: &str = "depth, line, line_start, parent_line";

/// The place of a new message under the parent `p`, a row of `messages` whose columns are null for the first message of a
/// conversation.
fn place_under(generation: &str) -> String {
    let in_session = of_session("n", generation);
    // A comparison with a null line is not true, so that a message without a parent continues no line.
    let continues = format!(
        "(p.key IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM messages n WHERE {in_session} AND n.line = p.line AND n.depth = p.depth + 1))"
    );
    format!(
        "coalesce(p.depth + 1, 0),
         iif({continues}, p.line, (SELECT coalesce(max(n.line), 0) + 1 FROM messages n WHERE {in_session})),
         iif({continues}, p.line_start, coalesce(p.depth + 1, 0)), iif({continues}, p.parent_line, p.line)"
    )
}

/// A message that the user writes.
#[derive(Clone, Copy)]
pub struct UserMessage<'a> {
    /// The id that the client has chosen.
    pub client_id: Option<&'a MessageId>,
    /// The id to use if the client has chosen none, or if a message has it already.
    pub other_id: &'a MessageId,
    pub agent: &'a AgentId,
    pub texts: &'a NewTexts,
    pub now: Timestamp,
}

/// Puts a message of the user in its place, and makes it the active message of the session together with the files that
/// it begins from. Writes nothing if the named message or the agent does not exist.
///
/// Each statement but the first asks by `changes()` whether the statement before it has written something.
pub fn insert_user_message(
    workspace: &WorkspaceId,
    session: &SessionId,
    message: UserMessage<'_>,
    place: &MessagePlace,
) -> Vec<Statement> {
    insert_user_message_if("1", workspace, session, message, place)
}

/// The same for a message that only its client may know. Writes nothing if the message is stored already ([`shown_message`]).
/// If another message has its id, the client has edited that message, and the new one stands beside it. Otherwise the new one
/// stands after the active message.
pub fn insert_if_unknown(workspace: &WorkspaceId, session: &SessionId, message: UserMessage<'_>) -> Vec<Statement> {
    let mut statements = Vec::new();
    if let Some(id) = message.client_id {
        let is_unknown = format!("{} IS NULL", shown_message("at", "?3", ["?8", "?9", "?11"]));
        let (message, place) = (UserMessage { client_id: None, ..message }, MessagePlace::Instead(id.clone()));
        statements.extend(insert_user_message_if(&is_unknown, workspace, session, message, &place));
    }
    let is_unknown = format!(
        "{} IS NULL AND NOT EXISTS (SELECT 1 FROM messages n WHERE {} AND n.id = ?4)",
        shown_message("at", "?4", ["?8", "?9", "?11"]),
        of_session("n", "at.generation")
    );
    let place = MessagePlace::AfterActive;
    statements.extend(insert_user_message_if(&is_unknown, workspace, session, message, &place));
    statements
}

/// SQL for the id of a stored message of the user that has these texts: `bytes`, `chunks` and the first text. The client shows
/// the message with the id `client`. The message is the question of the active message, or the message with the id `client`.
/// An edited message keeps its id at the client and has another id here, and stands beside the message that it replaces. Null,
/// if there is no such message. `of` is a row with the session's `generation` and `active_message_id`.
fn shown_message(of: &str, client: &str, [bytes, chunks, parts]: [&str; 3]) -> String {
    let generation = format!("{of}.generation");
    let question = "iif(a.role = 'user', a.id, a.parent_id)";
    format!(
        "(SELECT t.id FROM messages a
          CROSS JOIN messages t ON {} AND t.id IN ({client}, {question}) AND t.role = 'user'
            AND t.bytes = {bytes} AND t.chunks = {chunks} AND t.parts = {parts}
          WHERE {} AND a.id = {of}.active_message_id AND (t.id = {client} OR {client} IS NULL OR EXISTS (
            SELECT 1 FROM messages x WHERE {} AND x.id = {client} AND x.parent_id IS t.parent_id))
          ORDER BY t.id = {question} DESC LIMIT 1)",
        of_session("t", &generation),
        of_session("a", &generation),
        of_session("x", &generation)
    )
}

/// `only_if` is a condition that may use the row `at` of the session.
fn insert_user_message_if(
    only_if: &str,
    workspace: &WorkspaceId,
    session: &SessionId,
    message: UserMessage<'_>,
    place: &MessagePlace,
) -> Vec<Statement> {
    let UserMessage { client_id, other_id, agent, texts, now } = message;
    let named = of_session("x", "s.generation");
    let (named_id, parent, own_manifest, join) = match place {
        MessagePlace::AfterActive => (None, "s.active_message_id", "NULL", String::new()),
        MessagePlace::Under(id) => {
            (Some(id), "x.id", "NULL", format!("CROSS JOIN messages x ON {named} AND x.id = ?3"))
        }
        MessagePlace::Instead(id) => (
            Some(id),
            "x.parent_id",
            "x.manifest_id",
            format!("CROSS JOIN messages x ON {named} AND x.id = ?3 AND x.role = 'user'"),
        ),
    };
    let text = format!(
        "WITH at AS MATERIALIZED (
           SELECT s.generation, s.active_message_id, s.active_manifest_id, {parent} AS parent_id,
             {own_manifest} AS own_manifest
           FROM sessions s {join} WHERE {SESSION})
         INSERT INTO messages (workspace_id, session_id, generation, id, parent_id, {PLACE_COLUMNS}, role, agent_id,
           manifest_id, created_at, bytes, chunks, metadata, parts)
         SELECT ?1, ?2, at.generation,
           iif(?4 IS NULL OR EXISTS (SELECT 1 FROM messages n WHERE {} AND n.id = ?4), ?5, ?4),
           at.parent_id, {}, 'user', ?6,
           CASE WHEN at.parent_id IS at.active_message_id THEN at.active_manifest_id
             WHEN at.parent_id IS NULL THEN at.own_manifest ELSE p.manifest_id END,
           ?7, ?8, ?9, ?10, ?11
         FROM at LEFT JOIN messages p ON {} AND p.id = at.parent_id
         WHERE EXISTS (SELECT 1 FROM agents WHERE workspace_id = ?1 AND id = ?6) AND {only_if}",
        of_session("n", "at.generation"),
        place_under("at.generation"),
        of_session("p", "at.generation"),
    );
    let insert = sql(text)
        .bind(workspace.as_str())
        .bind(session.as_str())
        .bind(named_id.map(MessageId::as_str))
        .bind(client_id.map(MessageId::as_str))
        .bind(other_id.as_str())
        .bind(agent.as_str())
        .bind(now.to_string());
    let mut statements = vec![texts.bind_to(insert)];
    statements.extend(texts.more.iter().zip(1_u32..).map(|(piece, chunk)| {
        sql("INSERT INTO message_chunks (message_key, chunk, parts)
             SELECT last_insert_rowid(), CAST(?1 AS INTEGER), ?2 WHERE changes() = 1")
        .bind(chunk)
        .bind(piece.as_str())
    }));
    statements.push(
        sql("UPDATE sessions SET active_message_id = m.id, active_manifest_id = m.manifest_id, updated_at = ?3
             FROM (SELECT id, manifest_id FROM messages WHERE key = last_insert_rowid()) m
             WHERE sessions.workspace_id = ?1 AND sessions.id = ?2 AND changes() = 1")
        .bind(workspace.as_str())
        .bind(session.as_str())
        .bind(now.to_string()),
    );
    statements
}

/// Makes the message of the user that is to be answered anew the active one, with its files: the message before the named
/// answer, or the named message itself. If none is named, the active message counts. Changes nothing if there is no such
/// message, or no such agent.
pub fn go_back_to_question(
    workspace: &WorkspaceId,
    session: &SessionId,
    named: Option<&MessageId>,
    agent: &AgentId,
    now: Timestamp,
) -> Statement {
    sql(format!(
        "UPDATE sessions SET active_message_id = m.id, active_manifest_id = m.manifest_id, updated_at = ?4
         FROM (SELECT q.id, q.manifest_id FROM sessions s
           CROSS JOIN messages x ON {} AND x.id = coalesce(?3, s.active_message_id)
           CROSS JOIN messages q ON {} AND q.id = iif(x.role = 'user', x.id, x.parent_id) AND q.role = 'user'
           WHERE {SESSION}) m
         WHERE sessions.workspace_id = ?1 AND sessions.id = ?2
           AND EXISTS (SELECT 1 FROM agents WHERE workspace_id = ?1 AND id = ?5)",
        of_session("x", "s.generation"),
        of_session("q", "s.generation")
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(named.map(MessageId::as_str))
    .bind(now.to_string())
    .bind(agent.as_str())
}

/// Makes the message that the client shows last ([`shown_message`]) the active one, with its files. Changes nothing if there is
/// no such message, or no such agent.
pub fn go_back_to_shown(workspace: &WorkspaceId, session: &SessionId, message: UserMessage<'_>) -> Statement {
    let UserMessage { client_id, agent, texts, now, .. } = message;
    let statement = sql(format!(
        "UPDATE sessions SET active_message_id = m.id, active_manifest_id = m.manifest_id, updated_at = ?4
         FROM (SELECT q.id, q.manifest_id FROM sessions s
           CROSS JOIN messages q ON {} AND q.id = {}
           WHERE {SESSION}) m
         WHERE sessions.workspace_id = ?1 AND sessions.id = ?2
           AND EXISTS (SELECT 1 FROM agents WHERE workspace_id = ?1 AND id = ?5)",
        of_session("q", "s.generation"),
        shown_message("s", "?3", ["?6", "?7", "?9"])
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(client_id.map(MessageId::as_str))
    .bind(now.to_string())
    .bind(agent.as_str());
    texts.bind_to(statement)
}

/// Makes a message the active one, or the last message of its line, with its files. Changes nothing if the session has no
/// such message.
pub fn check_out(
    workspace: &WorkspaceId,
    session: &SessionId,
    message: &CheckedOutMessage,
    now: Timestamp,
) -> Statement {
    // Between the messages of a line there is none of another line, so the last one is the end of the index's range.
    let end = format!("CROSS JOIN messages e ON {} AND e.line = x.line", of_session("e", "s.generation"));
    let (join, at) = if message.to_end { (end.as_str(), "e") } else { ("", "x") };
    sql(format!(
        "UPDATE sessions SET active_message_id = m.id, active_manifest_id = m.manifest_id, updated_at = ?4
         FROM (SELECT {at}.id, {at}.manifest_id FROM sessions s CROSS JOIN messages x ON {} AND x.id = ?3 {join}
           WHERE {SESSION} ORDER BY {at}.depth DESC LIMIT 1) m
         WHERE sessions.workspace_id = ?1 AND sessions.id = ?2",
        of_session("x", "s.generation")
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(message.id.as_str())
    .bind(now.to_string())
}

/// What the batch that begins a turn has found.
pub struct Begun {
    pub has_agent: bool,
    /// None: there is no such session.
    pub generation: Option<u32>,
    pub active_message_id: Option<MessageId>,
    /// The role of the named message, or else of the active one.
    pub named_role: Option<Role>,
    /// Whether the statement before this one has moved the session.
    pub written: bool,
}

/// Selects what a beginning turn has found. It comes right after the statement that moves the session, if there is one.
pub fn find_begun(
    workspace: &WorkspaceId,
    session: &SessionId,
    named: Option<&MessageId>,
    agent: &AgentId,
) -> Statement {
    sql(format!(
        "SELECT EXISTS (SELECT 1 FROM agents WHERE workspace_id = ?1 AND id = ?4) AS has_agent, s.generation,
           s.active_message_id, x.role AS named_role, changes() AS written
         FROM (SELECT 1) LEFT JOIN sessions s ON {SESSION}
         LEFT JOIN messages x ON {} AND x.id = coalesce(?3, s.active_message_id)",
        of_session("x", "s.generation")
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(named.map(MessageId::as_str))
    .bind(agent.as_str())
}

pub fn read_begun(rows: &Rows) -> Result<Begun> {
    #[derive(Deserialize)]
    struct Row {
        has_agent: u8,
        generation: Option<u32>,
        active_message_id: Option<String>,
        named_role: Option<Role>,
        written: u32,
    }
    let row = rows.first::<Row>()?.ok_or_else(|| Error::Internal("a beginning turn has no row".into()))?;
    Ok(Begun {
        has_agent: row.has_agent != 0,
        generation: row.generation,
        active_message_id: stored_id(row.active_message_id.as_deref(), MessageId::parse)?,
        named_role: row.named_role,
        written: row.written != 0,
    })
}

/// The leaf of a path: the message `?3`, or else the active one.
const NAMED_OR_ACTIVE: &str = "coalesce(?3, s.active_message_id)";

/// Begins a statement with the `runs` of messages on the path to the message with the id `leaf`. `first` and `last` bound
/// the depths of the wanted messages; they may use the `depth` of the leaf.
fn path_to_leaf(leaf: &str, first: &str, last: &str) -> String {
    format!(
        "WITH RECURSIVE leaf AS MATERIALIZED (
           SELECT x.generation, x.line, x.line_start, x.parent_line, x.depth FROM sessions s
           CROSS JOIN messages x ON {} AND x.id = {leaf} WHERE {SESSION}),
         wanted AS MATERIALIZED (SELECT {first} AS first, {last} AS last FROM leaf),
         runs(generation, line, first, last, parent_line) AS (
           SELECT generation, line, line_start, depth, parent_line FROM leaf
           UNION ALL
           SELECT x.generation, x.line, x.line_start, x.depth, x.parent_line
           FROM runs CROSS JOIN wanted CROSS JOIN messages x
             ON {} AND x.line = runs.parent_line AND x.depth = runs.first - 1
           WHERE runs.first > wanted.first)",
        of_session("x", "s.generation"),
        of_session("x", "runs.generation")
    )
}

/// Selects where a message is, for [`read_whereabouts`].
pub fn find_whereabouts(workspace: &WorkspaceId, session: &SessionId, message: &MessageId) -> Statement {
    sql(format!(
        "{} SELECT s.generation, s.created_at, g.key IS NOT NULL AS is_stored,
           EXISTS (SELECT 1 FROM runs WHERE runs.line = g.line AND g.depth BETWEEN runs.first AND runs.last) AS is_on_path
         FROM sessions s LEFT JOIN messages g ON {} AND g.id = ?3 WHERE {SESSION}",
        path_to_leaf("s.active_message_id", "0", "depth"),
        of_session("g", "s.generation")
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(message.as_str())
}

/// `asked_at` is the time of a call that names the message.
pub fn read_whereabouts(rows: &Rows, asked_at: Timestamp) -> Result<Whereabouts> {
    #[derive(Deserialize)]
    struct Row {
        generation: u32,
        created_at: Timestamp,
        is_stored: u8,
        is_on_path: u8,
    }
    Ok(match rows.first::<Row>()? {
        Some(Row { generation, is_stored: 1, is_on_path: 0, .. }) => Whereabouts::Elsewhere { generation },
        // The session was made anew after the call was asked for, and the message was in the one before.
        Some(it) if it.is_stored == 0 && it.created_at > asked_at => Whereabouts::Gone,
        Some(Row { generation, .. }) => Whereabouts::Present { generation },
        None => Whereabouts::Gone,
    })
}

/// Selects the wanted messages of [`path_to_leaf`], up to `max_bytes` in this order. A message with several texts has a
/// row for each text but the first. `more` are further columns, of the first row of each message alone.
fn select_path(order: &str, max_bytes: u32, more: &str) -> String {
    let found = first_bytes(
        &format!(
            "SELECT x.key, x.depth, x.bytes FROM runs CROSS JOIN wanted CROSS JOIN messages x
               ON {} AND x.line = runs.line
               AND x.depth BETWEEN max(runs.first, wanted.first) AND min(runs.last, wanted.last)",
            of_session("x", "runs.generation")
        ),
        order,
        max_bytes,
    );
    format!(
        "SELECT g.id, g.parent_id, g.role, g.agent_id, g.manifest_id, g.finish_reason, g.usage, g.created_at, g.depth,
           found.full, iif(c.chunk > 1, NULL, g.metadata) AS metadata, iif(c.chunk > 1, NULL, g.parts) AS parts,
           c.parts AS more_parts, {more} AS siblings
         FROM ({found}) found CROSS JOIN messages g ON g.key = found.key
         LEFT JOIN message_chunks c ON g.chunks > 1 AND c.message_key = g.key
         ORDER BY found.depth, c.chunk"
    )
}

/// The newest messages up to the one that is to be answered, for [`read_path`]: the message before the answer `paused`, or
/// else the active message.
pub fn newest_of_path(workspace: &WorkspaceId, session: &SessionId, paused: Option<&MessageId>) -> Statement {
    let leaf = match paused {
        Some(_) => {
            &format!("(SELECT a.parent_id FROM messages a WHERE {} AND a.id = ?3)", of_session("a", "s.generation"))
        }
        None => NAMED_OR_ACTIVE,
    };
    sql(format!(
        "{} {}",
        path_to_leaf(leaf, &format!("max(depth - {}, 0)", TURN_MESSAGES - 1), "depth"),
        select_path("depth DESC", TURN_BYTES, "NULL")
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(paused.map(MessageId::as_str))
}

/// One message, for [`read_answer`].
pub fn find_answer(workspace: &WorkspaceId, session: &SessionId, id: &MessageId) -> Statement {
    sql(format!("{} {}", path_to_leaf("?3", "depth", "depth"), select_path("depth", PAGE_BYTES, "NULL")))
        .bind(workspace.as_str())
        .bind(session.as_str())
        .bind(id.as_str())
}

/// Reads the result of [`find_answer`].
pub fn read_answer(rows: &Rows) -> Result<Option<Message>> {
    Ok(read_path(rows)?.0.into_iter().next())
}

/// The messages, the oldest first, and how many messages are before them.
pub fn read_path(rows: &Rows) -> Result<(Vec<Message>, u32)> {
    let messages = read_messages(rows)?.0;
    let older = messages.first().map_or(0, |it| it.depth);
    Ok((messages.into_iter().map(|it| it.message).collect(), older))
}

/// Messages of the path to the leaf, or to the active message, from the depth `first` on, for [`read_listed`].
pub fn list(
    workspace: &WorkspaceId,
    session: &SessionId,
    leaf: Option<&MessageId>,
    first: u32,
    limit: u32,
) -> Statement {
    let siblings = format!(
        "iif(c.chunk > 1, NULL, (SELECT json_group_array(id) FROM (
           SELECT id FROM (
             SELECT n.key, n.id FROM messages n WHERE {} AND n.parent_id IS g.parent_id ORDER BY n.key DESC LIMIT {SIBLINGS})
           ORDER BY key)))",
        of_session("n", "g.generation")
    );
    sql(format!(
        "{} {}",
        path_to_leaf(NAMED_OR_ACTIVE, "?4", "?4 + ?5 - 1"),
        select_path("depth", PAGE_BYTES, &siblings)
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(leaf.map(MessageId::as_str))
    .bind(first)
    .bind(limit)
}

/// The messages, and whether further ones were left out because of their size.
pub fn read_listed(rows: &Rows) -> Result<(Vec<ListedMessage>, bool)> {
    read_messages(rows)
}

#[derive(Deserialize)]
struct MessageRow {
    id: String,
    parent_id: Option<String>,
    role: Role,
    agent_id: Option<String>,
    manifest_id: Option<String>,
    finish_reason: Option<FinishReason>,
    usage: Option<String>,
    created_at: Timestamp,
    depth: u32,
    full: u8,
    metadata: Option<String>,
    /// None in the further rows of a message.
    parts: Option<String>,
    more_parts: Option<String>,
    siblings: Option<String>,
}

/// The messages in the order of their rows, and whether the last one is `full`.
fn read_messages(rows: &Rows) -> Result<(Vec<ListedMessage>, bool)> {
    let mut whole: Vec<MessageRow> = Vec::new();
    for mut row in rows.all::<MessageRow>()? {
        let more = row.more_parts.take().unwrap_or_default();
        match (&mut row.parts, whole.last_mut()) {
            (Some(parts), _) => {
                parts.push_str(&more);
                whole.push(row);
            }
            (None, Some(last)) => last.parts.get_or_insert_default().push_str(&more),
            (None, None) => return Err(Error::Internal(format!("the message {} has no beginning", row.id))),
        }
    }
    let is_full = whole.last().is_some_and(|it| it.full != 0);
    Ok((whole.into_iter().map(ListedMessage::try_from).collect::<Result<_>>()?, is_full))
}

impl TryFrom<MessageRow> for ListedMessage {
    type Error = Error;

    fn try_from(row: MessageRow) -> Result<Self> {
        let broken = |cause: serde_json::Error| Error::Internal(format!("the message {} is broken: {cause}", row.id));
        let message = Message {
            id: required_id(&row.id)?,
            parent_id: stored_id(row.parent_id.as_deref(), MessageId::parse)?,
            role: row.role,
            parts: serde_json::from_str::<Vec<Part>>(row.parts.as_deref().unwrap_or_default()).map_err(broken)?,
            agent_id: stored_id(row.agent_id.as_deref(), AgentId::parse)?,
            manifest_id: stored_id(row.manifest_id.as_deref(), FileManifestId::parse)?,
            finish_reason: row.finish_reason,
            usage: row.usage.as_deref().map(serde_json::from_str::<Usage>).transpose().map_err(broken)?,
            metadata: row.metadata.as_deref().map(serde_json::from_str).transpose().map_err(broken)?,
            created_at: row.created_at,
        };
        let siblings = row.siblings.as_deref().map(serde_json::from_str).transpose().map_err(broken)?;
        Ok(Self { message, siblings: siblings.unwrap_or_default(), depth: row.depth })
    }
}

fn required_id(id: &str) -> Result<MessageId> {
    MessageId::parse(id).ok_or_else(|| Error::Internal(format!("the message {id} has a broken id")))
}

fn stored_id<T>(id: Option<&str>, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
    let broken = |id: &str| Error::Internal(format!("{id} is no id"));
    id.map(|it| parse(it).ok_or_else(|| broken(it))).transpose()
}

/// Stops its batch if the workspace's quota has no room for the answer. The bytes that count for it already are no longer
/// needed then.
pub fn ask_for_room_again(
    workspace: &WorkspaceId,
    (session, generation): (&SessionId, u32),
    message: &MessageId,
    texts: &NewTexts,
    quota_bytes: u64,
) -> Statement {
    let counted =
        "SELECT bytes FROM messages WHERE workspace_id = ?1 AND session_id = ?4 AND generation = ?5 AND id = ?6";
    quota::ask_for_room_instead(workspace, texts.bytes(), counted, quota_bytes)
        .bind(session.as_str())
        .bind(generation)
        .bind(message.as_str())
}

/// Stores the answer to the message `parent`, with the session's present files, or replaces what is stored of it. Writes
/// nothing if the session has another generation, or no such message.
pub fn put_answer(
    workspace: &WorkspaceId,
    (session, generation): (&SessionId, u32),
    message: &Message,
    parent: &MessageId,
    texts: &NewTexts,
) -> Result<Vec<Statement>> {
    let usage = message.usage.as_ref().map(serde_json::to_string).transpose();
    let usage = usage.map_err(|cause| Error::Internal(format!("a usage is not JSON: {cause}")))?;
    let insert = sql(format!(
        "INSERT INTO messages (workspace_id, session_id, generation, id, parent_id, {PLACE_COLUMNS}, role, agent_id,
           manifest_id, finish_reason, usage, created_at, bytes, chunks, metadata, parts)
         SELECT ?1, ?2, s.generation, ?4, p.id, {}, 'assistant', ?6, s.active_manifest_id, ?7, ?8, ?9, ?10, ?11, ?12, ?13
         FROM sessions s CROSS JOIN messages p ON {} AND p.id = ?5 AND p.role = 'user'
         WHERE {SESSION} AND s.generation = ?3
         ON CONFLICT (workspace_id, session_id, generation, id) DO UPDATE SET
           manifest_id = excluded.manifest_id, finish_reason = excluded.finish_reason,
           usage = coalesce(excluded.usage, usage),
           bytes = excluded.bytes, chunks = excluded.chunks, metadata = excluded.metadata, parts = excluded.parts
         WHERE role = 'assistant'",
        place_under("s.generation"),
        of_session("p", "s.generation")
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(generation)
    .bind(message.id.as_str())
    .bind(parent.as_str())
    .bind(message.agent_id.as_ref().map(AgentId::as_str))
    .bind(message.finish_reason.map(FinishReason::as_str))
    .bind(usage)
    .bind(message.created_at.to_string());
    let mut statements = vec![texts.bind_to(insert).repeatable()];
    statements.extend(put_chunks(workspace, (session, generation), &message.id, texts));
    Ok(statements)
}

/// Puts the further texts of an answer in the place of those that are stored.
fn put_chunks(
    workspace: &WorkspaceId,
    (session, generation): (&SessionId, u32),
    message: &MessageId,
    texts: &NewTexts,
) -> Vec<Statement> {
    let answer = format!(
        "(SELECT g.key FROM messages g WHERE {} AND g.id = ?4 AND g.role = 'assistant')",
        of_session("g", "?3")
    );
    let about_answer = |text: String| {
        sql(text).bind(workspace.as_str()).bind(session.as_str()).bind(generation).bind(message.as_str())
    };
    let deleted = about_answer(format!("DELETE FROM message_chunks WHERE message_key = {answer}")).repeatable();
    let added = texts.more.iter().zip(1_u32..).map(|(piece, chunk)| {
        let text = "INSERT INTO message_chunks (message_key, chunk, parts) SELECT it.key, CAST(?5 AS INTEGER), ?6 FROM";
        about_answer(format!("{text} {answer} it")).bind(chunk).bind(piece.as_str()).repeatable()
    });
    std::iter::once(deleted).chain(added).collect()
}

/// Changes the parts of a stored answer, and nothing else. Its place, its files and the active message stay.
pub fn change_answer(
    workspace: &WorkspaceId,
    (session, generation): (&SessionId, u32),
    message: &MessageId,
    texts: &NewTexts,
) -> Vec<Statement> {
    let changed = sql(format!(
        "UPDATE messages AS g SET bytes = ?5, chunks = ?6, metadata = ?7, parts = ?8
         WHERE {} AND g.id = ?4 AND g.role = 'assistant'",
        of_session("g", "?3")
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(generation)
    .bind(message.as_str());
    let mut statements = vec![texts.bind_to(changed).repeatable()];
    statements.extend(put_chunks(workspace, (session, generation), message, texts));
    statements
}

/// Makes an answer the session's active message. The files stay as they are.
pub fn activate(
    workspace: &WorkspaceId,
    (session, generation): (&SessionId, u32),
    message: &MessageId,
    now: Timestamp,
) -> Statement {
    sql(format!(
        "UPDATE sessions SET active_message_id = ?4, updated_at = ?5
         WHERE workspace_id = ?1 AND id = ?2 AND deleted = 0 AND generation = ?3
           AND EXISTS (SELECT 1 FROM messages g WHERE {} AND g.id = ?4 AND g.role = 'assistant')",
        of_session("g", "?3")
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(generation)
    .bind(message.as_str())
    .bind(now.to_string())
    .repeatable()
}

/// The answer's file manifest, if the answer is stored in a session of this generation.
pub fn find_stored(
    workspace: &WorkspaceId,
    (session, generation): (&SessionId, u32),
    message: &MessageId,
) -> Statement {
    sql(format!(
        "SELECT g.manifest_id FROM sessions s CROSS JOIN messages g
           ON {} AND g.id = ?4 AND g.role = 'assistant' WHERE {SESSION} AND s.generation = ?3",
        of_session("g", "s.generation")
    ))
    .bind(workspace.as_str())
    .bind(session.as_str())
    .bind(generation)
    .bind(message.as_str())
}

pub fn read_stored(rows: &Rows) -> Result<Option<Option<FileManifestId>>> {
    #[derive(Deserialize)]
    struct Row {
        manifest_id: Option<String>,
    }
    let row = rows.first::<Row>()?;
    row.map(|it| stored_id(it.manifest_id.as_deref(), FileManifestId::parse)).transpose()
}
