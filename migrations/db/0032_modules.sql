-- Modules: other people's servers, whose tools are tools of the workspace. The ids of the tools begin with the module's
-- name and a dot.
CREATE TABLE modules (
  workspace_id TEXT NOT NULL,
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  -- What an admin has set.
  kind TEXT NOT NULL CHECK (kind IN ('manifest', 'openapi')),
  url TEXT NOT NULL,
  slow INTEGER NOT NULL CHECK (slow IN (0, 1)),
  timeout_seconds INTEGER CHECK (timeout_seconds BETWEEN 1 AND 3600),
  -- {"<header>": "<value>" | {"sealed": "<value>"}}
  headers TEXT NOT NULL CHECK (json_type(headers) = 'object'),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  auto_accept INTEGER NOT NULL CHECK (auto_accept IN (0, 1)),
  -- The operations of an OpenAPI document that become tools, and the hosts besides the module's own that get `headers`.
  include TEXT CHECK (json_type(include) = 'object'),
  created_at TEXT NOT NULL,
  -- Counts the changes of the settings, so that a decision that was made on an old reading is refused.
  revision INTEGER NOT NULL,
  -- What the last discovery found.
  status TEXT NOT NULL DEFAULT 'unseen' CHECK (status IN ('ok', 'unreachable', 'invalid', 'unseen')),
  -- When the module was last discovered with success. Null until its tools have been seen for the first time.
  discovered_at TEXT,
  -- When the module is to be asked again. Null if it was never asked.
  expires_at TEXT,
  last_error TEXT,
  -- [{"tool", "message"}]: what was left out, and why.
  warnings TEXT NOT NULL DEFAULT '[]' CHECK (json_type(warnings) = 'array'),
  -- The hash of the description that was last put in place. Null, if the tools or the settings have changed since: then
  -- the next discovery compares every tool.
  fingerprint TEXT,
  -- Of several requests that want to discover the module at once, the one that holds the lease does so.
  lease TEXT,
  leased_until TEXT,
  PRIMARY KEY (workspace_id, name)
) STRICT, WITHOUT ROWID;

-- The cron trigger asks the modules that are due, the oldest first. '' stands for a module that was never asked.
CREATE INDEX modules_by_expiry ON modules (coalesce(expires_at, '')) WHERE enabled = 1;

-- A request for a toolbox looks for modules of its workspace that are due.
CREATE INDEX modules_due ON modules (workspace_id, coalesce(expires_at, '')) WHERE enabled = 1;

-- Finds the modules that one lease is on, in all workspaces.
CREATE INDEX modules_by_lease ON modules (lease);

-- A switched version of a module's tool may differ from what the module offers: the next discovery must look.
CREATE TRIGGER tool_versions_of_modules_switched AFTER UPDATE OF active ON tool_versions
WHEN NEW.handler_key IN ('module', 'rest') BEGIN
  UPDATE modules SET fingerprint = NULL WHERE workspace_id = NEW.workspace_id AND name = (
    SELECT substr(id, 1, instr(id, '.') - 1) FROM tools WHERE key = NEW.tool_key AND source = 'module');
END;

-- Definitions that a module offers and no admin has accepted: changed ones, and those of tools that appeared later.
CREATE TABLE held_back_tools (
  workspace_id TEXT NOT NULL,
  module TEXT NOT NULL,
  tool_id TEXT NOT NULL,
  change TEXT NOT NULL CHECK (change IN ('new', 'changed')),
  -- The offered definition, as src/modules/offer.rs writes it.
  offered TEXT NOT NULL CHECK (json_valid(offered)),
  PRIMARY KEY (workspace_id, module, tool_id),
  FOREIGN KEY (workspace_id, module) REFERENCES modules (workspace_id, name) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The settings of workspaces. A workspace without a row has the defaults.
CREATE TABLE workspace_settings (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  -- The modules of agents whose own list of modules is empty, and of guests without an agent.
  default_guest_modules TEXT NOT NULL CHECK (json_type(default_guest_modules) = 'array'),
  -- Counts the changes of the settings.
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
