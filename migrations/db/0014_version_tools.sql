-- Versions come and go by decisions that were made on a reading. `revision` counts them, so that one decided on an old
-- reading is refused.
ALTER TABLE tools ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;

-- Versions that were switched off because they are dangerous. Nothing brings one back: neither a decision, nor a
-- restored backup, nor a new registration under the same number.
CREATE TABLE banned_versions (
  workspace_id TEXT NOT NULL,
  tool_id TEXT NOT NULL,
  major INTEGER NOT NULL,
  minor INTEGER NOT NULL,
  patch INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, tool_id, major, minor, patch)
) STRICT, WITHOUT ROWID;

INSERT INTO banned_versions (workspace_id, tool_id, major, minor, patch)
  SELECT v.workspace_id, t.id, v.major, v.minor, v.patch FROM tool_versions v JOIN tools t ON t.key = v.tool_key
  WHERE v.deactivated_reason = 'security';

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

-- The active version is found by its own index, the highest by another: what switching costs does not grow with the
-- number of versions.
DROP TRIGGER tool_versions_inserted;
DROP TRIGGER tool_versions_switched;

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

-- Asked whenever a version is deleted, for the foreign key.
CREATE INDEX tools_by_current_version ON tools (current_version_key);
