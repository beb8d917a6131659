-- Deleting a large session or a large directory answers at once. The sweep then does the work in pieces.

-- A deleted session stays as a row until the sweep has deleted its file manifests. A session that is made again under
-- the same name takes the row over with the next generation. So the old file manifests belong to nobody at once.
ALTER TABLE sessions ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1));
ALTER TABLE manifests ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;

DROP INDEX sessions_by_age;
CREATE INDEX sessions_by_age ON sessions (workspace_id, created_at, id) WHERE deleted = 0;
DROP INDEX manifests_by_session;
CREATE INDEX manifests_by_session ON manifests (workspace_id, session_id, generation);

-- The sweep's queue of deleted sessions, in the order in which the sweep visits them.
CREATE TABLE dead_sessions (
  turn INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  UNIQUE (workspace_id, session_id, generation)
) STRICT;

CREATE TRIGGER sessions_died AFTER UPDATE OF deleted ON sessions WHEN NEW.deleted = 1 AND OLD.deleted = 0 BEGIN
  INSERT INTO dead_sessions (workspace_id, session_id, generation) VALUES (NEW.workspace_id, NEW.id, NEW.generation);
END;

-- The sweep has deleted all file manifests of the session. The row goes too, unless a new session has taken it over.
CREATE TRIGGER dead_sessions_deleted AFTER DELETE ON dead_sessions BEGIN
  DELETE FROM sessions
  WHERE workspace_id = OLD.workspace_id AND id = OLD.session_id AND generation = OLD.generation AND deleted = 1;
END;

-- Directories that were deleted with many files. The file manifest with the label `label`, and every file manifest that
-- follows from it (up to the end of `line`), sees no entry below the directory whose label is smaller than `label`.
-- The sweep writes the entries that say so, path by path, and then deletes the row.
CREATE TABLE cleared_directories (
  turn INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  tree_id TEXT NOT NULL,
  label TEXT NOT NULL,
  line TEXT NOT NULL,
  -- All paths below the directory are between these two.
  first TEXT NOT NULL,
  last TEXT NOT NULL,
  -- The path up to which the sweep has written entries.
  reached TEXT NOT NULL,
  UNIQUE (workspace_id, tree_id, label)
) STRICT;

-- The files of the directory may be garbage now.
CREATE TRIGGER cleared_directories_deleted AFTER DELETE ON cleared_directories BEGIN
  INSERT INTO stale_trees (workspace_id, tree_id) VALUES (OLD.workspace_id, OLD.tree_id)
  ON CONFLICT (workspace_id, tree_id) DO UPDATE SET again = path <> '';
END;
