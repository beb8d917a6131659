-- Every call, refused ones too. Rows are never tied to tools or agents by foreign keys: the record
-- outlives what it is about.
CREATE TABLE tool_calls (
  -- Breaks the tie between calls of one millisecond.
  key INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  version TEXT,
  agent_id TEXT,
  user_id TEXT,
  session_id TEXT,
  message_id TEXT,
  operator TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending_approval', 'running', 'success', 'error', 'denied')),
  -- Redacted; unset until the call is closed. Large ones are a {sha256, size, prefix} and live in call_payloads.
  arguments TEXT CHECK (arguments IS NULL OR json_valid(arguments)),
  result TEXT CHECK (result IS NULL OR json_valid(result)),
  error TEXT CHECK (error IS NULL OR json_valid(error)),
  render_plan TEXT CHECK (render_plan IS NULL OR json_valid(render_plan)),
  pre_manifest_id TEXT,
  post_manifest_id TEXT,
  duration_ms INTEGER,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  -- When the sweep may take a running call for dead.
  deadline_at TEXT,
  UNIQUE (workspace_id, id)
) STRICT;

-- Lists are in order of (started_at, key), which ends each of these; it is also what since and until cut.
-- Partial where the column is mostly empty: a call without it pays for no index row.
CREATE INDEX tool_calls_by_time ON tool_calls (workspace_id, started_at);
CREATE INDEX tool_calls_by_tool ON tool_calls (workspace_id, tool_name, started_at);
CREATE INDEX tool_calls_by_status ON tool_calls (workspace_id, status, started_at);
CREATE INDEX tool_calls_by_agent ON tool_calls (workspace_id, agent_id, started_at) WHERE agent_id IS NOT NULL;
CREATE INDEX tool_calls_by_session ON tool_calls (workspace_id, session_id, started_at) WHERE session_id IS NOT NULL;
CREATE INDEX tool_calls_by_message ON tool_calls (workspace_id, message_id, started_at) WHERE message_id IS NOT NULL;
CREATE INDEX tool_calls_running ON tool_calls (deadline_at) WHERE status = 'running';

CREATE TABLE call_payloads (
  workspace_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('arguments', 'result')),
  chunk INTEGER NOT NULL CHECK (chunk >= 0),
  data TEXT NOT NULL,
  PRIMARY KEY (workspace_id, call_id, kind, chunk),
  FOREIGN KEY (workspace_id, call_id) REFERENCES tool_calls (workspace_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE idempotency_keys (
  workspace_id TEXT NOT NULL,
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  arguments_hash TEXT NOT NULL,
  call_id TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, caller, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
