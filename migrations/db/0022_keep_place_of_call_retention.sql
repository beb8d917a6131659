-- How far CALL_RETENTION_DAYS has looked through the calls: the key of the last call that it looked at.
ALTER TABLE retention ADD COLUMN calls_looked_at INTEGER NOT NULL DEFAULT 0;
