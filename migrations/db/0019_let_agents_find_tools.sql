-- Whether an agent is shown two tools over MCP, to find others by what they do and to call them, instead of all that it has.
ALTER TABLE agents ADD COLUMN find_tools INTEGER NOT NULL DEFAULT 0 CHECK (find_tools IN (0, 1));
