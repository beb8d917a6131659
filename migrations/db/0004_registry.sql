-- Tools. A tool is a name in one workspace; its versions say what it does.
-- The built-ins are in the workspace '' and visible from every workspace. No caller can name that workspace, for
-- X-Workspace-Id is never empty.
CREATE TABLE tools (
  -- The order of creation: the order of every list, and the rowid in tool_search.
  key INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 256),
  source TEXT NOT NULL CHECK (source IN ('builtin', 'registered', 'module', 'toolset', 'mcp')),
  created_at TEXT NOT NULL,
  -- The version that lists show: the active version, or else the highest. Triggers keep this column up to date.
  current_version_key INTEGER REFERENCES tool_versions (key),
  -- Counts the decisions about the tool's versions, so that a decision that was made on an old reading is refused.
  revision INTEGER NOT NULL DEFAULT 1,
  UNIQUE (workspace_id, id),
  -- The target of tool_versions' foreign key: a version is in the workspace of its tool.
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
  -- Schemas are stored as text, to the letter.
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

-- A name means one tool in every workspace, so no workspace may use the name of a built-in.
CREATE TRIGGER tools_keep_builtin_names BEFORE INSERT ON tools
WHEN NEW.workspace_id <> '' AND EXISTS (SELECT 1 FROM tools WHERE workspace_id = '' AND id = NEW.id) BEGIN
  SELECT RAISE(ABORT, 'the name of a built-in');
END;

-- Of two activations that race, the second one fails here.
CREATE UNIQUE INDEX tool_versions_one_active ON tool_versions (tool_key) WHERE active = 1;

-- Used by the foreign key whenever a version is deleted.
CREATE INDEX tools_by_current_version ON tools (current_version_key);

-- Providers accept names of up to 64 letters, digits, _ and -, that begin with a letter or _. An id that is no such
-- name is handed out under a name made of its beginning and a hash (src/formats/names.rs). This index finds the tool
-- again by that beginning. src/registry/sought.rs has the same two expressions.
CREATE INDEX tools_by_exported_prefix ON tools (workspace_id, substr(replace(replace(id, '.', '_'), ':', '_'), 1, 49))
  WHERE length(id) > 64 OR id GLOB '*[^a-z0-9_-]*' OR id GLOB '[^a-z_]*';

-- One inverted index answers every list of tools. The first three columns hold the text that people search in.
-- `facets` holds the facts that programs filter by, one word for each fact. FTS5 intersects words in rowid order, so a
-- page of any filter, or of any combination of filters, reads its own rows and no others.
-- The words (src/registry/filter.rs writes the same):
--   w<ws> of the workspace   a<ws> of the workspace and active   i<id>   c<category>
--   r<risk> m<mode> z<class> s<source>   p<capability> d<credential> e<effect_type>
-- Free text is written in hex, so that any text is one word.
CREATE VIRTUAL TABLE tool_search USING fts5 (tool_id, name, description, facets);

-- Every capability that some tool of the workspace requires. A filter by capabilities excludes the tools that require
-- any of the others.
CREATE TABLE workspace_capabilities (
  workspace_id TEXT NOT NULL,
  capability TEXT NOT NULL,
  PRIMARY KEY (workspace_id, capability)
) STRICT, WITHOUT ROWID;

-- These two triggers find the active version by one index and the highest version by another, so that the cost of a
-- switch does not grow with the number of versions.
CREATE TRIGGER tool_versions_inserted AFTER INSERT ON tool_versions BEGIN
  INSERT OR IGNORE INTO workspace_capabilities (workspace_id, capability)
    SELECT NEW.workspace_id, value FROM json_each(NEW.required_capabilities);
  UPDATE tools SET current_version_key = coalesce(
      (SELECT key FROM tool_versions WHERE tool_key = NEW.tool_key AND active = 1),
      (SELECT key FROM tool_versions WHERE tool_key = NEW.tool_key ORDER BY major DESC, minor DESC, patch DESC LIMIT 1))
    WHERE key = NEW.tool_key;
END;

CREATE TRIGGER tool_versions_switched AFTER UPDATE OF active ON tool_versions BEGIN
  UPDATE tools SET current_version_key = coalesce(
      (SELECT key FROM tool_versions WHERE tool_key = NEW.tool_key AND active = 1),
      (SELECT key FROM tool_versions WHERE tool_key = NEW.tool_key ORDER BY major DESC, minor DESC, patch DESC LIMIT 1))
    WHERE key = NEW.tool_key;
END;

-- Fires on every SET of the column, even to the same value: a version that is switched off may stay the current one,
-- and the word a<ws> must go.
CREATE TRIGGER tools_current_changed AFTER UPDATE OF current_version_key ON tools BEGIN
  DELETE FROM tool_search WHERE rowid = NEW.key;
  INSERT INTO tool_search (rowid, tool_id, name, description, facets)
    SELECT NEW.key, NEW.id, v.name, v.description,
      'w' || hex(NEW.workspace_id)
      || iif(v.active, ' a' || hex(NEW.workspace_id), '')
      || ' i' || hex(NEW.id)
      || ' s' || NEW.source
      || ' c' || hex(v.category)
      || ' r' || v.risk_level
      || ' m' || v.execution_mode
      || ' z' || v.resource_class
      || coalesce((SELECT group_concat(' p' || hex(value), '') FROM json_each(v.required_capabilities)), '')
      || coalesce((SELECT group_concat(' d' || hex(value), '') FROM json_each(v.credentials_required)), '')
      || coalesce((SELECT group_concat(' e' || hex(value ->> 'effect_type'), '') FROM json_each(v.side_effects)), '')
    FROM tool_versions v WHERE v.key = NEW.current_version_key;
END;

CREATE TRIGGER tools_deleted AFTER DELETE ON tools BEGIN
  DELETE FROM tool_search WHERE rowid = OLD.key;
END;

-- Versions that were deactivated for security. The triggers below make sure that nothing activates such a version
-- again:
-- no request, no restored backup, and no new registration of the same version number.
CREATE TABLE banned_versions (
  workspace_id TEXT NOT NULL,
  tool_id TEXT NOT NULL,
  major INTEGER NOT NULL,
  minor INTEGER NOT NULL,
  patch INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, tool_id, major, minor, patch)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tool_versions_ban AFTER UPDATE OF deactivated_reason ON tool_versions
WHEN NEW.deactivated_reason = 'security' BEGIN
  INSERT OR IGNORE INTO banned_versions (workspace_id, tool_id, major, minor, patch)
    SELECT NEW.workspace_id, id, NEW.major, NEW.minor, NEW.patch FROM tools WHERE key = NEW.tool_key;
END;

CREATE TRIGGER tool_versions_insert_banned AFTER INSERT ON tool_versions
WHEN NEW.deactivated_reason = 'security' BEGIN
  INSERT OR IGNORE INTO banned_versions (workspace_id, tool_id, major, minor, patch)
    SELECT NEW.workspace_id, id, NEW.major, NEW.minor, NEW.patch FROM tools WHERE key = NEW.tool_key;
END;

CREATE TRIGGER tool_versions_stay_banned BEFORE UPDATE OF deactivated_reason ON tool_versions
WHEN OLD.deactivated_reason = 'security' AND NEW.deactivated_reason IS NOT 'security' BEGIN
  SELECT RAISE(ABORT, 'deactivated for security');
END;

CREATE TRIGGER tool_versions_refuse_banned BEFORE INSERT ON tool_versions
WHEN NEW.deactivated_reason IS NOT 'security' AND EXISTS (
  SELECT 1 FROM tools t JOIN banned_versions b ON b.workspace_id = t.workspace_id AND b.tool_id = t.id
  WHERE t.key = NEW.tool_key AND b.major = NEW.major AND b.minor = NEW.minor AND b.patch = NEW.patch) BEGIN
  SELECT RAISE(ABORT, 'deactivated for security');
END;

CREATE TRIGGER banned_versions_are_final BEFORE UPDATE ON banned_versions BEGIN
  SELECT RAISE(ABORT, 'a ban is final');
END;

CREATE TRIGGER banned_versions_are_kept BEFORE DELETE ON banned_versions BEGIN
  SELECT RAISE(ABORT, 'a ban is final');
END;

-- The names of credentials only. The values are Worker secrets of the same names.
CREATE TABLE credentials (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  description TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- How many registrations were refused, by hour and reason. Rows are kept for two days.
CREATE TABLE registration_refusals (
  workspace_id TEXT NOT NULL,
  -- For example 2026-11-16T09.
  hour TEXT NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, hour, reason)
) STRICT, WITHOUT ROWID;
