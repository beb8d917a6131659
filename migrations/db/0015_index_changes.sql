-- What something was at a time is its last change before it: one seek for each thing, however long its history.
CREATE INDEX changes_by_subject ON changes (workspace_id, subject, seq);
CREATE INDEX changes_by_tool ON changes (workspace_id, tool_id, seq) WHERE tool_id IS NOT NULL;
