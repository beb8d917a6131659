-- A token is `peg_<id>_<secret>`. Only the SHA-256 of the whole token is stored. Revoking a token deletes its row.
CREATE TABLE tokens (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('guest', 'user', 'admin', 'owner')),
  -- A token that is bound to an agent acts as that agent, and is deleted with it.
  agent_id TEXT,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  expires_at TEXT,
  created_at TEXT NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  -- The table agents is created in 0005_agents.sql: SQLite looks a referenced table up when a row is written.
  FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_by_age ON tokens (workspace_id, created_at, id);
-- Finds the tokens that are deleted with an agent. Partial: a token without an agent pays for no index row.
CREATE INDEX tokens_by_agent ON tokens (workspace_id, agent_id) WHERE agent_id IS NOT NULL;
