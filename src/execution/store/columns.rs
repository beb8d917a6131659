//! The columns that make up a call.

/// The columns that every read of a call includes. None of them is large.
macro_rules! small_columns {
    () => {
        "c.key, c.id, c.tool_name, c.version, c.agent_id, c.user_id, c.session_id, c.message_id, c.operator, c.status,
    c.duration_ms, c.started_at, c.finished_at, c.pre_manifest_id, c.post_manifest_id, c.max_result_bytes"
    };
}

/// The columns of a [`crate::execution::row::CallRow`], from `tool_calls c`.
pub const CALL_COLUMNS: &str = concat!(small_columns!(), ", c.render_plan, c.error, c.arguments, c.result, c.details");

/// The columns for lists. Arguments and results over 8192 characters are read as their size and beginning. An error
/// over 8192 characters is read as its code and the beginning of its message, and details of that length with the
/// beginning of their output. A render plan of that length is read without its configuration.
pub const LISTED_COLUMNS: &str = concat!(
    small_columns!(),
    ",
    iif(length(c.render_plan) > 8192, json_object('renderer', c.render_plan ->> '$.renderer', 'config', NULL,
      'truncated', json('true'), 'size', octet_length(c.render_plan), 'url', '/api/tool-calls/' || c.id),
      c.render_plan) AS render_plan,
    iif(length(c.error) > 8192, json_object('code', c.error ->> '$.code',
      'message', substr(c.error ->> '$.message', 1, 1000), 'details', NULL), c.error) AS error,
    iif(length(c.arguments) > 8192 AND c.arguments NOT LIKE '#%', '~' || json_object(
      'size', octet_length(c.arguments), 'prefix', substr(c.arguments, 1, 1000)), c.arguments) AS arguments,
    iif(length(c.result) > 8192 AND c.result NOT LIKE '#%', '~' || json_object(
      'size', octet_length(c.result), 'prefix', substr(c.result, 1, 1000)), c.result) AS result,
    iif(length(c.details) > 8192, json_set(c.details, '$.output', substr(c.details ->> '$.output', 1, 1000) || char(10)
      || '[cut: the whole is at GET /api/tool-calls/' || c.id || ']'), c.details) AS details"
);
