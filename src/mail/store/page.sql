-- The first ?7 emails that a search finds.
--
-- Crossed, so that the index is walked in its order, and the rest is read for the page alone. The bounds are sub-selects, for
-- a bound number reaches SQLite as REAL, which FTS5 ignores as a bound, as it does NULL. Where there is no bound they meet
-- nothing, and nothing is ranked.
{bounds}
SELECT {shown}
FROM emails_fts CROSS JOIN entries n ON n.id = emails_fts.rowid CROSS JOIN emails e ON e.id = n.email_id
WHERE {found}
AND emails_fts.rowid BETWEEN coalesce((SELECT lo FROM bounds), 1 << 62) AND coalesce((SELECT hi FROM bounds), 0)
ORDER BY {order} LIMIT ?7
