-- Finds the changes that one token made ("what did the stolen token do?"), however long the log is.
-- Partial: changes by other operators (root, anonymous, pegboard) pay for no index row. Other filters of the log that no
-- index knows look at a bounded number of rows instead (src/history/store.rs).
-- The condition is no GLOB, because SQLite would then walk along all tokens instead of one.
CREATE INDEX changes_by_token ON changes (workspace_id, operator, seq) WHERE substr(operator, 1, 4) = 'tok_';
