-- How many emails of a person a search finds, if this person may have few. The count stops at ?7.
{bounds}
{few}
SELECT '' AS name, count(*) AS count FROM (
  SELECT 1 FROM people p CROSS JOIN emails_fts ON emails_fts.rowid = p.entry_id
  WHERE {found}
  AND p.address_id = (SELECT address_id FROM few) AND p.role = (SELECT role FROM few)
  AND p.entry_id BETWEEN (SELECT lo FROM bounds) AND (SELECT hi FROM bounds)
  UNION ALL
  SELECT 1 FROM emails_fts
  WHERE {found}
  AND emails_fts.rowid BETWEEN coalesce((SELECT lo FROM rest), 1 << 62) AND coalesce((SELECT hi FROM rest), 0)
  LIMIT +?7
)
