-- Nothing has been recorded before this migration. The rebuilt table keeps what is large at the end of its rows, so
-- that lists and summaries do not walk through it, and keeps fewer indexes, for every call pays for each of them.
DROP TABLE call_payloads;
DROP TABLE tool_calls;

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
  duration_ms INTEGER,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  -- When the sweep may take a running call for dead.
  deadline_at TEXT,
  pre_manifest_id TEXT,
  post_manifest_id TEXT,
  -- Where the answer's result is cut: an answer that is given again is cut as the first one was.
  max_result_bytes INTEGER,
  error TEXT CHECK (error IS NULL OR json_valid(error)),
  render_plan TEXT CHECK (render_plan IS NULL OR json_valid(render_plan)),
  -- JSON, redacted; unset until the call is closed. A large one is a blob, and here is '#' and {sha256, size, prefix}.
  arguments TEXT,
  result TEXT,
  UNIQUE (workspace_id, id)
) STRICT;

-- Lists are in order of (started_at, key), which ends each of these; it is also what since and until cut.
-- Partial where the column is mostly empty: a call without it pays for no index row. Most calls succeed: a list of
-- those needs no index but the one by time.
CREATE INDEX tool_calls_by_time ON tool_calls (workspace_id, started_at);
CREATE INDEX tool_calls_by_tool ON tool_calls (workspace_id, tool_name, started_at);
CREATE INDEX tool_calls_by_agent ON tool_calls (workspace_id, agent_id, started_at) WHERE agent_id IS NOT NULL;
CREATE INDEX tool_calls_by_session ON tool_calls (workspace_id, session_id, started_at) WHERE session_id IS NOT NULL;
CREATE INDEX tool_calls_by_message ON tool_calls (workspace_id, message_id, started_at) WHERE message_id IS NOT NULL;
CREATE INDEX tool_calls_unsuccessful ON tool_calls (workspace_id, status, started_at)
  WHERE status IN ('pending_approval', 'error', 'denied');
CREATE INDEX tool_calls_running ON tool_calls (deadline_at) WHERE status = 'running';

-- Arguments and results too large for their row: blobs, which equal ones share.
CREATE TABLE call_blobs (
  workspace_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('arguments', 'result')),
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, call_id, kind),
  FOREIGN KEY (workspace_id, call_id) REFERENCES tool_calls (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Asked when a blob is about to be freed.
CREATE INDEX call_blobs_by_blob ON call_blobs (workspace_id, sha256);
