-- The files of sessions, each version of them readable until retention lets it go (ARCHITECTURE.md, "Writing a file"). The
-- tables of 0008 have never been written to.
DROP TABLE blob_chunks;
DROP TABLE blobs;
DROP TABLE manifests;
DROP TABLE sessions;

-- A tree is all that was ever made of one first session: a session that branches off shares its origin's.
CREATE TABLE sessions (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  -- Unset until the first file is written.
  active_manifest_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_age ON sessions (workspace_id, created_at, id);

-- A manifest is a point in its tree: the seq-th of a line. The first line of a tree is '', and the n-th that forks from
-- a line at a manifest is that manifest's label, '.' and n. In a label each number goes after a letter that tells its
-- length (a1 … a9, b10 … b99, c100 …), so that labels sort as a walk through the tree meets them: a manifest, the lines
-- that fork from it, the next manifest of its line.
CREATE TABLE manifests (
  -- The order in which they were made.
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
  -- The call or message that made it.
  source_ref TEXT,
  created_at TEXT NOT NULL,
  -- What it holds in all.
  files INTEGER NOT NULL CHECK (files >= 0),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  UNIQUE (workspace_id, id),
  UNIQUE (workspace_id, tree_id, label),
  FOREIGN KEY (workspace_id, session_id) REFERENCES sessions (workspace_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX manifests_by_session ON manifests (workspace_id, session_id);
CREATE INDEX manifests_by_source_ref ON manifests (workspace_id, session_id, source_ref) WHERE source_ref IS NOT NULL;

-- Retention counts from when a manifest ceased to be its session's present. Mostly that is soon after it was made, so
-- that its age tells enough; where it stayed for more than an hour, or was gone back to, the time is written down here. So
-- a row is written only by the first change after a pause, while an index over parent_id would cost one with every write.
CREATE TABLE past_presents (
  manifest_key INTEGER PRIMARY KEY REFERENCES manifests (key) ON DELETE CASCADE,
  ended_at TEXT NOT NULL
) STRICT;

CREATE TRIGGER sessions_moved AFTER UPDATE OF active_manifest_id ON sessions
WHEN OLD.active_manifest_id IS NOT NULL AND OLD.active_manifest_id IS NOT NEW.active_manifest_id BEGIN
  INSERT INTO past_presents (manifest_key, ended_at)
  SELECT m.key, NEW.updated_at FROM manifests m
  WHERE m.workspace_id = OLD.workspace_id AND m.id = OLD.active_manifest_id
    AND NEW.updated_at > strftime('%Y-%m-%dT%H:%M:%fZ', m.created_at, '+1 hour')
  ON CONFLICT (manifest_key) DO UPDATE SET ended_at = excluded.ended_at;
END;

-- What numbers are used up in a line. They never come back, also when a manifest goes.
CREATE TABLE lines (
  workspace_id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  line TEXT NOT NULL,
  head INTEGER NOT NULL CHECK (head >= 1),
  forks INTEGER NOT NULL CHECK (forks >= 0),
  PRIMARY KEY (workspace_id, tree_id, line)
) STRICT, WITHOUT ROWID;

-- What a manifest holds at a path is the entry of that path with the greatest label up to its own. A label that ends
-- with '~' is the end of a line: there stands again what was seen there before the line first wrote the path, for
-- whatever sorts after the line.
CREATE TABLE file_entries (
  workspace_id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  path TEXT NOT NULL,
  label TEXT NOT NULL,
  -- Unset: there is no such file.
  sha256 TEXT,
  size INTEGER,
  PRIMARY KEY (workspace_id, tree_id, path, label),
  CHECK ((sha256 IS NULL) = (size IS NULL))
) STRICT, WITHOUT ROWID;

-- For differences alone. Over an expression, for a path's entry of the greatest label must be sought by the primary key,
-- and SQLite's planner, once it has statistics, would seek it through all entries of that label.
CREATE INDEX file_entries_by_label ON file_entries (workspace_id, tree_id, (label || ''));
CREATE INDEX file_entries_by_blob ON file_entries (workspace_id, sha256) WHERE sha256 IS NOT NULL;

-- Contents are shared by all sessions of a workspace, never between workspaces.
CREATE TABLE blobs (
  workspace_id TEXT NOT NULL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  size INTEGER NOT NULL CHECK (size >= 0),
  -- D1 gives a BLOB out as a list of numbers: what is no text is kept as base64.
  encoding TEXT NOT NULL CHECK (encoding IN ('utf8', 'base64')),
  chunks INTEGER NOT NULL CHECK (chunks >= 1),
  created_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, sha256)
) STRICT, WITHOUT ROWID;

-- A D1 value holds 2 MB; a blob is as many chunks as it takes. There is one way to find them, whatever statistics say.
CREATE TABLE blob_chunks (
  workspace_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  chunk INTEGER NOT NULL CHECK (chunk >= 0),
  data TEXT NOT NULL,
  PRIMARY KEY (workspace_id, sha256, chunk),
  FOREIGN KEY (workspace_id, sha256) REFERENCES blobs (workspace_id, sha256) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What the sweep has to look at. Trees that have lost a manifest, in turn, with the entry that was looked at last;
-- again: a manifest was lost since the look began.
CREATE TABLE stale_trees (
  turn INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  path TEXT NOT NULL DEFAULT '',
  label TEXT NOT NULL DEFAULT '',
  again INTEGER NOT NULL DEFAULT 0 CHECK (again IN (0, 1)),
  UNIQUE (workspace_id, tree_id)
) STRICT;

CREATE TRIGGER manifests_deleted AFTER DELETE ON manifests BEGIN
  INSERT INTO stale_trees (workspace_id, tree_id) VALUES (OLD.workspace_id, OLD.tree_id)
  ON CONFLICT (workspace_id, tree_id) DO UPDATE SET again = path <> '';
END;

-- A tree that is done with: where no manifest is left nothing can be added, and its lines are of no use.
CREATE TRIGGER stale_trees_deleted AFTER DELETE ON stale_trees
WHEN NOT EXISTS (SELECT 1 FROM manifests m WHERE m.workspace_id = OLD.workspace_id AND m.tree_id = OLD.tree_id) BEGIN
  DELETE FROM lines WHERE workspace_id = OLD.workspace_id AND tree_id = OLD.tree_id;
END;

-- Blobs that have lost a reference, in turn.
CREATE TABLE stale_blobs (
  turn INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  UNIQUE (workspace_id, sha256),
  FOREIGN KEY (workspace_id, sha256) REFERENCES blobs (workspace_id, sha256) ON DELETE CASCADE
) STRICT;

-- A blob that has been looked at: it goes if nothing refers to it. Whatever refers to a blob is written in one batch with
-- it, so that there is no moment in which it is only about to be used. The indexes are named, for without them the planner
-- may walk through a workspace.
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

CREATE TRIGGER call_blobs_deleted AFTER DELETE ON call_blobs BEGIN
  INSERT OR IGNORE INTO stale_blobs (workspace_id, sha256)
  SELECT workspace_id, sha256 FROM blobs WHERE workspace_id = OLD.workspace_id AND sha256 = OLD.sha256;
END;

-- How far retention has looked through the manifests, by key.
CREATE TABLE retention (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  looked_at INTEGER NOT NULL
) STRICT;

INSERT INTO retention (only, looked_at) VALUES (1, 0);
