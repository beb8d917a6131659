-- A tool is a name that lives in one workspace; what it does is in its versions.
-- The built-ins live in the workspace '' (no caller can name it: X-Workspace-Id is
-- never empty) and are seen from everywhere.
CREATE TABLE tools (
  -- Creation order: the order of every list, and the rowid in tool_search.
  key INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 256),
  source TEXT NOT NULL CHECK (source IN ('builtin', 'registered', 'module', 'toolset', 'mcp')),
  created_at TEXT NOT NULL,
  -- The version that lists show: the active one, else the highest. Kept by triggers.
  current_version_key INTEGER REFERENCES tool_versions (key),
  UNIQUE (workspace_id, id),
  UNIQUE (key, workspace_id),
  CHECK ((workspace_id = '') = (source = 'builtin'))
) STRICT;

CREATE TABLE tool_versions (
  key INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  tool_key INTEGER NOT NULL,
  major INTEGER NOT NULL CHECK (major >= 0),
  minor INTEGER NOT NULL CHECK (minor >= 0),
  patch INTEGER NOT NULL CHECK (patch >= 0),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  -- Schemas are kept to the letter, as text.
  parameters_schema TEXT NOT NULL CHECK (json_valid(parameters_schema)),
  returns_schema TEXT CHECK (returns_schema IS NULL OR json_valid(returns_schema)),
  handler_key TEXT NOT NULL,
  -- {"type": "builtin", "key"} | {"type": "http", "url", "headers"} | {"type": "python", "code", "function"}
  handler TEXT NOT NULL CHECK (json_valid(handler)),
  category TEXT NOT NULL DEFAULT 'general',
  examples TEXT NOT NULL DEFAULT '[]' CHECK (json_type(examples) = 'array'),
  risk_level TEXT NOT NULL DEFAULT 'low' CHECK (risk_level IN ('safe', 'low', 'medium', 'high', 'critical')),
  required_permission TEXT NOT NULL DEFAULT 'guest' CHECK (required_permission IN ('guest', 'user', 'admin', 'owner')),
  required_capabilities TEXT NOT NULL DEFAULT '[]' CHECK (json_type(required_capabilities) = 'array'),
  requires_approval INTEGER NOT NULL DEFAULT 0 CHECK (requires_approval IN (0, 1)),
  rate_limit INTEGER CHECK (rate_limit >= 1),
  timeout_seconds INTEGER NOT NULL DEFAULT 30 CHECK (timeout_seconds BETWEEN 1 AND 3600),
  execution_mode TEXT NOT NULL DEFAULT 'local' CHECK (execution_mode IN ('local', 'remote', 'browser')),
  resource_class TEXT NOT NULL DEFAULT 'control' CHECK (resource_class IN ('control', 'compute', 'state')),
  rollback_strategy TEXT NOT NULL DEFAULT 'none' CHECK (rollback_strategy IN ('none', 'compensating', 'snapshot')),
  credentials_required TEXT NOT NULL DEFAULT '[]' CHECK (json_type(credentials_required) = 'array'),
  side_effects TEXT NOT NULL DEFAULT '[]' CHECK (json_type(side_effects) = 'array'),
  registered_at TEXT NOT NULL,
  registered_by TEXT NOT NULL,
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  deactivated_at TEXT,
  deactivated_reason TEXT CHECK (deactivated_reason IN ('version_update', 'security', 'deprecated', 'operator_request')),
  UNIQUE (tool_key, major, minor, patch),
  FOREIGN KEY (tool_key, workspace_id) REFERENCES tools (key, workspace_id) ON DELETE CASCADE,
  CHECK (active = 0 OR deactivated_at IS NULL),
  CHECK ((deactivated_at IS NULL) = (deactivated_reason IS NULL))
) STRICT;

-- A name means one tool in every workspace: a built-in's is taken everywhere.
CREATE TRIGGER tools_keep_builtin_names BEFORE INSERT ON tools
WHEN NEW.workspace_id <> '' AND EXISTS (SELECT 1 FROM tools WHERE workspace_id = '' AND id = NEW.id) BEGIN
  SELECT RAISE(ABORT, 'the name of a built-in');
END;

-- Two racing activations: the second fails here.
CREATE UNIQUE INDEX tool_versions_one_active ON tool_versions (tool_key) WHERE active = 1;
