-- How many emails a search finds. The count stops at ?7.
{bounds}
SELECT '' AS name, count(*) AS count FROM (
  SELECT 1 FROM emails_fts
  WHERE {found}
  AND emails_fts.rowid BETWEEN coalesce((SELECT lo FROM bounds), 1 << 62) AND coalesce((SELECT hi FROM bounds), 0)
  LIMIT +?7
)
