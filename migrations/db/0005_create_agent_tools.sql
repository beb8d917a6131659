-- What is attached to an agent. Attachments follow the tool's active version, and lists are
-- in the order of the primary key.
CREATE TABLE agent_tools (
  workspace_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  -- By key and not by (workspace, id), for a built-in lives in another workspace than its agent.
  tool_key INTEGER NOT NULL REFERENCES tools (key) ON DELETE CASCADE,
  config TEXT CHECK (json_type(config) = 'object'),
  created_at TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (workspace_id, agent_id, tool_key),
  FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- For the cascade from tools.
CREATE INDEX agent_tools_by_tool ON agent_tools (tool_key);
