-- A write of a file touches fewer rows. D1 counts a row of an index like a row of a table.

-- The file manifest that the session made last, and how many lines have forked from its file manifests. The table
-- `lines` held both for each line, and cost a row with every write. A line belongs to one session. So the file manifest
-- that a session made last is the last one of its line. A later migration drops `lines`.
ALTER TABLE sessions ADD COLUMN head_id TEXT;
ALTER TABLE sessions ADD COLUMN forks INTEGER NOT NULL DEFAULT 0 CHECK (forks >= 0);
UPDATE sessions SET
  head_id = (
    SELECT m.id FROM manifests m
    JOIN lines l ON l.workspace_id = m.workspace_id AND l.tree_id = m.tree_id AND l.line = m.line AND l.head = m.seq
    WHERE m.key = (
      SELECT max(key) FROM manifests WHERE workspace_id = sessions.workspace_id AND session_id = sessions.id)),
  forks = coalesce((
    SELECT max(forks) FROM lines WHERE workspace_id = sessions.workspace_id AND tree_id = sessions.tree_id), 0);

-- The path of the only entry that the file manifest made. NULL if it made none or several, or is old.
ALTER TABLE manifests ADD COLUMN path TEXT;
-- 1: a file manifest names the entry as its only one, so that the entry needs no row in the index by label.
ALTER TABLE file_entries ADD COLUMN alone INTEGER NOT NULL DEFAULT 0 CHECK (alone IN (0, 1));
-- 1: the row of the blob names the entry as the blob's first use, so that the entry needs no row in the index by blob.
ALTER TABLE file_entries ADD COLUMN first_use INTEGER NOT NULL DEFAULT 0 CHECK (first_use IN (0, 1));

DROP INDEX file_entries_by_label;
CREATE INDEX file_entries_by_label ON file_entries (workspace_id, tree_id, (label || '')) WHERE alone = 0;

-- An entry outlives its file manifest if later file manifests see the entry. Then the index must find the entry.
DROP TRIGGER manifests_deleted;
CREATE TRIGGER manifests_deleted AFTER DELETE ON manifests BEGIN
  INSERT INTO stale_trees (workspace_id, tree_id) VALUES (OLD.workspace_id, OLD.tree_id)
  ON CONFLICT (workspace_id, tree_id) DO UPDATE SET again = path <> '';
  UPDATE file_entries SET alone = 0
  WHERE workspace_id = OLD.workspace_id AND tree_id = OLD.tree_id AND path = OLD.path AND label = OLD.label
    AND alone = 1;
END;

-- The first chunk is part of the blob's row. NULL for a blob that is older than this column: its first chunk is the
-- chunk 0 in blob_chunks.
ALTER TABLE blobs ADD COLUMN use_tree_id TEXT;
ALTER TABLE blobs ADD COLUMN use_path TEXT;
ALTER TABLE blobs ADD COLUMN use_label TEXT;
ALTER TABLE blobs ADD COLUMN data TEXT;

DROP TRIGGER stale_blobs_deleted;
DROP INDEX file_entries_by_blob;
CREATE INDEX file_entries_by_blob ON file_entries (workspace_id, sha256) WHERE sha256 IS NOT NULL AND first_use = 0;

-- As before, with the entry that the blob's row names.
CREATE TRIGGER stale_blobs_deleted AFTER DELETE ON stale_blobs
WHEN NOT EXISTS (SELECT 1 FROM file_entries e INDEXED BY file_entries_by_blob
    WHERE e.workspace_id = OLD.workspace_id AND e.sha256 = OLD.sha256 AND e.first_use = 0)
  AND NOT EXISTS (SELECT 1 FROM blobs b CROSS JOIN file_entries e
      ON e.workspace_id = b.workspace_id AND e.tree_id = b.use_tree_id AND e.path = b.use_path AND e.label = b.use_label
    WHERE b.workspace_id = OLD.workspace_id AND b.sha256 = OLD.sha256 AND e.sha256 = OLD.sha256 AND e.first_use = 1)
  AND NOT EXISTS (SELECT 1 FROM call_blobs c INDEXED BY call_blobs_by_blob
    WHERE c.workspace_id = OLD.workspace_id AND c.sha256 = OLD.sha256)
BEGIN
  DELETE FROM blobs WHERE workspace_id = OLD.workspace_id AND sha256 = OLD.sha256;
END;

-- A file manifest that a call made has the digits of the call's id (man_1f… for call_1f…), and is found by them.
DROP INDEX manifests_by_source_ref;
CREATE INDEX manifests_by_source_ref ON manifests (workspace_id, session_id, source_ref)
  WHERE source_ref IS NOT NULL AND substr(source_ref, 6) <> substr(id, 5);
