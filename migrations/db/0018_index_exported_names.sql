-- Providers take names of 64 letters, digits, _ and -, that begin with a letter or _. An id that is no such name is handed
-- out under one that holds its beginning and a hash (src/formats/names.rs). This finds such a tool again by the beginning;
-- src/registry/sought.rs has the same two expressions.
CREATE INDEX tools_by_exported_prefix ON tools (workspace_id, substr(replace(replace(id, '.', '_'), ':', '_'), 1, 49))
  WHERE length(id) > 64 OR id GLOB '*[^a-z0-9_-]*' OR id GLOB '[^a-z_]*';
