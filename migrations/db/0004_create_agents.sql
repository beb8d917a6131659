CREATE TABLE agents (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  capabilities TEXT NOT NULL CHECK (json_type(capabilities) = 'array'),
  max_risk TEXT NOT NULL CHECK (max_risk IN ('safe', 'low', 'medium', 'high', 'critical')),
  allowed_modules TEXT NOT NULL CHECK (json_type(allowed_modules) = 'array'),
  permission_level TEXT NOT NULL CHECK (permission_level IN ('guest', 'user', 'admin', 'owner')),
  default_tools INTEGER NOT NULL CHECK (default_tools IN (0, 1)),
  created_at TEXT NOT NULL,
  -- Counts the changes, so that a change decided on an old reading is refused.
  revision INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX agents_by_age ON agents (workspace_id, created_at, id);
