-- The calls of each minute, hour and day, for plots: how many ended how, and a histogram of their durations. Upkeep adds
-- the calls up to a mark of its own, and whoever asks for a series adds the calls after that mark. So neither a call nor a
-- question pays for the calls of the past. A call counts where it started, and a counted call stays counted.
CREATE TABLE call_series (
  workspace_id TEXT NOT NULL,
  bucket TEXT NOT NULL CHECK (bucket IN ('minute', 'hour', 'day')),
  -- The id of a tool; '' for the calls of all tools, also of names that no tool has.
  tool_name TEXT NOT NULL,
  -- The beginning of the time in UTC, as long as the bucket needs it: 2026-11-18T13:05, 2026-11-18T13 or 2026-11-18.
  at TEXT NOT NULL,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  denied INTEGER NOT NULL,
  -- How many calls ran how long: {step: count}, with the steps of src/execution/durations.rs.
  durations TEXT NOT NULL CHECK (json_valid(durations)),
  PRIMARY KEY (workspace_id, bucket, tool_name, at)
) STRICT, WITHOUT ROWID;

-- Finds the rows that are too old.
CREATE INDEX call_series_by_age ON call_series (bucket, at);

-- The last call that the series include. It is never after the mark of the totals (`key`). The calls that are there already
-- are added by the next runs of upkeep, in pieces.
ALTER TABLE call_mark ADD COLUMN series_key INTEGER NOT NULL DEFAULT 0;
UPDATE call_mark SET series_key = coalesce((SELECT min(key) - 1 FROM tool_calls), key);

-- Calls below the mark that have changed their status since upkeep's last run: calls that still ran or waited when the mark
-- passed them, or that were taken for dead too early. Upkeep corrects totals and series by them, and whoever asks for a
-- figure adds them. `status` and `tool_name` are those that the call was counted with.
CREATE TABLE late_calls (
  workspace_id TEXT NOT NULL,
  key INTEGER NOT NULL,
  tool_name TEXT NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (workspace_id, key)
) STRICT, WITHOUT ROWID;

DROP TRIGGER tool_calls_ended_later;

-- Notes a call below the mark that changes its status. The trigger corrected the totals itself before there were series. Six
-- rows of series would be too many for one call, and a later statement of the same batch may correct the name of the tool.
-- So the trigger writes one row, as before, and upkeep does the rest.
-- A call that was taken for dead and then fails keeps its status, and so its duration is not counted.
CREATE TRIGGER tool_calls_ended_later AFTER UPDATE OF status ON tool_calls
WHEN NEW.status <> OLD.status AND NEW.key <= (SELECT key FROM call_mark) BEGIN
  INSERT INTO late_calls (workspace_id, key, tool_name, status)
  VALUES (NEW.workspace_id, NEW.key, OLD.tool_name, OLD.status)
  ON CONFLICT DO NOTHING;
END;
