-- Registrations that were refused, by the hour and the reason. Kept for two days.
CREATE TABLE registration_refusals (
  workspace_id TEXT NOT NULL,
  -- 2026-11-16T09
  hour TEXT NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, hour, reason)
) STRICT, WITHOUT ROWID;
