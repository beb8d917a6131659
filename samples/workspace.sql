-- The workspace `sample`, which scripts/dev loads once into a fresh database. The examples of /docs and openapi.json refer to
-- its things, and tests/it/examples.rs sends each of them.
--
-- The rows are those that the API writes: a credential, the tools word_count (two versions) and publish_notes (whose calls
-- wait for an approval), an agent with an attachment, a token that nobody knows, a session with two file manifests, a call,
-- two calls that wait for their approvals, the module research and the MCP server time with one tool and a definition
-- that is held back each, the toolset charts with one tool, its page and a call, and the changes of all of them. Triggers
-- write the rest. A statement ends with `;` at the end of a line, and no text holds this.

INSERT INTO credentials (workspace_id, id, description, created_at)
VALUES ('sample', 'SAMPLE_TOKEN', 'A name that no tool uses yet', '2026-11-17T08:00:00.000Z');

INSERT INTO tools (workspace_id, id, source, created_at, revision)
VALUES ('sample', 'word_count', 'registered', '2026-11-17T08:00:00.500Z', 4);

INSERT INTO tools (workspace_id, id, source, created_at, revision)
VALUES ('sample', 'publish_notes', 'registered', '2026-11-17T08:00:01.500Z', 6);

INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema, returns_schema, handler_key, handler, category, examples, risk_level, required_permission, required_capabilities, requires_approval, rate_limit, timeout_seconds, execution_mode, resource_class, rollback_strategy, credentials_required, side_effects, registered_at, registered_by, active, deactivated_at, deactivated_reason)
VALUES ('sample', (SELECT key FROM tools WHERE workspace_id = 'sample' AND id = 'word_count'), 1, 0, 0, 'Count words', 'Counts the words of a text.', '{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}', NULL, 'python', '{"type":"python","code":"def count(text):\n    return len(text.split())\n","function":"count"}', 'text', '[]', 'safe', 'guest', '[]', 0, NULL, 30, 'local', 'control', 'none', '[]', '[]', '2026-11-17T08:00:00.500Z', 'anonymous', 0, '2026-11-17T08:00:01.000Z', 'version_update');

INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema, returns_schema, handler_key, handler, category, examples, risk_level, required_permission, required_capabilities, requires_approval, rate_limit, timeout_seconds, execution_mode, resource_class, rollback_strategy, credentials_required, side_effects, registered_at, registered_by, active, deactivated_at, deactivated_reason)
VALUES ('sample', (SELECT key FROM tools WHERE workspace_id = 'sample' AND id = 'word_count'), 1, 1, 0, 'Count words', 'Counts the words of a text.', '{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}', '{"type":"integer"}', 'python', '{"type":"python","code":"def count(text):\n    return len(text.split())\n","function":"count"}', 'text', '[]', 'safe', 'guest', '[]', 0, NULL, 30, 'local', 'control', 'none', '[]', '[]', '2026-11-17T08:00:01.000Z', 'anonymous', 1, NULL, NULL);

INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema, returns_schema, handler_key, handler, category, examples, risk_level, required_permission, required_capabilities, requires_approval, rate_limit, timeout_seconds, execution_mode, resource_class, rollback_strategy, credentials_required, side_effects, registered_at, registered_by, active, deactivated_at, deactivated_reason)
VALUES ('sample', (SELECT key FROM tools WHERE workspace_id = 'sample' AND id = 'publish_notes'), 1, 0, 0, 'Publish notes', 'Shows the notes of the session to everybody; each call waits for an approval.', '{"type":"object","properties":{"path":{"type":"string","default":"/notes"}},"additionalProperties":false}', NULL, 'list_files', '{"type":"builtin","key":"list_files"}', 'text', '[]', 'high', 'guest', '[]', 0, NULL, 30, 'local', 'control', 'none', '[]', '[]', '2026-11-17T08:00:01.500Z', 'anonymous', 1, NULL, NULL);

INSERT INTO agents (workspace_id, id, name, capabilities, max_risk, allowed_modules, permission_level, default_tools, created_at, revision, find_tools)
VALUES ('sample', 'agent_sample', 'Mail clerk', '["mail"]', 'high', '[]', 'user', 1, '2026-11-17T08:00:02.000Z', 1, 0);

INSERT INTO agent_tools (workspace_id, agent_id, tool_key, config, created_at, revision)
VALUES ('sample', 'agent_sample', (SELECT key FROM tools WHERE workspace_id = '' AND id = 'email_search'), '{"default_limit":5}', '2026-11-17T08:00:02.500Z', 8);

INSERT INTO tokens (workspace_id, id, name, level, agent_id, sha256, expires_at, created_at, created_by)
VALUES ('sample', 'tok_sample', 'Sample token', 'user', NULL, '0000000000000000000000000000000000000000000000000000000000000000', NULL, '2026-11-17T08:00:03.000Z', 'anonymous');

INSERT INTO sessions (workspace_id, id, tree_id, active_manifest_id, created_at, updated_at, generation, deleted, head_id, forks, agent_id, active_message_id)
VALUES ('sample', 'notebook', 'sample_tree', 'man_sample_2', '2026-11-17T08:00:03.500Z', '2026-11-17T08:00:03.750Z', 0, 0, 'man_sample_2', 0, NULL, 'msg_sample_2');

INSERT INTO manifests (workspace_id, id, session_id, tree_id, line, seq, parent_id, source, source_ref, created_at, files, bytes, generation, path)
VALUES ('sample', 'man_sample_1', 'notebook', 'sample_tree', '', 1, NULL, 'user_upload', NULL, '2026-11-17T08:00:03.500Z', 1, 10, 0, '/notes/today.txt');

INSERT INTO manifests (workspace_id, id, session_id, tree_id, line, seq, parent_id, source, source_ref, created_at, files, bytes, generation, path)
VALUES ('sample', 'man_sample_2', 'notebook', 'sample_tree', '', 2, 'man_sample_1', 'user_upload', NULL, '2026-11-17T08:00:03.750Z', 1, 12, 0, '/notes/today.txt');

INSERT INTO messages (workspace_id, session_id, generation, id, parent_id, depth, line, line_start, parent_line, role, agent_id, manifest_id, finish_reason, usage, created_at, bytes, chunks, metadata, parts)
VALUES ('sample', 'notebook', 0, 'msg_sample_1', NULL, 0, 1, 0, NULL, 'user', 'agent_sample', 'man_sample_2', NULL, NULL, '2026-11-17T08:00:16.000Z', 648, 1, NULL, '[{"type":"text","text":"What do my notes say?"}]');

INSERT INTO messages (workspace_id, session_id, generation, id, parent_id, depth, line, line_start, parent_line, role, agent_id, manifest_id, finish_reason, usage, created_at, bytes, chunks, metadata, parts)
VALUES ('sample', 'notebook', 0, 'msg_sample_2', 'msg_sample_1', 1, 1, 0, NULL, 'assistant', 'agent_sample', 'man_sample_2', 'stop', '{"input_tokens":410,"output_tokens":9,"total_tokens":419}', '2026-11-17T08:00:17.000Z', 661, 1, NULL, '[{"type":"step-start"},{"type":"text","text":"Gas is down."}]');

INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size, alone, first_use)
VALUES ('sample', 'sample_tree', '/notes/today.txt', 'a1', '7b18feb5e5873a9e92c061e32f5a21289bf9ccbd53dc2745ed077c77ad4246e1', 10, 1, 1);

INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size, alone, first_use)
VALUES ('sample', 'sample_tree', '/notes/today.txt', 'a2', '6cae1a5c6c477960c8a6fda3dfac07f4117f76e94bd73285fbe258cb3df0a40d', 12, 1, 1);

INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at, use_tree_id, use_path, use_label, data)
VALUES ('sample', '6cae1a5c6c477960c8a6fda3dfac07f4117f76e94bd73285fbe258cb3df0a40d', 12, 'utf8', 1, '2026-11-17T08:00:03.750Z', 'sample_tree', '/notes/today.txt', 'a2', replace('gas is down\n', '\n', char(10)));

INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at, use_tree_id, use_path, use_label, data)
VALUES ('sample', '7b18feb5e5873a9e92c061e32f5a21289bf9ccbd53dc2745ed077c77ad4246e1', 10, 'utf8', 1, '2026-11-17T08:00:03.500Z', 'sample_tree', '/notes/today.txt', 'a1', replace('gas is up\n', '\n', char(10)));

INSERT INTO tool_calls (workspace_id, id, tool_name, version, agent_id, user_id, session_id, message_id, operator, status, duration_ms, started_at, finished_at, deadline_at, pre_manifest_id, post_manifest_id, max_result_bytes, error, render_plan, arguments, result)
VALUES ('sample', 'call_01a1e88543100000000000000000000000000000000001', 'read_file', '1.0.0', NULL, NULL, 'notebook', NULL, 'anonymous', 'success', 10, '2026-11-17T08:00:10.000Z', '2026-11-17T08:00:10.050Z', NULL, 'man_sample_2', 'man_sample_2', NULL, NULL, NULL, '{"path":"/notes/today.txt"}', '"gas is down\n"');

INSERT INTO tool_calls (workspace_id, id, tool_name, version, agent_id, user_id, session_id, message_id, operator, status, duration_ms, started_at, finished_at, deadline_at, pre_manifest_id, post_manifest_id, max_result_bytes, error, render_plan, arguments, result)
VALUES ('sample', 'call_01a1e88546f80000000000000000000000000000000002', 'publish_notes', '1.0.0', NULL, NULL, 'notebook', NULL, 'anonymous', 'pending_approval', NULL, '2026-11-17T08:00:11.000Z', NULL, '2026-11-17T08:01:11.000Z', NULL, NULL, NULL, '{"code":"APPROVAL_REQUIRED","message":"publish_notes needs an approval before it runs","details":{"approval_id":"appr_sample"}}', NULL, '{"path":"/notes"}', NULL);

INSERT INTO tool_calls (workspace_id, id, tool_name, version, agent_id, user_id, session_id, message_id, operator, status, duration_ms, started_at, finished_at, deadline_at, pre_manifest_id, post_manifest_id, max_result_bytes, error, render_plan, arguments, result)
VALUES ('sample', 'call_01a1e8854ae00000000000000000000000000000000003', 'publish_notes', '1.0.0', NULL, NULL, 'notebook', NULL, 'anonymous', 'pending_approval', NULL, '2026-11-17T08:00:12.000Z', NULL, '2026-11-17T08:01:12.000Z', NULL, NULL, NULL, '{"code":"APPROVAL_REQUIRED","message":"publish_notes needs an approval before it runs","details":{"approval_id":"appr_sample_2"}}', NULL, '{"path":"/notes"}', NULL);

INSERT INTO approvals (workspace_id, id, call_id, status, sealed_arguments, requested_by, created_at, expires_at, decided_by, decided_at, reason)
VALUES ('sample', 'appr_sample', 'call_01a1e88546f80000000000000000000000000000000002', 'pending', NULL, 'anonymous', '2026-11-17T08:00:11.050Z', '2126-11-17T08:00:00.000Z', NULL, NULL, NULL);

INSERT INTO approvals (workspace_id, id, call_id, status, sealed_arguments, requested_by, created_at, expires_at, decided_by, decided_at, reason)
VALUES ('sample', 'appr_sample_2', 'call_01a1e8854ae00000000000000000000000000000000003', 'pending', NULL, 'anonymous', '2026-11-17T08:00:12.050Z', '2126-11-17T08:00:00.000Z', NULL, NULL, NULL);

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 1, '2026-11-17T08:00:00.250Z', 'create', 'credential:SAMPLE_TOKEN', NULL, NULL, 'anonymous', NULL, NULL, '{"id":"SAMPLE_TOKEN","description":"A name that no tool uses yet","created_at":"2026-11-17T08:00:00.000Z"}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 2, '2026-11-17T08:00:00.750Z', 'register', 'tool:word_count@1.0.0', 'word_count', '1.0.0', 'anonymous', NULL, NULL, '{"id":"word_count","name":"Count words","description":"Counts the words of a text.","parameters_schema":"{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"],\"additionalProperties\":false}","handler_key":"python","category":"text","created_at":"2026-11-17T08:00:00.500Z","version":"1.0.0","active":true,"source":"registered","returns_schema":null,"examples":[],"risk_level":"safe","required_permission":"guest","required_capabilities":[],"requires_approval":false,"rate_limit":null,"timeout_seconds":30,"execution_mode":"local","resource_class":"control","rollback_strategy":"none","credentials_required":[],"side_effects":[],"needs_approval":false,"registered_at":"2026-11-17T08:00:00.500Z","registered_by":"anonymous","deactivated_at":null,"deactivated_reason":null,"handler":{"type":"python","code":"def count(text):\n    return len(text.split())\n","function":"count"}}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 3, '2026-11-17T08:00:01.250Z', 'deactivate', 'tool:word_count@1.0.0', 'word_count', '1.0.0', 'anonymous', 'version_update', '{"version":"1.0.0","active":true,"deactivated_at":null,"deactivated_reason":null}', '{"id":"word_count","name":"Count words","description":"Counts the words of a text.","parameters_schema":"{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"],\"additionalProperties\":false}","handler_key":"python","category":"text","created_at":"2026-11-17T08:00:00.500Z","version":"1.0.0","active":false,"source":"registered","returns_schema":null,"examples":[],"risk_level":"safe","required_permission":"guest","required_capabilities":[],"requires_approval":false,"rate_limit":null,"timeout_seconds":30,"execution_mode":"local","resource_class":"control","rollback_strategy":"none","credentials_required":[],"side_effects":[],"needs_approval":false,"registered_at":"2026-11-17T08:00:00.500Z","registered_by":"anonymous","deactivated_at":"2026-11-17T08:00:01.000Z","deactivated_reason":"version_update","handler":{"type":"python","code":"def count(text):\n    return len(text.split())\n","function":"count"}}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 4, '2026-11-17T08:00:01.250Z', 'update', 'tool:word_count@1.1.0', 'word_count', '1.1.0', 'anonymous', NULL, '{"version":"1.0.0","active":true,"deactivated_at":null,"deactivated_reason":null}', '{"id":"word_count","name":"Count words","description":"Counts the words of a text.","parameters_schema":"{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"],\"additionalProperties\":false}","handler_key":"python","category":"text","created_at":"2026-11-17T08:00:00.500Z","version":"1.1.0","active":true,"source":"registered","returns_schema":"{\"type\":\"integer\"}","examples":[],"risk_level":"safe","required_permission":"guest","required_capabilities":[],"requires_approval":false,"rate_limit":null,"timeout_seconds":30,"execution_mode":"local","resource_class":"control","rollback_strategy":"none","credentials_required":[],"side_effects":[],"needs_approval":false,"registered_at":"2026-11-17T08:00:01.000Z","registered_by":"anonymous","deactivated_at":null,"deactivated_reason":null,"handler":{"type":"python","code":"def count(text):\n    return len(text.split())\n","function":"count"}}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 5, '2026-11-17T08:00:01.750Z', 'register', 'tool:publish_notes@1.0.0', 'publish_notes', '1.0.0', 'anonymous', NULL, NULL, '{"id":"publish_notes","name":"Publish notes","description":"Shows the notes of the session to everybody; each call waits for an approval.","parameters_schema":"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"default\":\"/notes\"}},\"additionalProperties\":false}","handler_key":"list_files","category":"text","created_at":"2026-11-17T08:00:01.500Z","version":"1.0.0","active":true,"source":"registered","returns_schema":null,"examples":[],"risk_level":"high","required_permission":"guest","required_capabilities":[],"requires_approval":false,"rate_limit":null,"timeout_seconds":30,"execution_mode":"local","resource_class":"control","rollback_strategy":"none","credentials_required":[],"side_effects":[],"needs_approval":true,"registered_at":"2026-11-17T08:00:01.500Z","registered_by":"anonymous","deactivated_at":null,"deactivated_reason":null,"handler":{"type":"builtin","key":"list_files"}}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 6, '2026-11-17T08:00:02.250Z', 'create', 'agent:agent_sample', NULL, NULL, 'anonymous', NULL, NULL, '{"id":"agent_sample","name":"Mail clerk","capabilities":["mail"],"max_risk":"high","allowed_modules":[],"permission_level":"user","default_tools":true,"find_tools":false,"created_at":"2026-11-17T08:00:02.000Z"}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 7, '2026-11-17T08:00:02.750Z', 'attach', 'attachment:agent_sample/email_search', 'email_search', NULL, 'anonymous', NULL, NULL, '{"agent_id":"agent_sample","tool_id":"email_search","config":{"default_limit":5}}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 8, '2026-11-17T08:00:03.250Z', 'create', 'token:tok_sample', NULL, NULL, 'anonymous', NULL, NULL, '{"id":"tok_sample","name":"Sample token","level":"user","agent_id":null,"expires_at":null,"created_at":"2026-11-17T08:00:03.000Z","created_by":"anonymous"}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 9, '2026-11-17T08:00:11.050Z', 'create', 'approval:appr_sample', 'publish_notes', NULL, 'anonymous', NULL, NULL, '{"id":"appr_sample","call_id":"call_01a1e88546f80000000000000000000000000000000002","tool_name":"publish_notes","status":"pending","reason":null}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 10, '2026-11-17T08:00:12.050Z', 'create', 'approval:appr_sample_2', 'publish_notes', NULL, 'anonymous', NULL, NULL, '{"id":"appr_sample_2","call_id":"call_01a1e8854ae00000000000000000000000000000000003","tool_name":"publish_notes","status":"pending","reason":null}');

INSERT INTO upstreams (workspace_id, name, kind, url, slow, timeout_seconds, headers, enabled, auto_accept, include, created_at, revision, status, discovered_at, expires_at, last_error, warnings, fingerprint)
VALUES ('sample', 'research', 'manifest', 'https://research.example.com', 0, NULL, '{}', 1, 0, NULL, '2026-11-17T08:00:13.000Z', 1, 'ok', '2026-11-17T08:00:13.050Z', '2126-11-17T09:00:00.000Z', NULL, '[]', NULL);

INSERT INTO tools (workspace_id, id, source, created_at, revision)
VALUES ('sample', 'research.web_search', 'module', '2026-11-17T08:00:13.000Z', 13);

INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema, returns_schema, handler_key, handler, category, examples, risk_level, required_permission, required_capabilities, requires_approval, rate_limit, timeout_seconds, execution_mode, resource_class, rollback_strategy, credentials_required, side_effects, registered_at, registered_by, active, deactivated_at, deactivated_reason)
VALUES ('sample', (SELECT key FROM tools WHERE workspace_id = 'sample' AND id = 'research.web_search'), 1, 0, 0, 'web_search', 'Search the web and return results', '{"type":"object","properties":{"query":{"type":"string","description":"Search query"},"max_results":{"type":"integer","description":"Max results"}},"required":["query"]}', NULL, 'module', '{"type":"module","module":"research"}', 'research', '[]', 'low', 'guest', '[]', 0, NULL, 30, 'remote', 'control', 'none', '[]', '[]', '2026-11-17T08:00:13.000Z', 'anonymous', 1, NULL, NULL);

INSERT INTO held_back_definitions (workspace_id, name, tool_id, change, offered)
VALUES ('sample', 'research', 'research.web_search', 'changed', '{"name":"web_search","description":"Search the web and return the best results first","parameters_schema":"{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"description\":\"Search query\"},\"max_results\":{\"type\":\"integer\",\"description\":\"Max results\"}},\"required\":[\"query\"]}","returns_schema":null,"handler":{"type":"module","module":"research"},"risk_level":"low","required_permission":"guest","requires_approval":false,"timeout_seconds":null,"side_effects":[],"examples":[]}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 11, '2026-11-17T08:00:13.050Z', 'create', 'module:research', NULL, NULL, 'anonymous', NULL, NULL, '{"name":"research","kind":"manifest","url":"https://research.example.com","slow":false,"timeout_seconds":null,"headers":{},"enabled":true,"auto_accept":false,"include":null,"created_at":"2026-11-17T08:00:13.000Z"}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 12, '2026-11-17T08:00:13.050Z', 'register', 'tool:research.web_search@1.0.0', 'research.web_search', '1.0.0', 'anonymous', NULL, NULL, '{"id":"research.web_search","name":"web_search","description":"Search the web and return results","parameters_schema":"{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"description\":\"Search query\"},\"max_results\":{\"type\":\"integer\",\"description\":\"Max results\"}},\"required\":[\"query\"]}","handler_key":"module","category":"research","created_at":"2026-11-17T08:00:13.000Z","version":"1.0.0","active":true,"source":"module","returns_schema":null,"examples":[],"risk_level":"low","required_permission":"guest","required_capabilities":[],"requires_approval":false,"rate_limit":null,"timeout_seconds":30,"execution_mode":"remote","resource_class":"control","rollback_strategy":"none","credentials_required":[],"side_effects":[],"needs_approval":false,"registered_at":"2026-11-17T08:00:13.000Z","registered_by":"anonymous","deactivated_at":null,"deactivated_reason":null,"handler":{"type":"module","module":"research"}}');

INSERT INTO upstreams (workspace_id, source, name, kind, url, headers, enabled, auto_accept, server, created_at, revision, status, discovered_at, expires_at, connection)
VALUES ('sample', 'mcp', 'time', 'mcp', 'https://time.example.com/mcp', '{}', 1, 0, '{"requires_approval":true,"risk_level":"medium","toolset_id":null,"process":null,"transport":"streamable-http"}', '2026-11-17T08:00:14.000Z', 1, 'ok', '2026-11-17T08:00:14.050Z', '2126-11-17T09:00:00.000Z', '{"era":"modern","revision":"2026-07-28","server_info":{"name":"time","version":"1.0.0"}}');

INSERT INTO tools (workspace_id, id, source, created_at, revision)
VALUES ('sample', 'time:get_current_time', 'mcp', '2026-11-17T08:00:14.000Z', 14);

INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema, returns_schema, handler_key, handler, category, examples, risk_level, required_permission, required_capabilities, requires_approval, rate_limit, timeout_seconds, execution_mode, resource_class, rollback_strategy, credentials_required, side_effects, registered_at, registered_by, active, deactivated_at, deactivated_reason)
VALUES ('sample', (SELECT key FROM tools WHERE workspace_id = 'sample' AND id = 'time:get_current_time'), 1, 0, 0, 'get_current_time', 'Get the current time in a timezone', '{"type":"object","properties":{"timezone":{"type":"string","description":"A name such as Europe/Paris"}},"required":["timezone"]}', NULL, 'mcp', '{"type":"mcp","server":"time","tool":"get_current_time"}', 'time', '[]', 'medium', 'user', '[]', 1, NULL, 30, 'remote', 'control', 'none', '[]', '[]', '2026-11-17T08:00:14.000Z', 'anonymous', 1, NULL, NULL);

INSERT INTO held_back_definitions (workspace_id, source, name, tool_id, change, offered)
VALUES ('sample', 'mcp', 'time', 'time:get_current_time', 'changed', '{"name":"get_current_time","description":"Get the current time in a timezone, and whether it is summer time","parameters_schema":"{\"type\":\"object\",\"properties\":{\"timezone\":{\"type\":\"string\",\"description\":\"A name such as Europe/Paris\"}},\"required\":[\"timezone\"]}","returns_schema":null,"handler":{"type":"mcp","server":"time","tool":"get_current_time"},"risk_level":"medium","required_permission":"user","requires_approval":true,"timeout_seconds":null,"side_effects":[],"examples":[]}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 13, '2026-11-17T08:00:14.050Z', 'create', 'mcp_server:time', NULL, NULL, 'anonymous', NULL, NULL, '{"id":"time","transport":"streamable-http","url":"https://time.example.com/mcp","headers":{},"command":null,"args":[],"env":{},"cwd":null,"allowed_hosts":[],"enabled":true,"requires_approval":true,"risk_level":"medium","auto_accept":false,"toolset_id":null,"created_at":"2026-11-17T08:00:14.000Z"}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 14, '2026-11-17T08:00:14.050Z', 'register', 'tool:time:get_current_time@1.0.0', 'time:get_current_time', '1.0.0', 'anonymous', NULL, NULL, '{"id":"time:get_current_time","name":"get_current_time","description":"Get the current time in a timezone","parameters_schema":"{\"type\":\"object\",\"properties\":{\"timezone\":{\"type\":\"string\",\"description\":\"A name such as Europe/Paris\"}},\"required\":[\"timezone\"]}","handler_key":"mcp","category":"time","created_at":"2026-11-17T08:00:14.000Z","version":"1.0.0","active":true,"source":"mcp","returns_schema":null,"examples":[],"risk_level":"medium","required_permission":"user","required_capabilities":[],"requires_approval":true,"rate_limit":null,"timeout_seconds":30,"execution_mode":"remote","resource_class":"control","rollback_strategy":"none","credentials_required":[],"side_effects":[],"needs_approval":true,"registered_at":"2026-11-17T08:00:14.000Z","registered_by":"anonymous","deactivated_at":null,"deactivated_reason":null,"handler":{"type":"mcp","server":"time","tool":"get_current_time"}}');

INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at, source_ref, manifest_version, decided_by)
VALUES ('sample', 'charts', 'Charts', '1.0.0', 'Draws numbers.', 1, '2026-11-17T08:00:15.000Z', NULL, '1', '');

INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at, data)
VALUES ('sample', '85ff65df75f1770598c68c39a9e9dd34a297193328ed245144c8a5520252febb', 204, 'utf8', 1, '2026-11-17T08:00:15.000Z', replace('<!doctype html>\n<html>\n<head><title>Plot</title></head>\n<body><pre id="values"></pre><script>\ndocument.getElementById("values").textContent = JSON.stringify(window.__TOOL_DATA__)\n</script></body>\n</html>\n', '\n', char(10)));

INSERT INTO toolset_files (workspace_id, toolset_id, path, kind, sha256, size)
VALUES ('sample', 'charts', 'artifacts/plot.html', 'artifact', '85ff65df75f1770598c68c39a9e9dd34a297193328ed245144c8a5520252febb', 204);

INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at, data)
VALUES ('sample', '042873d5fbcb0017ca0f1c310a27fbd7bbdc5c181683f0d1b16bacdb27892f60', 177, 'utf8', 1, '2026-11-17T08:00:15.000Z', replace('from covalt_toolset import tool\n\n\n@tool\ndef plot(values: list[float]) -> dict:\n    """Draws numbers as bars."""\n    return {"values": values, "largest": max(values, default=0)}\n', '\n', char(10)));

INSERT INTO toolset_files (workspace_id, toolset_id, path, kind, sha256, size)
VALUES ('sample', 'charts', 'tools/plot.py', 'python', '042873d5fbcb0017ca0f1c310a27fbd7bbdc5c181683f0d1b16bacdb27892f60', 177);

INSERT INTO toolset_tools (workspace_id, toolset_id, tool, position, declaration)
VALUES ('sample', 'charts', 'plot', 0, '{"id":"plot","entrypoint":"tools.plot:plot"}');

INSERT INTO tools (workspace_id, id, source, created_at, revision)
VALUES ('sample', 'charts:plot', 'toolset', '2026-11-17T08:00:15.000Z', 16);

INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema, returns_schema, handler_key, handler, category, examples, risk_level, required_permission, required_capabilities, requires_approval, rate_limit, timeout_seconds, execution_mode, resource_class, rollback_strategy, credentials_required, side_effects, registered_at, registered_by, active, deactivated_at, deactivated_reason)
VALUES ('sample', (SELECT key FROM tools WHERE workspace_id = 'sample' AND id = 'charts:plot'), 1, 0, 0, 'plot', 'Draws numbers as bars.', '{"type":"object","properties":{"values":{"type":"array","items":{"type":"number"}}},"required":["values"],"additionalProperties":false}', NULL, 'toolset', '{"type":"toolset","entrypoint":"tools.plot:plot"}', 'charts', '[]', 'low', 'user', '[]', 0, NULL, 30, 'local', 'state', 'none', '[]', '[]', '2026-11-17T08:00:15.000Z', 'anonymous', 1, NULL, NULL);

INSERT INTO tool_overrides (workspace_id, tool_id, toolset_id, position, renderer, renderer_config)
VALUES ('sample', 'charts:plot', 'charts', 0, 'html', '{"artifact":"artifacts/plot.html","data":"$return"}');

INSERT INTO tool_calls (workspace_id, id, tool_name, version, agent_id, user_id, session_id, message_id, operator, status, duration_ms, started_at, finished_at, deadline_at, pre_manifest_id, post_manifest_id, max_result_bytes, error, render_plan, arguments, result)
VALUES ('sample', 'call_01a1e88556980000000000000000000000000000000004', 'charts:plot', '1.0.0', NULL, NULL, 'notebook', NULL, 'anonymous', 'success', 40, '2026-11-17T08:00:15.000Z', '2026-11-17T08:00:15.040Z', NULL, 'man_sample_2', 'man_sample_2', NULL, NULL, '{"renderer":"html","config":{"artifact":"/api/toolsets/charts/files/artifacts/plot.html","data":{"values":[1,2],"largest":2}}}', '{"values":[1,2]}', '{"values":[1,2],"largest":2}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 15, '2026-11-17T08:00:15.050Z', 'create', 'toolset:charts', NULL, NULL, 'anonymous', NULL, NULL, '{"id":"charts","name":"Charts","version":"1.0.0","description":"Draws numbers.","enabled":true,"installed_at":"2026-11-17T08:00:15.000Z","source_type":"zip","source_ref":null,"manifest_version":"1","files":[{"path":"artifacts/plot.html","kind":"artifact","sha256":"85ff65df75f1770598c68c39a9e9dd34a297193328ed245144c8a5520252febb","size":204},{"path":"tools/plot.py","kind":"python","sha256":"042873d5fbcb0017ca0f1c310a27fbd7bbdc5c181683f0d1b16bacdb27892f60","size":177}],"tools":["plot"]}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 16, '2026-11-17T08:00:15.050Z', 'register', 'tool:charts:plot@1.0.0', 'charts:plot', '1.0.0', 'anonymous', NULL, NULL, '{"id":"charts:plot","name":"plot","description":"Draws numbers as bars.","parameters_schema":"{\"type\":\"object\",\"properties\":{\"values\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}}},\"required\":[\"values\"],\"additionalProperties\":false}","handler_key":"toolset","category":"charts","created_at":"2026-11-17T08:00:15.000Z","version":"1.0.0","active":true,"source":"toolset","returns_schema":null,"examples":[],"risk_level":"low","required_permission":"user","required_capabilities":[],"requires_approval":false,"rate_limit":null,"timeout_seconds":30,"execution_mode":"local","resource_class":"state","rollback_strategy":"none","credentials_required":[],"side_effects":[],"needs_approval":false,"registered_at":"2026-11-17T08:00:15.000Z","registered_by":"anonymous","deactivated_at":null,"deactivated_reason":null,"toolset_id":"charts","server_id":null,"module":null,"renderer":null,"renderer_config":null,"enabled":true,"handler":{"type":"toolset","entrypoint":"tools.plot:plot"}}');

INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason, previous_state, new_state)
VALUES ('sample', 17, '2026-11-17T08:00:15.050Z', 'configure', 'override:charts:plot', 'charts:plot', NULL, 'anonymous', NULL, NULL, '{"toolset_id":"charts","tool_id":"charts:plot","renderer":"html","renderer_config":{"artifact":"artifacts/plot.html","data":"$return"},"name_override":null,"description_override":null,"requires_approval":null,"enabled":null,"by_admin":false}');
