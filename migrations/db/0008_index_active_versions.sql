-- The active versions of a workspace, in the order in which their tools were created. A list of tools without a filter
-- is a range of this index, at a third of the cost of a query of tool_search.
-- As before, the index allows one active version per tool: a tool has one workspace.
DROP INDEX tool_versions_one_active;
CREATE UNIQUE INDEX tool_versions_active ON tool_versions (workspace_id, tool_key) WHERE active = 1;

-- The same triggers as in 0004_registry.sql, except that they find the active version by the new index.
DROP TRIGGER tool_versions_inserted;
CREATE TRIGGER tool_versions_inserted AFTER INSERT ON tool_versions BEGIN
  INSERT OR IGNORE INTO workspace_capabilities (workspace_id, capability)
    SELECT NEW.workspace_id, value FROM json_each(NEW.required_capabilities);
  UPDATE tools SET current_version_key = coalesce(
      (SELECT key FROM tool_versions WHERE workspace_id = NEW.workspace_id AND tool_key = NEW.tool_key AND active = 1),
      (SELECT key FROM tool_versions WHERE tool_key = NEW.tool_key ORDER BY major DESC, minor DESC, patch DESC LIMIT 1))
    WHERE key = NEW.tool_key;
END;

DROP TRIGGER tool_versions_switched;
CREATE TRIGGER tool_versions_switched AFTER UPDATE OF active ON tool_versions BEGIN
  UPDATE tools SET current_version_key = coalesce(
      (SELECT key FROM tool_versions WHERE workspace_id = NEW.workspace_id AND tool_key = NEW.tool_key AND active = 1),
      (SELECT key FROM tool_versions WHERE tool_key = NEW.tool_key ORDER BY major DESC, minor DESC, patch DESC LIMIT 1))
    WHERE key = NEW.tool_key;
END;
