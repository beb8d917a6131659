-- The first ?7 emails that a search finds.
--
-- The joins are CROSS JOINs, so that SQLite walks the index in its order and reads the other tables only for the page.
-- The bounds are sub-selects, because a bound parameter reaches SQLite as REAL, and FTS5 ignores a REAL as a bound, as
-- it ignores NULL. If there is no bound, the range is empty and FTS5 ranks nothing.
{bounds}
SELECT {shown}
FROM emails_fts CROSS JOIN entries n ON n.id = emails_fts.rowid CROSS JOIN emails e ON e.id = n.email_id
WHERE {found}
AND emails_fts.rowid BETWEEN coalesce((SELECT lo FROM bounds), 1 << 62) AND coalesce((SELECT hi FROM bounds), 0)
ORDER BY {order} LIMIT +?7
