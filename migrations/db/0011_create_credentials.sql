-- Names only: the values are Worker secrets of the same name.
CREATE TABLE credentials (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  description TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
