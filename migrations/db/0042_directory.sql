-- What spans workspaces if each of them has an object of its own (docs/scale.md): the objects report here. Nothing writes to
-- this table if all workspaces are in one database.
CREATE TABLE directory (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  -- The figures of the metrics (src/oversight/directory.rs).
  report TEXT NOT NULL CHECK (json_valid(report)),
  reported_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
