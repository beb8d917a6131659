-- The ids of calls begin with the time at which the call started (src/ids.rs), so the index of UNIQUE (workspace_id, id)
-- lists calls by time too. Every call pays for each index, so this one goes.
DROP INDEX tool_calls_by_time;
