-- A session's files: content-addressed blobs, immutable manifests, and a pointer to the present.
CREATE TABLE sessions (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  active_manifest_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_age ON sessions (workspace_id, created_at, id);

CREATE TABLE manifests (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  parent_id TEXT,
  source TEXT NOT NULL CHECK (source IN ('user_upload', 'tool_run', 'branch', 'edit')),
  -- The call or message that made it.
  source_ref TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, session_id) REFERENCES sessions (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX manifests_by_session ON manifests (workspace_id, session_id, created_at, id);
CREATE INDEX manifests_by_source_ref ON manifests (workspace_id, session_id, source_ref) WHERE source_ref IS NOT NULL;

-- Contents are shared by all sessions of a workspace, never between workspaces.
CREATE TABLE blobs (
  workspace_id TEXT NOT NULL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  size INTEGER NOT NULL CHECK (size >= 0),
  created_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, sha256)
) STRICT, WITHOUT ROWID;

-- A D1 value holds 2 MB; a blob is as many chunks as it takes.
CREATE TABLE blob_chunks (
  workspace_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  chunk INTEGER NOT NULL CHECK (chunk >= 0),
  data BLOB NOT NULL,
  PRIMARY KEY (workspace_id, sha256, chunk),
  FOREIGN KEY (workspace_id, sha256) REFERENCES blobs (workspace_id, sha256) ON DELETE CASCADE
) STRICT;
