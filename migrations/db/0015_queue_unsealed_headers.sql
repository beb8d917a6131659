-- Versions whose handler has a header with a readable value. Literal values are stored sealed (src/registry/handler.rs),
-- but older versions of the Worker stored them as they were given, and only the Worker has the key. So the upkeep reads
-- this queue, seals what must be sealed, and empties the queue.
CREATE TABLE unsealed_versions (
  workspace_id TEXT NOT NULL,
  version_key INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, version_key)
) STRICT, WITHOUT ROWID;

INSERT INTO unsealed_versions (workspace_id, version_key)
  SELECT v.workspace_id, v.key FROM tool_versions v
  WHERE v.handler_key = 'http' AND EXISTS (SELECT 1 FROM json_each(v.handler, '$.headers') h WHERE h.type = 'text');

-- An older version of the Worker may still run while this migration lands.
CREATE TRIGGER tool_versions_unsealed AFTER INSERT ON tool_versions
WHEN NEW.handler_key = 'http' AND EXISTS (
  SELECT 1 FROM json_each(NEW.handler, '$.headers') h
  WHERE h.type = 'text' AND h.value <> '' AND instr(h.value, '${') = 0) BEGIN
  INSERT OR IGNORE INTO unsealed_versions (workspace_id, version_key) VALUES (NEW.workspace_id, NEW.key);
END;
