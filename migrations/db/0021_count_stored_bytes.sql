-- How many bytes each workspace stores, so that WORKSPACE_QUOTA_BYTES can bound them (src/quota). The contents of a file
-- or a call count with their size. Rows count with a fixed size, which covers their indexes too: 600 bytes for a file
-- manifest, 300 for an entry of a file, 200 for contents, 1000 for a call.
--
-- Files are counted at once, by the batch that changes them: its row here is the only row more that a write costs.
-- Calls are counted in two ways, because a call must not cost a row more. A call with more than 4096 bytes of documents
-- is counted at once, by a trigger. All other calls are counted when upkeep moves the mark past them (call_mark); whoever
-- asks for a figure adds the calls after the mark.
CREATE TABLE workspace_usage (
  workspace_id TEXT PRIMARY KEY,
  -- Files and their history.
  files_bytes INTEGER NOT NULL,
  calls_bytes INTEGER NOT NULL,
  -- A batch that needs room sets this column to 1 if there is no room, and so stops itself.
  over INTEGER NOT NULL DEFAULT 0 CONSTRAINT within_quota CHECK (over = 0)
) STRICT, WITHOUT ROWID;

-- The bytes that a call counts with.
ALTER TABLE tool_calls ADD COLUMN bytes INTEGER GENERATED ALWAYS AS (1000
  + coalesce(octet_length(error), 0) + coalesce(octet_length(arguments), 0) + coalesce(octet_length(result), 0)
  + coalesce(octet_length(details), 0)) VIRTUAL;

CREATE TRIGGER tool_calls_counted AFTER INSERT ON tool_calls WHEN NEW.bytes > 5096 BEGIN
  INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes) VALUES (NEW.workspace_id, 0, NEW.bytes)
  ON CONFLICT (workspace_id) DO UPDATE SET calls_bytes = calls_bytes + excluded.calls_bytes;
END;

-- Counts the difference, for a call that is counted before or after the update.
CREATE TRIGGER tool_calls_counted_again AFTER UPDATE OF error, arguments, result, details ON tool_calls
WHEN NEW.bytes <> OLD.bytes
  AND (NEW.bytes > 5096 OR OLD.bytes > 5096 OR NEW.key <= (SELECT key FROM call_mark)) BEGIN
  INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes)
  SELECT NEW.workspace_id, 0,
    iif(NEW.bytes > 5096 OR NEW.key <= key, NEW.bytes, 0) - iif(OLD.bytes > 5096 OR NEW.key <= key, OLD.bytes, 0)
  FROM call_mark WHERE true
  ON CONFLICT (workspace_id) DO UPDATE SET calls_bytes = calls_bytes + excluded.calls_bytes;
END;

-- Secret arguments of a call that waits for its approval are stored beside the call.
CREATE TRIGGER approvals_counted AFTER INSERT ON approvals WHEN NEW.sealed_arguments IS NOT NULL BEGIN
  INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes)
  VALUES (NEW.workspace_id, 0, octet_length(NEW.sealed_arguments))
  ON CONFLICT (workspace_id) DO UPDATE SET calls_bytes = calls_bytes + excluded.calls_bytes;
END;

CREATE TRIGGER approvals_uncounted AFTER UPDATE OF sealed_arguments ON approvals
WHEN OLD.sealed_arguments IS NOT NULL AND NEW.sealed_arguments IS NULL BEGIN
  UPDATE workspace_usage SET calls_bytes = calls_bytes - octet_length(OLD.sealed_arguments)
  WHERE workspace_id = OLD.workspace_id;
END;

-- Contents are either of a file, and then their row names the file's path, or of a call. Contents that are older than
-- this column and that no call uses are of a file.
UPDATE blobs SET use_path = '' WHERE use_path IS NULL AND NOT EXISTS (
  SELECT 1 FROM call_blobs c WHERE c.workspace_id = blobs.workspace_id AND c.sha256 = blobs.sha256);

-- Contents of a call. They are always large.
CREATE TRIGGER blobs_counted AFTER INSERT ON blobs WHEN NEW.use_path IS NULL BEGIN
  INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes) VALUES (NEW.workspace_id, 0, 200 + NEW.size)
  ON CONFLICT (workspace_id) DO UPDATE SET calls_bytes = calls_bytes + excluded.calls_bytes;
END;

CREATE TRIGGER blobs_uncounted AFTER DELETE ON blobs BEGIN
  UPDATE workspace_usage SET
    files_bytes = files_bytes - iif(OLD.use_path IS NULL, 0, 200 + OLD.size),
    calls_bytes = calls_bytes - iif(OLD.use_path IS NULL, 200 + OLD.size, 0)
  WHERE workspace_id = OLD.workspace_id;
END;

CREATE TRIGGER manifests_uncounted AFTER DELETE ON manifests BEGIN
  UPDATE workspace_usage SET files_bytes = files_bytes - 600 WHERE workspace_id = OLD.workspace_id;
END;

INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes)
SELECT workspace_id, sum(files), sum(calls) FROM (
  SELECT workspace_id, sum(iif(use_path IS NULL, 0, 200 + size)) AS files, sum(iif(use_path IS NULL, 200 + size, 0)) AS calls
    FROM blobs GROUP BY workspace_id
  UNION ALL SELECT workspace_id, 600 * count(*), 0 FROM manifests GROUP BY workspace_id
  UNION ALL SELECT workspace_id, 300 * count(*), 0 FROM file_entries GROUP BY workspace_id
  UNION ALL SELECT workspace_id, 0, sum(bytes) FROM tool_calls
    WHERE bytes > 5096 OR key <= (SELECT key FROM call_mark) GROUP BY workspace_id
  UNION ALL SELECT workspace_id, 0, sum(octet_length(sealed_arguments)) FROM approvals
    WHERE sealed_arguments IS NOT NULL GROUP BY workspace_id)
GROUP BY workspace_id;
