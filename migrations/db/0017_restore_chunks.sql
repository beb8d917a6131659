-- Large restores come in pieces, and are still all or nothing. So a restore first writes its decisions here, as JSON
-- arrays of at most about a megabyte, and then applies all of them in one batch.
-- A restore deletes its own rows when it ends. The sweep deletes rows that a restore has left behind.
CREATE TABLE restore_chunks (
  workspace_id TEXT NOT NULL,
  -- The id of the restore, the number of the list that the chunk belongs to, and the chunk's own number: 3f…/17/000001.
  id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- For the sweep.
CREATE INDEX restore_chunks_by_age ON restore_chunks (created_at);
