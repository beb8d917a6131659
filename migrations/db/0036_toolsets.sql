-- Toolsets: bundles of Python tools, files, overrides and MCP servers that are installed together.
CREATE TABLE toolsets (
  workspace_id TEXT NOT NULL,
  -- The ids of the toolset's tools begin with this id and a colon.
  id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 64),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  description TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  installed_at TEXT NOT NULL,
  -- When an import has last changed the files. Null until then.
  files_changed_at TEXT,
  -- Where the bundle came from, as the admin says. It is never fetched.
  source_ref TEXT,
  manifest_version TEXT NOT NULL,
  -- [{"file", "line", "path", "message"}]
  warnings TEXT NOT NULL DEFAULT '[]' CHECK (json_type(warnings) = 'array'),
  -- Counts the changes of the toolset, so that a decision that was made on an old reading is refused.
  revision INTEGER NOT NULL DEFAULT 1,
  -- The request that has written the row last, so that the last statement of a batch knows whether the batch went through.
  decided_by TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- The files of a toolset. Their contents are blobs, which the sessions of the workspace may share.
CREATE TABLE toolset_files (
  workspace_id TEXT NOT NULL,
  toolset_id TEXT NOT NULL,
  -- Relative to the root of the bundle, without a leading slash.
  path TEXT NOT NULL CHECK (length(path) BETWEEN 1 AND 1024),
  kind TEXT NOT NULL CHECK (kind IN ('python', 'artifact', 'asset', 'config')),
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  PRIMARY KEY (workspace_id, toolset_id, path),
  FOREIGN KEY (workspace_id, toolset_id) REFERENCES toolsets (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, sha256) REFERENCES blobs (workspace_id, sha256)
) STRICT, WITHOUT ROWID;

-- The sweep asks whether contents are still used.
CREATE INDEX toolset_files_by_blob ON toolset_files (workspace_id, sha256);

CREATE TRIGGER toolset_files_deleted AFTER DELETE ON toolset_files BEGIN
  INSERT OR IGNORE INTO stale_blobs (workspace_id, sha256) VALUES (OLD.workspace_id, OLD.sha256);
END;

-- The tools as the manifest declares them, for exports. What calls need of them is in `tools` and `tool_versions`.
CREATE TABLE toolset_tools (
  workspace_id TEXT NOT NULL,
  toolset_id TEXT NOT NULL,
  -- The id within the toolset.
  tool TEXT NOT NULL,
  -- The place in the manifest.
  position INTEGER NOT NULL,
  -- As src/toolsets/manifest writes it.
  declaration TEXT NOT NULL CHECK (json_type(declaration) = 'object'),
  PRIMARY KEY (workspace_id, toolset_id, tool),
  FOREIGN KEY (workspace_id, toolset_id) REFERENCES toolsets (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What a toolset, or an admin, says about a tool of the toolset or of one of its MCP servers, besides the tool's
-- versions. Null leaves a field as the tool's version has it. A tool may appear after its override.
CREATE TABLE tool_overrides (
  workspace_id TEXT NOT NULL,
  -- `toolset:tool` or `server:tool`
  tool_id TEXT NOT NULL CHECK (length(tool_id) BETWEEN 1 AND 256),
  toolset_id TEXT NOT NULL,
  -- The place in the manifest.
  position INTEGER NOT NULL,
  renderer TEXT CHECK (renderer IN ('code', 'document', 'html', 'frame')),
  renderer_config TEXT CHECK (json_type(renderer_config) = 'object'),
  name_override TEXT,
  description_override TEXT,
  requires_approval INTEGER CHECK (requires_approval IN (0, 1)),
  enabled INTEGER CHECK (enabled IN (0, 1)),
  -- 1: an admin has set the override, and an upgrade of the toolset keeps it.
  by_admin INTEGER NOT NULL DEFAULT 0 CHECK (by_admin IN (0, 1)),
  PRIMARY KEY (workspace_id, tool_id),
  FOREIGN KEY (workspace_id, toolset_id) REFERENCES toolsets (workspace_id, id) ON DELETE CASCADE,
  CHECK ((renderer IS NULL) = (renderer_config IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX tool_overrides_by_toolset ON tool_overrides (workspace_id, toolset_id);

-- The toolset that has brought an MCP server.
ALTER TABLE upstreams ADD COLUMN toolset_id TEXT;

-- 1: the server was enabled when its toolset was disabled, and is enabled again with its toolset.
ALTER TABLE upstreams ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));

CREATE INDEX upstreams_of_toolsets ON upstreams (workspace_id, toolset_id) WHERE toolset_id IS NOT NULL;

-- Toolsets and MCP servers share their ids, because the ids of their tools have the same form.
CREATE TRIGGER toolsets_keep_server_ids BEFORE INSERT ON toolsets
WHEN EXISTS (SELECT 1 FROM upstreams WHERE workspace_id = NEW.workspace_id AND source = 'mcp' AND name = NEW.id) BEGIN
  SELECT RAISE(ABORT, 'the id of an MCP server');
END;

CREATE TRIGGER upstreams_keep_toolset_ids BEFORE INSERT ON upstreams
WHEN NEW.source = 'mcp' AND EXISTS (SELECT 1 FROM toolsets WHERE workspace_id = NEW.workspace_id AND id = NEW.name) BEGIN
  SELECT RAISE(ABORT, 'the id of a toolset');
END;

-- As before, with the files of toolsets.
DROP TRIGGER stale_blobs_deleted;

CREATE TRIGGER stale_blobs_deleted AFTER DELETE ON stale_blobs
WHEN NOT EXISTS (SELECT 1 FROM file_entries e INDEXED BY file_entries_by_blob
    WHERE e.workspace_id = OLD.workspace_id AND e.sha256 = OLD.sha256 AND e.first_use = 0)
  AND NOT EXISTS (SELECT 1 FROM blobs b CROSS JOIN file_entries e
      ON e.workspace_id = b.workspace_id AND e.tree_id = b.use_tree_id AND e.path = b.use_path AND e.label = b.use_label
    WHERE b.workspace_id = OLD.workspace_id AND b.sha256 = OLD.sha256 AND e.sha256 = OLD.sha256 AND e.first_use = 1)
  AND NOT EXISTS (SELECT 1 FROM call_blobs c INDEXED BY call_blobs_by_blob
    WHERE c.workspace_id = OLD.workspace_id AND c.sha256 = OLD.sha256)
  AND NOT EXISTS (SELECT 1 FROM toolset_files f INDEXED BY toolset_files_by_blob
    WHERE f.workspace_id = OLD.workspace_id AND f.sha256 = OLD.sha256)
BEGIN
  DELETE FROM blobs WHERE workspace_id = OLD.workspace_id AND sha256 = OLD.sha256;
END;
