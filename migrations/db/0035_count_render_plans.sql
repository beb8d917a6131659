-- The render plans of calls count toward the bytes that a workspace stores, like the other columns that can be large. No
-- call has a plan yet, so the figures stay as they are. The column is virtual: dropping it rewrites no row.
DROP TRIGGER tool_calls_counted;
DROP TRIGGER tool_calls_counted_again;
ALTER TABLE tool_calls DROP COLUMN bytes;

-- The bytes that a call counts with.
ALTER TABLE tool_calls ADD COLUMN bytes INTEGER GENERATED ALWAYS AS (1000
  + coalesce(octet_length(error), 0) + coalesce(octet_length(arguments), 0) + coalesce(octet_length(result), 0)
  + coalesce(octet_length(details), 0) + coalesce(octet_length(render_plan), 0)) VIRTUAL;

CREATE TRIGGER tool_calls_counted AFTER INSERT ON tool_calls WHEN NEW.bytes > 5096 BEGIN
  INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes) VALUES (NEW.workspace_id, 0, NEW.bytes)
  ON CONFLICT (workspace_id) DO UPDATE SET calls_bytes = calls_bytes + excluded.calls_bytes;
END;

-- Counts the difference, for a call that is counted before or after the update.
CREATE TRIGGER tool_calls_counted_again AFTER UPDATE OF error, arguments, result, details, render_plan ON tool_calls
WHEN NEW.bytes <> OLD.bytes
  AND (NEW.bytes > 5096 OR OLD.bytes > 5096 OR NEW.key <= (SELECT key FROM call_mark)) BEGIN
  INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes)
  SELECT NEW.workspace_id, 0,
    iif(NEW.bytes > 5096 OR NEW.key <= key, NEW.bytes, 0) - iif(OLD.bytes > 5096 OR NEW.key <= key, OLD.bytes, 0)
  FROM call_mark WHERE true
  ON CONFLICT (workspace_id) DO UPDATE SET calls_bytes = calls_bytes + excluded.calls_bytes;
END;
