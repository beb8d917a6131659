CREATE TABLE approvals (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired')),
  -- Secret arguments wait here sealed, and are erased when the approval is decided.
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
