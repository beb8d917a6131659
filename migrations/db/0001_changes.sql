-- The change log: one row for each mutation, written in the same batch as the mutation.
-- Within a workspace, `seq` has no gaps and `timestamp` never runs backwards. No row is ever changed or deleted.
CREATE TABLE changes (
  workspace_id TEXT NOT NULL,
  seq INTEGER NOT NULL CHECK (seq >= 1),
  timestamp TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN (
    'register', 'update', 'activate', 'deactivate', 'rollback', 'attach', 'detach', 'configure',
    'create', 'delete', 'approve', 'deny', 'expire', 'restore', 'enable', 'disable', 'import',
    'refresh', 'accept', 'revoke')),
  -- The changed thing as kind:id, for example agent:agent_1f… or attachment:agent_1f…/read_file.
  subject TEXT NOT NULL,
  tool_id TEXT,
  version TEXT,
  operator TEXT NOT NULL,
  reason TEXT,
  previous_state TEXT CHECK (previous_state IS NULL OR json_valid(previous_state)),
  new_state TEXT CHECK (new_state IS NULL OR json_valid(new_state)),
  PRIMARY KEY (workspace_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX changes_by_time ON changes (workspace_id, timestamp, seq);

-- The state of a subject at a time is the subject's last change before that time.
-- These two indexes find that change with one seek for each subject, however long its history is.
CREATE INDEX changes_by_subject ON changes (workspace_id, subject, seq);
CREATE INDEX changes_by_tool ON changes (workspace_id, tool_id, seq) WHERE tool_id IS NOT NULL;

CREATE TRIGGER changes_are_final BEFORE UPDATE ON changes BEGIN
  SELECT RAISE(ABORT, 'changes are append-only');
END;

CREATE TRIGGER changes_are_kept BEFORE DELETE ON changes BEGIN
  SELECT RAISE(ABORT, 'changes are append-only');
END;
