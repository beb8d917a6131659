-- Every call, refused calls too. No foreign key ties a call to tools or agents: the record outlives them.
-- The columns that can be large come last in the row, so that lists and summaries do not read past them.
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
  -- The time from which the sweep may take a running call for dead.
  deadline_at TEXT,
  pre_manifest_id TEXT,
  post_manifest_id TEXT,
  -- Where the result in the response is cut. A response that is repeated is cut where the first one was.
  max_result_bytes INTEGER,
  error TEXT CHECK (error IS NULL OR json_valid(error)),
  render_plan TEXT CHECK (render_plan IS NULL OR json_valid(render_plan)),
  -- JSON with secrets redacted; NULL until the call has ended. A large value is stored as a blob, and the column holds
  -- '#' and {sha256, size, prefix}.
  arguments TEXT,
  result TEXT,
  UNIQUE (workspace_id, id)
) STRICT;

-- Lists are ordered by (started_at, key), and `since` and `until` cut them by started_at. So each of these indexes ends
-- with started_at, and the key follows by itself. There are no more of them than needed, for every call pays for each.
-- An index is partial where its column is mostly empty: a call without a value pays for no index row.
CREATE INDEX tool_calls_by_time ON tool_calls (workspace_id, started_at);
CREATE INDEX tool_calls_by_tool ON tool_calls (workspace_id, tool_name, started_at);
CREATE INDEX tool_calls_by_agent ON tool_calls (workspace_id, agent_id, started_at) WHERE agent_id IS NOT NULL;
CREATE INDEX tool_calls_by_session ON tool_calls (workspace_id, session_id, started_at) WHERE session_id IS NOT NULL;
CREATE INDEX tool_calls_by_message ON tool_calls (workspace_id, message_id, started_at) WHERE message_id IS NOT NULL;
-- Most calls succeed, so a list of successful calls needs no index but the one by time.
CREATE INDEX tool_calls_unsuccessful ON tool_calls (workspace_id, status, started_at)
  WHERE status IN ('pending_approval', 'error', 'denied');
-- For the sweep of calls that are taken for dead.
CREATE INDEX tool_calls_running ON tool_calls (deadline_at) WHERE status = 'running';

-- Arguments and results that are too large for their row. They are blobs (0003_files.sql), and equal ones share a blob.
CREATE TABLE call_blobs (
  workspace_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('arguments', 'result')),
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, call_id, kind),
  FOREIGN KEY (workspace_id, call_id) REFERENCES tool_calls (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Finds out whether a blob is still in use, when the blob is about to be freed.
CREATE INDEX call_blobs_by_blob ON call_blobs (workspace_id, sha256);

CREATE TRIGGER call_blobs_deleted AFTER DELETE ON call_blobs BEGIN
  INSERT OR IGNORE INTO stale_blobs (workspace_id, sha256)
  SELECT workspace_id, sha256 FROM blobs WHERE workspace_id = OLD.workspace_id AND sha256 = OLD.sha256;
END;

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

CREATE TABLE approvals (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired')),
  -- Secret arguments, encrypted. They are erased when the approval is decided.
  sealed_arguments TEXT,
  requested_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  decided_by TEXT,
  decided_at TEXT,
  reason TEXT,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, call_id) REFERENCES tool_calls (workspace_id, id) ON DELETE CASCADE,
  CHECK ((status = 'pending') = (decided_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX approvals_by_call ON approvals (workspace_id, call_id);
CREATE INDEX approvals_by_age ON approvals (workspace_id, created_at, id);
CREATE INDEX approvals_by_status ON approvals (workspace_id, status, created_at, id);
CREATE INDEX approvals_pending ON approvals (expires_at) WHERE status = 'pending';

-- How many calls have ended, of the calls up to a mark that upkeep moves forward. Whoever asks for a figure adds the
-- calls after the mark. So neither a call nor a question pays for the calls of the past. A counted call stays counted.
CREATE TABLE call_totals (
  workspace_id TEXT PRIMARY KEY,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  denied INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The mark. One row for all workspaces.
CREATE TABLE call_mark (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  -- The last call that the totals include.
  key INTEGER NOT NULL,
  -- No call after the mark started before this time.
  since TEXT NOT NULL
) STRICT;

INSERT INTO call_mark (only, key, since) VALUES (1, 0, '');

-- Calls are inserted nearly, but not exactly, in the order in which they started.
CREATE TRIGGER tool_calls_started_earlier AFTER INSERT ON tool_calls
WHEN NEW.started_at < (SELECT since FROM call_mark) BEGIN
  UPDATE call_mark SET since = NEW.started_at;
END;

-- Corrects the totals when a call below the mark changes its status: a call that was still running or waiting when the
-- mark passed it, or a call that was taken for dead too early.
CREATE TRIGGER tool_calls_ended_later AFTER UPDATE OF status ON tool_calls
WHEN NEW.status <> OLD.status AND NEW.key <= (SELECT key FROM call_mark) BEGIN
  INSERT INTO call_totals (workspace_id, succeeded, failed, denied) VALUES (NEW.workspace_id,
      (NEW.status = 'success') - (OLD.status = 'success'),
      (NEW.status = 'error') - (OLD.status = 'error'),
      (NEW.status = 'denied') - (OLD.status = 'denied'))
    ON CONFLICT (workspace_id) DO UPDATE SET
      succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed, denied = denied + excluded.denied;
END;
