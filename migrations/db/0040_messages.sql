-- The messages of conversations (src/playground/messages). A message is written after its parent. Messages with the same
-- parent are branches of the conversation.
--
-- A line is a run of messages, each the parent of the next. A message continues the line of its parent, unless the
-- parent has been answered already: then the message begins a line. So a path from the first message to any message is
-- a few ranges of the index by line, and a page of a long path costs its own rows.
CREATE TABLE messages (
  -- The order of creation.
  key INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  -- The generation of the session, as for file manifests.
  generation INTEGER NOT NULL,
  id TEXT NOT NULL,
  -- NULL: the message begins a conversation.
  parent_id TEXT,
  -- How many messages are before it on its path.
  depth INTEGER NOT NULL CHECK (depth >= 0),
  line INTEGER NOT NULL,
  -- The depth of the first message of the line, and the line of that message's parent.
  line_start INTEGER NOT NULL,
  parent_line INTEGER,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  agent_id TEXT,
  -- The files of the session after the message. NULL: the session had no files.
  manifest_id TEXT,
  finish_reason TEXT
    CHECK (finish_reason IN ('stop', 'length', 'content-filter', 'tool-calls', 'error', 'other')),
  usage TEXT CHECK (json_type(usage) = 'object'),
  created_at TEXT NOT NULL,
  -- The bytes that the message counts with: 600, and those of its parts and metadata.
  bytes INTEGER NOT NULL,
  -- Into how many texts the parts are split, this row's own included.
  chunks INTEGER NOT NULL CHECK (chunks >= 1),
  metadata TEXT CHECK (metadata IS NULL OR json_valid(metadata)),
  -- The first text of the parts. The column is the last one, so that the others are read without it.
  parts TEXT NOT NULL,
  UNIQUE (workspace_id, session_id, generation, id),
  UNIQUE (workspace_id, session_id, generation, line, depth)
) STRICT;

-- Messages with the same parent.
CREATE INDEX messages_by_parent ON messages (workspace_id, session_id, generation, parent_id);
-- Retention keeps a file manifest that a message names.
CREATE INDEX messages_by_manifest ON messages (workspace_id, manifest_id) WHERE manifest_id IS NOT NULL;

-- A value in D1 holds at most 2 MB. These are the further texts of the parts of a large message.
CREATE TABLE message_chunks (
  message_key INTEGER NOT NULL REFERENCES messages (key) ON DELETE CASCADE,
  chunk INTEGER NOT NULL CHECK (chunk >= 1),
  parts TEXT NOT NULL,
  PRIMARY KEY (message_key, chunk)
) STRICT, WITHOUT ROWID;

-- The message that the session shows last. NULL until the first message.
ALTER TABLE sessions ADD COLUMN active_message_id TEXT;

-- Messages count toward the workspace's quota together with calls (0021_count_stored_bytes.sql).
CREATE TRIGGER messages_counted AFTER INSERT ON messages BEGIN
  INSERT INTO workspace_usage (workspace_id, files_bytes, calls_bytes) VALUES (NEW.workspace_id, 0, NEW.bytes)
  ON CONFLICT (workspace_id) DO UPDATE SET calls_bytes = calls_bytes + excluded.calls_bytes;
END;

CREATE TRIGGER messages_counted_again AFTER UPDATE OF bytes ON messages WHEN NEW.bytes <> OLD.bytes BEGIN
  UPDATE workspace_usage SET calls_bytes = calls_bytes + NEW.bytes - OLD.bytes WHERE workspace_id = NEW.workspace_id;
END;

CREATE TRIGGER messages_uncounted AFTER DELETE ON messages BEGIN
  UPDATE workspace_usage SET calls_bytes = calls_bytes - OLD.bytes WHERE workspace_id = OLD.workspace_id;
END;
