-- The agent that made the session: the agent whose call, or whose token, created it. NULL if no agent made it.
-- A token that is bound to an agent sees only the sessions of that agent.
ALTER TABLE sessions ADD COLUMN agent_id TEXT;

-- The list of an agent's sessions. Partial: a session that no agent made pays for no index row.
CREATE INDEX sessions_by_agent ON sessions (workspace_id, agent_id, created_at, id) WHERE agent_id IS NOT NULL;

-- A session stays with the agent that made it, until the session is deleted and its name is free again. Batches that change a session's files rely on this: an update of this
-- column, for a token that must not see the session, stops the whole batch (src/files/store/session.rs).
CREATE TRIGGER sessions_keep_agent BEFORE UPDATE OF agent_id ON sessions
WHEN OLD.agent_id IS NOT NEW.agent_id AND OLD.deleted = 0 BEGIN
  SELECT RAISE(ABORT, 'the session of another agent');
END;
