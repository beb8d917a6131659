-- MCP servers of others are kept like modules: one table for all servers of others, which are called upstreams. It
-- replaces the table `modules`.
CREATE TABLE upstreams (
  workspace_id TEXT NOT NULL,
  -- The source of the upstream's tools: a module and an MCP server may have the same name. The ids of the tools begin
  -- with the name and a dot (`module`) or a colon (`mcp`).
  source TEXT NOT NULL DEFAULT 'module' CHECK (source IN ('module', 'mcp')),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  -- What an admin has set.
  kind TEXT NOT NULL CHECK (kind IN ('manifest', 'openapi', 'mcp')),
  -- Null for an MCP server that is a process.
  url TEXT CHECK (url IS NOT NULL OR kind = 'mcp'),
  slow INTEGER NOT NULL DEFAULT 0 CHECK (slow IN (0, 1)),
  timeout_seconds INTEGER CHECK (timeout_seconds BETWEEN 1 AND 3600),
  -- {"<header>": "<value>" | {"sealed": "<value>"}}
  headers TEXT NOT NULL CHECK (json_type(headers) = 'object'),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  auto_accept INTEGER NOT NULL CHECK (auto_accept IN (0, 1)),
  -- The operations of an OpenAPI document that become tools, and the hosts besides the module's own that get `headers`.
  include TEXT CHECK (json_type(include) = 'object'),
  -- The settings that only MCP servers have, as src/federation/server.rs writes them.
  server TEXT CHECK (coalesce(json_type(server) = 'object', 0) = (kind = 'mcp')),
  created_at TEXT NOT NULL,
  -- Counts the changes of the settings, so that a decision that was made on an old reading is refused.
  revision INTEGER NOT NULL,
  -- What the last discovery found.
  status TEXT NOT NULL DEFAULT 'unseen' CHECK (status IN ('ok', 'unreachable', 'invalid', 'unseen')),
  -- When the upstream was last discovered with success. Null until its tools have been seen for the first time.
  discovered_at TEXT,
  -- When the upstream is to be asked again. Null if it was never asked.
  expires_at TEXT,
  last_error TEXT,
  -- [{"tool", "message"}]: what was left out, and why.
  warnings TEXT NOT NULL DEFAULT '[]' CHECK (json_type(warnings) = 'array'),
  -- The hash of the description that was last put in place. Null, if the tools or the settings have changed since: then
  -- the next discovery compares every tool.
  fingerprint TEXT,
  -- What the MCP client remembers of the server: the revision, the sealed session, the server's name. Null until the
  -- server has answered.
  connection TEXT CHECK (json_type(connection) = 'object'),
  -- Of several requests that want to discover the upstream at once, the one that holds the lease does so.
  lease TEXT,
  leased_until TEXT,
  PRIMARY KEY (workspace_id, source, name)
) STRICT, WITHOUT ROWID;

INSERT INTO upstreams (workspace_id, name, kind, url, slow, timeout_seconds, headers, enabled, auto_accept, include,
  created_at, revision, status, discovered_at, expires_at, last_error, warnings, fingerprint, lease, leased_until)
SELECT workspace_id, name, kind, url, slow, timeout_seconds, headers, enabled, auto_accept, include, created_at, revision,
  status, discovered_at, expires_at, last_error, warnings, fingerprint, lease, leased_until
FROM modules;

-- Definitions that an upstream offers and no admin has accepted: changed ones, and those of tools that appeared later.
CREATE TABLE held_back_definitions (
  workspace_id TEXT NOT NULL,
  source TEXT NOT NULL DEFAULT 'module',
  name TEXT NOT NULL,
  tool_id TEXT NOT NULL,
  change TEXT NOT NULL CHECK (change IN ('new', 'changed')),
  -- The offered definition, as src/upstreams/offer.rs writes it.
  offered TEXT NOT NULL CHECK (json_valid(offered)),
  PRIMARY KEY (workspace_id, source, name, tool_id),
  FOREIGN KEY (workspace_id, source, name) REFERENCES upstreams (workspace_id, source, name) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

INSERT INTO held_back_definitions (workspace_id, name, tool_id, change, offered)
SELECT workspace_id, module, tool_id, change, offered FROM held_back_tools;

DROP TRIGGER tool_versions_of_modules_switched;
DROP TABLE held_back_tools;
DROP TABLE modules;

-- The cron trigger asks the upstreams that are due, the oldest first. '' stands for one that was never asked.
CREATE INDEX upstreams_by_expiry ON upstreams (source, coalesce(expires_at, '')) WHERE enabled = 1;

-- A request for a toolbox looks for upstreams of its workspace that are due.
CREATE INDEX upstreams_due ON upstreams (workspace_id, coalesce(expires_at, '')) WHERE enabled = 1;

-- Finds the upstreams that one lease is on, in all workspaces.
CREATE INDEX upstreams_by_lease ON upstreams (lease);

-- A switched version of an upstream's tool may differ from what the upstream offers: the next discovery must look.
CREATE TRIGGER tool_versions_of_upstreams_switched AFTER UPDATE OF active ON tool_versions
WHEN NEW.handler_key IN ('module', 'rest', 'mcp') BEGIN
  UPDATE upstreams SET fingerprint = NULL WHERE workspace_id = NEW.workspace_id AND (source, name) = (
    SELECT source, substr(id, 1, instr(id, iif(source = 'mcp', ':', '.')) - 1)
    FROM tools WHERE key = NEW.tool_key AND source IN ('module', 'mcp'));
END;
