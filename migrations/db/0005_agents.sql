CREATE TABLE agents (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  capabilities TEXT NOT NULL CHECK (json_type(capabilities) = 'array'),
  max_risk TEXT NOT NULL CHECK (max_risk IN ('safe', 'low', 'medium', 'high', 'critical')),
  allowed_modules TEXT NOT NULL CHECK (json_type(allowed_modules) = 'array'),
  permission_level TEXT NOT NULL CHECK (permission_level IN ('guest', 'user', 'admin', 'owner')),
  default_tools INTEGER NOT NULL CHECK (default_tools IN (0, 1)),
  created_at TEXT NOT NULL,
  -- Counts the changes of the agent, so that a change that was decided on an old reading is refused.
  revision INTEGER NOT NULL DEFAULT 1,
  -- 1: over MCP, the agent is shown two tools, one that finds tools by their purpose and one that calls them, instead
  -- of all its tools.
  find_tools INTEGER NOT NULL DEFAULT 0 CHECK (find_tools IN (0, 1)),
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX agents_by_age ON agents (workspace_id, created_at, id);

-- The tools that are attached to an agent. An attachment follows the active version of its tool.
-- Lists are in the order of the primary key.
CREATE TABLE agent_tools (
  workspace_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  -- The tool's key and not (workspace, id): a built-in is in another workspace than the agent.
  tool_key INTEGER NOT NULL REFERENCES tools (key) ON DELETE CASCADE,
  config TEXT CHECK (json_type(config) = 'object'),
  created_at TEXT NOT NULL,
  -- Counts the changes of the configuration, as the agent's revision does.
  revision INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (workspace_id, agent_id, tool_key),
  FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Used by the cascade from tools.
CREATE INDEX agent_tools_by_tool ON agent_tools (tool_key);
