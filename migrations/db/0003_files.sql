-- The files of sessions. Each version of a file stays readable until retention deletes the file manifests that hold it.
-- ARCHITECTURE.md, "Writing a file", explains trees, lines, labels and entries with an example.

-- A session that branches off another one shares the tree of its origin.
-- So a tree holds everything that was ever made of one first session.
CREATE TABLE sessions (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  -- The file manifest that the session shows now. NULL until the first file is written.
  active_manifest_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_age ON sessions (workspace_id, created_at, id);

-- File manifests. A file manifest is a point in its tree: number `seq` of the line `line`.
-- The first line of a tree is ''. The n-th line that forks from a file manifest is that manifest's label, '.' and n.
-- In a label, each number follows a letter that tells the number's length: a1 … a9, b10 … b99, c100 ….
-- So labels sort in the order of a walk through the tree: a file manifest, then the lines that fork from it, then the
-- next file manifest of its line.
CREATE TABLE manifests (
  -- The order of creation.
  key INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  line TEXT NOT NULL,
  seq INTEGER NOT NULL CHECK (seq >= 1),
  label TEXT NOT NULL GENERATED ALWAYS AS (line || char(96 + length(seq)) || seq) STORED,
  parent_id TEXT,
  source TEXT NOT NULL CHECK (source IN ('user_upload', 'tool_run', 'branch', 'edit')),
  -- The call or message that made the file manifest.
  source_ref TEXT,
  created_at TEXT NOT NULL,
  -- The number of all files that the file manifest holds, and the sum of their sizes.
  files INTEGER NOT NULL CHECK (files >= 0),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  UNIQUE (workspace_id, id),
  UNIQUE (workspace_id, tree_id, label),
  FOREIGN KEY (workspace_id, session_id) REFERENCES sessions (workspace_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX manifests_by_session ON manifests (workspace_id, session_id);
-- Partial: a file manifest that no call or message made pays for no index row.
CREATE INDEX manifests_by_source_ref ON manifests (workspace_id, session_id, source_ref) WHERE source_ref IS NOT NULL;

-- When a file manifest ceased to be the active one of its session. Retention counts from that time.
-- Most file manifests are replaced soon after they were made, so that `created_at` is exact enough. A row is written
-- here only for a file manifest that was active for more than an hour, or that the session went back to. So only the
-- first write after a pause pays for a row. An index over `manifests.parent_id` would cost one row with every write.
CREATE TABLE past_presents (
  manifest_key INTEGER PRIMARY KEY REFERENCES manifests (key) ON DELETE CASCADE,
  ended_at TEXT NOT NULL
) STRICT;

-- Writes past_presents when a session moves on from a file manifest that was made more than an hour ago.
CREATE TRIGGER sessions_moved AFTER UPDATE OF active_manifest_id ON sessions
WHEN OLD.active_manifest_id IS NOT NULL AND OLD.active_manifest_id IS NOT NEW.active_manifest_id BEGIN
  INSERT INTO past_presents (manifest_key, ended_at)
  SELECT m.key, NEW.updated_at FROM manifests m
  WHERE m.workspace_id = OLD.workspace_id AND m.id = OLD.active_manifest_id
    AND NEW.updated_at > strftime('%Y-%m-%dT%H:%M:%fZ', m.created_at, '+1 hour')
  ON CONFLICT (manifest_key) DO UPDATE SET ended_at = excluded.ended_at;
END;

-- The numbers that are used up in each line: its last `seq`, and the number of lines that fork from it.
-- A number is never used again, not even after its file manifest was deleted.
CREATE TABLE lines (
  workspace_id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  line TEXT NOT NULL,
  head INTEGER NOT NULL CHECK (head >= 1),
  forks INTEGER NOT NULL CHECK (forks >= 0),
  PRIMARY KEY (workspace_id, tree_id, line)
) STRICT, WITHOUT ROWID;

-- The file that a file manifest holds at a path is the entry of that path with the greatest label up to the manifest's
-- own.
-- A label that ends with '~' is the end of a line. Its entry restores the file that was there before the line first
-- wrote the path, for every file manifest that sorts after the line.
CREATE TABLE file_entries (
  workspace_id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  path TEXT NOT NULL,
  label TEXT NOT NULL,
  -- NULL: from this label on, there is no file at the path.
  sha256 TEXT,
  size INTEGER,
  PRIMARY KEY (workspace_id, tree_id, path, label),
  CHECK ((sha256 IS NULL) = (size IS NULL))
) STRICT, WITHOUT ROWID;

-- Only differences between file manifests use this index. It is over an expression to hide it from all other queries:
-- the entry with a path's greatest label must be sought by the primary key, but with statistics SQLite's planner would
-- read all entries of that label instead.
CREATE INDEX file_entries_by_label ON file_entries (workspace_id, tree_id, (label || ''));
-- Finds out whether a blob is still in use, when the blob is about to be freed.
CREATE INDEX file_entries_by_blob ON file_entries (workspace_id, sha256) WHERE sha256 IS NOT NULL;

-- The contents of files. All sessions of a workspace share them; two workspaces never do.
CREATE TABLE blobs (
  workspace_id TEXT NOT NULL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  size INTEGER NOT NULL CHECK (size >= 0),
  -- D1 returns a BLOB as a list of numbers. So contents that are not text are stored as base64.
  encoding TEXT NOT NULL CHECK (encoding IN ('utf8', 'base64')),
  chunks INTEGER NOT NULL CHECK (chunks >= 1),
  created_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, sha256)
) STRICT, WITHOUT ROWID;

-- A value in D1 holds at most 2 MB, so a blob is split into as many chunks as it needs.
-- The table has its primary key and no other index: SQLite's planner finds chunks this way, whatever its statistics
-- say.
CREATE TABLE blob_chunks (
  workspace_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  chunk INTEGER NOT NULL CHECK (chunk >= 0),
  data TEXT NOT NULL,
  PRIMARY KEY (workspace_id, sha256, chunk),
  FOREIGN KEY (workspace_id, sha256) REFERENCES blobs (workspace_id, sha256) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The sweep's queue of trees: those that have lost a file manifest, in the order in which the sweep visits them.
CREATE TABLE stale_trees (
  turn INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  -- The entry that the sweep looked at last.
  path TEXT NOT NULL DEFAULT '',
  label TEXT NOT NULL DEFAULT '',
  -- 1: the tree lost a file manifest after the sweep began with it, so the sweep must visit it once more.
  again INTEGER NOT NULL DEFAULT 0 CHECK (again IN (0, 1)),
  UNIQUE (workspace_id, tree_id)
) STRICT;

CREATE TRIGGER manifests_deleted AFTER DELETE ON manifests BEGIN
  INSERT INTO stale_trees (workspace_id, tree_id) VALUES (OLD.workspace_id, OLD.tree_id)
  ON CONFLICT (workspace_id, tree_id) DO UPDATE SET again = path <> '';
END;

-- The sweep has finished with a tree. A tree without file manifests can never grow again, so its lines are deleted.
CREATE TRIGGER stale_trees_deleted AFTER DELETE ON stale_trees
WHEN NOT EXISTS (SELECT 1 FROM manifests m WHERE m.workspace_id = OLD.workspace_id AND m.tree_id = OLD.tree_id) BEGIN
  DELETE FROM lines WHERE workspace_id = OLD.workspace_id AND tree_id = OLD.tree_id;
END;

-- The sweep's queue of blobs: those that have lost a reference, in the order in which the sweep visits them.
CREATE TABLE stale_blobs (
  turn INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  UNIQUE (workspace_id, sha256),
  FOREIGN KEY (workspace_id, sha256) REFERENCES blobs (workspace_id, sha256) ON DELETE CASCADE
) STRICT;

-- The sweep has finished with a blob: the blob is deleted if nothing refers to it.
-- A blob and the rows that refer to it are written in one batch. So no blob is ever about to be used, but not used yet.
-- The indexes are named, for without names SQLite's planner may read a whole workspace.
-- The table call_blobs is created in 0006_execution.sql: SQLite looks a trigger's tables up when the trigger fires.
CREATE TRIGGER stale_blobs_deleted AFTER DELETE ON stale_blobs
WHEN NOT EXISTS (SELECT 1 FROM file_entries e INDEXED BY file_entries_by_blob
    WHERE e.workspace_id = OLD.workspace_id AND e.sha256 = OLD.sha256)
  AND NOT EXISTS (SELECT 1 FROM call_blobs c INDEXED BY call_blobs_by_blob
    WHERE c.workspace_id = OLD.workspace_id AND c.sha256 = OLD.sha256)
BEGIN
  DELETE FROM blobs WHERE workspace_id = OLD.workspace_id AND sha256 = OLD.sha256;
END;

CREATE TRIGGER file_entries_deleted AFTER DELETE ON file_entries WHEN OLD.sha256 IS NOT NULL BEGIN
  INSERT OR IGNORE INTO stale_blobs (workspace_id, sha256)
  SELECT workspace_id, sha256 FROM blobs WHERE workspace_id = OLD.workspace_id AND sha256 = OLD.sha256;
END;

-- How far retention has looked through the file manifests. One row for all workspaces.
CREATE TABLE retention (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  -- The key of the last file manifest that retention looked at.
  looked_at INTEGER NOT NULL
) STRICT;

INSERT INTO retention (only, looked_at) VALUES (1, 0);
