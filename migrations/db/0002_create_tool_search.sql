-- One inverted index answers every list of tools: what people search for is in the first
-- three columns, what programs filter by is in `facets`, a word per fact. FTS5 intersects
-- the words in rowid order, so a page of any filter, or any combination, reads its own
-- rows and no others. The words (src/registry/filter.rs writes the same):
--   w<ws> of the workspace   a<ws> of the workspace and active   i<id>   c<category>
--   r<risk> m<mode> z<class> s<source>   p<capability> d<credential> e<effect_type>
-- where open text is in hex, so that any text is one word.
CREATE VIRTUAL TABLE tool_search USING fts5 (tool_id, name, description, facets);

-- Every capability that some tool of the workspace asks for. A filter by capabilities
-- leaves out the tools that ask for one of the others.
CREATE TABLE workspace_capabilities (
  workspace_id TEXT NOT NULL,
  capability TEXT NOT NULL,
  PRIMARY KEY (workspace_id, capability)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tool_versions_inserted AFTER INSERT ON tool_versions BEGIN
  INSERT OR IGNORE INTO workspace_capabilities (workspace_id, capability)
    SELECT NEW.workspace_id, value FROM json_each(NEW.required_capabilities);
  UPDATE tools SET current_version_key = (
      SELECT key FROM tool_versions WHERE tool_key = NEW.tool_key
      ORDER BY active DESC, major DESC, minor DESC, patch DESC LIMIT 1)
    WHERE key = NEW.tool_key;
END;

CREATE TRIGGER tool_versions_switched AFTER UPDATE OF active ON tool_versions BEGIN
  UPDATE tools SET current_version_key = (
      SELECT key FROM tool_versions WHERE tool_key = NEW.tool_key
      ORDER BY active DESC, major DESC, minor DESC, patch DESC LIMIT 1)
    WHERE key = NEW.tool_key;
END;

-- Fires on every SET of the column, so also when a version is switched off and stays the current one.
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
