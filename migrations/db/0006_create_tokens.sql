-- A token is `peg_<id>_<secret>`; only the SHA-256 of the whole is kept. Revoking deletes the row.
CREATE TABLE tokens (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('guest', 'user', 'admin', 'owner')),
  -- A token bound to an agent acts as that agent, and ends with it.
  agent_id TEXT,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  expires_at TEXT,
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_by_age ON tokens (workspace_id, created_at, id);
CREATE INDEX tokens_by_agent ON tokens (workspace_id, agent_id) WHERE agent_id IS NOT NULL;
