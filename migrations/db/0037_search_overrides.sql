-- Full-text search finds a tool by the name and the description that its override gives it, as responses show them.
DROP TRIGGER tools_current_changed;

-- As before, with the override.
--
-- Fires on every SET of the column, even to the same value: a version that is switched off may stay the current one,
-- and the word a<ws> must go.
CREATE TRIGGER tools_current_changed AFTER UPDATE OF current_version_key ON tools BEGIN
  DELETE FROM tool_search WHERE rowid = NEW.key;
  INSERT INTO tool_search (rowid, tool_id, name, description, facets)
    SELECT NEW.key, NEW.id, coalesce(o.name_override, v.name), coalesce(o.description_override, v.description),
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
    FROM tool_versions v
    -- The key is null for tools that cannot have an override, and a null key reads no row.
    LEFT JOIN tool_overrides o
      ON o.workspace_id = iif(NEW.source IN ('toolset', 'mcp'), NEW.workspace_id, NULL) AND o.tool_id = NEW.id
    WHERE v.key = NEW.current_version_key;
END;

-- An override that is written or deleted has its tool indexed again.
CREATE TRIGGER tool_overrides_inserted AFTER INSERT ON tool_overrides
WHEN NEW.name_override IS NOT NULL OR NEW.description_override IS NOT NULL BEGIN
  UPDATE tools SET current_version_key = current_version_key
  WHERE workspace_id = NEW.workspace_id AND id = NEW.tool_id AND source IN ('toolset', 'mcp');
END;

CREATE TRIGGER tool_overrides_updated AFTER UPDATE ON tool_overrides
WHEN OLD.name_override IS NOT NEW.name_override OR OLD.description_override IS NOT NEW.description_override BEGIN
  UPDATE tools SET current_version_key = current_version_key
  WHERE workspace_id = NEW.workspace_id AND id = NEW.tool_id AND source IN ('toolset', 'mcp');
END;

CREATE TRIGGER tool_overrides_deleted AFTER DELETE ON tool_overrides
WHEN OLD.name_override IS NOT NULL OR OLD.description_override IS NOT NULL BEGIN
  UPDATE tools SET current_version_key = current_version_key
  WHERE workspace_id = OLD.workspace_id AND id = OLD.tool_id AND source IN ('toolset', 'mcp');
END;
