-- How many calls have ended, of those up to a mark that upkeep moves on; whoever asks counts those after it. So neither a
-- call nor a question pays for the calls of the past. What has been counted stays counted.
CREATE TABLE call_totals (
  workspace_id TEXT PRIMARY KEY,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  denied INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE call_mark (
  -- There is one row.
  only INTEGER PRIMARY KEY CHECK (only = 1),
  -- The last call that the totals are about.
  key INTEGER NOT NULL,
  -- No call after it started before this.
  since TEXT NOT NULL
) STRICT;

INSERT INTO call_totals (workspace_id, succeeded, failed, denied)
  SELECT workspace_id, sum(status = 'success'), sum(status = 'error'), sum(status = 'denied')
  FROM tool_calls GROUP BY workspace_id;
INSERT INTO call_mark (only, key, since) SELECT 1, coalesce(max(key), 0), coalesce(max(started_at), '') FROM tool_calls;

-- Calls come in nearly, but not quite, in the order in which they started.
CREATE TRIGGER tool_calls_started_earlier AFTER INSERT ON tool_calls
WHEN NEW.started_at < (SELECT since FROM call_mark) BEGIN
  UPDATE call_mark SET since = NEW.started_at;
END;

-- A call that was running or waiting when the mark passed it, or one that was taken for dead too early.
CREATE TRIGGER tool_calls_ended_later AFTER UPDATE OF status ON tool_calls
WHEN NEW.status <> OLD.status AND NEW.key <= (SELECT key FROM call_mark) BEGIN
  INSERT INTO call_totals (workspace_id, succeeded, failed, denied) VALUES (NEW.workspace_id,
      (NEW.status = 'success') - (OLD.status = 'success'),
      (NEW.status = 'error') - (OLD.status = 'error'),
      (NEW.status = 'denied') - (OLD.status = 'denied'))
    ON CONFLICT (workspace_id) DO UPDATE SET
      succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed, denied = denied + excluded.denied;
END;
