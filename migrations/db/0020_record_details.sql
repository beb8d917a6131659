-- What a call tells besides its arguments and its result: {output, warnings}, or NULL. The column is part of the call's
-- row, so that it costs no further row.
ALTER TABLE tool_calls ADD COLUMN details TEXT CHECK (details IS NULL OR json_valid(details));
