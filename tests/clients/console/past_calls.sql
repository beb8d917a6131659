-- Calls of the last hour in the workspace `acme`, for scripts/pictures: the plots of the overview show a workspace that is in
-- use, and not the one minute in which the script has filled it.
INSERT INTO tool_calls (workspace_id, id, tool_name, version, operator, status, duration_ms, started_at, finished_at, error, arguments, result)
WITH RECURSIVE
  minutes (ago) AS (SELECT 1 UNION ALL SELECT ago + 1 FROM minutes WHERE ago < 58),
  turns (ago, turn) AS (SELECT ago, 0 FROM minutes UNION ALL SELECT ago, turn + 1 FROM turns WHERE turn < 2 + (ago * ago) % 5 + (ago / 9) % 4),
  -- A number that looks drawn by lot, and is the same each time.
  drawn AS (SELECT ago, turn, (ago * 37 + turn * 53 + ago * turn * 7) % 101 AS lot FROM turns),
  calls AS (
    SELECT
      unixepoch('now') - ago * 60 + turn * 5 AS at,
      ago * 100 + turn AS number,
      CASE WHEN lot % 7 = 0 THEN 'execute_python' WHEN lot % 3 = 0 THEN 'write_file' WHEN lot % 5 = 0 THEN 'list_files' ELSE 'read_file' END AS tool_name,
      CASE WHEN lot % 19 = 3 THEN 'error' WHEN lot % 67 = 5 THEN 'denied' ELSE 'success' END AS status,
      CASE WHEN lot % 7 = 0 THEN 120 + lot * 2 ELSE 4 + lot % 23 END AS duration_ms
    FROM drawn
  )
SELECT
  'acme',
  printf('call_%012x%034x', at * 1000, number),
  tool_name,
  '1.0.0',
  'anonymous',
  status,
  duration_ms,
  strftime('%Y-%m-%dT%H:%M:%fZ', at, 'unixepoch'),
  strftime('%Y-%m-%dT%H:%M:%fZ', at + duration_ms / 1000.0, 'unixepoch'),
  CASE status
    WHEN 'error' THEN '{"code":"TOOL_ERROR","message":"There is no such file","details":null}'
    WHEN 'denied' THEN '{"code":"RATE_LIMITED","message":"Too many calls","details":null}'
  END,
  '{}',
  CASE status WHEN 'success' THEN '"done"' END
FROM calls
ORDER BY at;
