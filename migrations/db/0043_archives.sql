-- Where the calls lie that were put away before their rows were deleted: a row for each file in the bucket ARCHIVE
-- (docs/operations.md). The row is written in the transaction that deletes the calls of the file. Nothing writes to this table
-- without the bucket.
CREATE TABLE archives (
  workspace_id TEXT NOT NULL,
  -- The day, in UTC, on which the calls of the file started.
  day TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  -- The key of the file in the bucket.
  key TEXT NOT NULL,
  calls INTEGER NOT NULL CHECK (calls >= 1),
  -- When the first and the last of the calls started.
  first_at TEXT NOT NULL,
  last_at TEXT NOT NULL CHECK (last_at >= first_at),
  -- The size of the compressed file.
  bytes INTEGER NOT NULL CHECK (bytes >= 1),
  PRIMARY KEY (workspace_id, day, key)
) STRICT, WITHOUT ROWID;
