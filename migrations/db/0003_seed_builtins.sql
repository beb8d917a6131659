-- The six tools that every workspace has. Their handlers are in the Worker itself.
INSERT INTO tools (workspace_id, id, source, created_at) VALUES
  ('', 'execute_python', 'builtin', '2026-11-16T00:00:00.000Z'),
  ('', 'read_file', 'builtin', '2026-11-16T00:00:00.000Z'),
  ('', 'write_file', 'builtin', '2026-11-16T00:00:00.000Z'),
  ('', 'list_files', 'builtin', '2026-11-16T00:00:00.000Z'),
  ('', 'email_search', 'builtin', '2026-11-16T00:00:00.000Z'),
  ('', 'email_get', 'builtin', '2026-11-16T00:00:00.000Z');

INSERT INTO tool_versions (
  workspace_id, tool_key, major, minor, patch, name, description, parameters_schema, returns_schema,
  handler_key, handler, category, examples, risk_level, required_permission, timeout_seconds,
  execution_mode, resource_class, registered_at, registered_by, active)
SELECT '', t.key, 1, 0, 0, s.column2, s.column3, s.column4, s.column5,
  s.column1, json_object('type', 'builtin', 'key', s.column1), s.column6, s.column7, s.column8, s.column9, s.column10,
  'local', s.column11, '2026-11-16T00:00:00.000Z', 'pegboard', 1
FROM (VALUES
  ('execute_python', 'Execute Python',
   'Run Python code in a sandbox and get back what it prints. Five seconds and 50 MB at most; only json, re and typing can be imported; no network, files or processes.',
   '{"type":"object","properties":{"code":{"type":"string","description":"The Python code to run"}},"required":["code"],"additionalProperties":false}',
   NULL, 'code',
   '[{"description":"Print a JSON object","params":{"code":"import json\ndata = {''result'': 42}\nprint(json.dumps(data))"},"expected_output":"{\"result\": 42}\n"}]',
   'low', 'user', 5, 'compute'),
  ('read_file', 'Read File',
   'Read a file of the session''s workspace and get its contents.',
   '{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, from the root of the workspace"}},"required":["path"],"additionalProperties":false}',
   NULL, 'filesystem',
   '[{"description":"Read a report","params":{"path":"/data/report.txt"},"expected_output":null}]',
   'safe', 'guest', 30, 'state'),
  ('write_file', 'Write File',
   'Write a file into the session''s workspace, creating its directories, and replacing what was there.',
   '{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, from the root of the workspace"},"content":{"type":"string","description":"What to write"}},"required":["path","content"],"additionalProperties":false}',
   NULL, 'filesystem',
   '[{"description":"Save results","params":{"path":"/output/results.json","content":"{\"score\": 95}"},"expected_output":null}]',
   'low', 'user', 30, 'state'),
  ('list_files', 'List Files',
   'List the files and directories in a directory of the session''s workspace, with sizes.',
   '{"type":"object","properties":{"path":{"type":"string","description":"Directory to list (default: /)","default":"/"}},"additionalProperties":false}',
   NULL, 'filesystem',
   '[{"description":"List a directory","params":{"path":"/data"},"expected_output":"Contents of /data:\n[DIR]  /data/inputs\n[FILE] /data/config.json (256 bytes)\n[FILE] /data/report.txt (1024 bytes)"}]',
   'safe', 'guest', 30, 'state'),
  ('email_search', 'Search Emails',
   'Search the emails of one inbox by words of their subject and body. Words are all required; "a phrase" in quotes, -word to exclude, word* for a prefix, OR between alternatives. Answers message ids and highlighted snippets, best match first.',
   '{"type":"object","properties":{"query":{"type":"string","description":"What to search for in subjects and bodies","maxLength":2000},"inbox_id":{"type":"string","description":"Address of the inbox to search, for example john.arnold@enron.com"},"limit":{"type":"integer","description":"Maximum number of results (default: 10, max: 50)","default":10,"minimum":1,"maximum":50},"order":{"type":"string","description":"Best match first (rank) or newest first (date)","enum":["rank","date"],"default":"rank"},"from":{"type":"string","description":"Only emails from this address"},"to":{"type":"string","description":"Only emails to this address"},"sent_after":{"type":"string","description":"Only emails sent on or after this date, YYYY-MM-DD","format":"date"},"sent_before":{"type":"string","description":"Only emails sent before this date, YYYY-MM-DD","format":"date"}},"required":["query","inbox_id"],"additionalProperties":false}',
   '{"type":"object","properties":{"emails":{"type":"array","items":{"type":"object","properties":{"message_id":{"type":"string"},"subject":{"type":["string","null"]},"sender":{"type":["string","null"]},"date":{"type":["string","null"]},"snippet":{"type":"string"}},"required":["message_id","subject","sender","date","snippet"],"additionalProperties":false}},"total":{"type":"integer","minimum":0}},"required":["emails","total"],"additionalProperties":false}',
   'email',
   '[{"description":"Find mail about the meeting schedule","params":{"query":"meeting schedule","inbox_id":"john.arnold@enron.com","limit":10},"expected_output":null}]',
   'safe', 'guest', 30, 'state'),
  ('email_get', 'Get Email',
   'Get one email whole, by its message id from the search results.',
   '{"type":"object","properties":{"message_id":{"type":"string","description":"Message id, as email_search answers it"}},"required":["message_id"],"additionalProperties":false}',
   '{"type":"object","properties":{"message_id":{"type":"string"},"inbox":{"type":"string"},"subject":{"type":["string","null"]},"sender":{"type":["string","null"]},"recipients":{"type":"array","items":{"type":"string"}},"date":{"type":["string","null"]},"body":{"type":["string","null"]}},"required":["message_id","inbox","subject","sender","recipients","date","body"],"additionalProperties":false}',
   'email',
   '[{"description":"Read a message found before","params":{"message_id":"<1234567890@enron.com>"},"expected_output":null}]',
   'safe', 'guest', 30, 'state')
) s JOIN tools t ON t.workspace_id = '' AND t.id = s.column1
ORDER BY t.key;
