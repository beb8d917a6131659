-- The newest ?7 emails of a person that a search finds, if this person may have few. One of the two parts is always
-- empty. So the other part sets the order, and nothing has to be sorted.
{bounds}
{few}
SELECT * FROM (
  SELECT {shown}
  FROM people p CROSS JOIN emails_fts ON emails_fts.rowid = p.entry_id
    CROSS JOIN entries n ON n.id = p.entry_id CROSS JOIN emails e ON e.id = n.email_id
  WHERE {found}
  AND p.address_id = (SELECT address_id FROM few) AND p.role = (SELECT role FROM few)
  AND p.entry_id BETWEEN (SELECT lo FROM bounds) AND (SELECT hi FROM bounds)
  ORDER BY p.entry_id DESC LIMIT +?7
)
UNION ALL
SELECT * FROM (
  SELECT {shown}
  FROM emails_fts CROSS JOIN entries n ON n.id = emails_fts.rowid CROSS JOIN emails e ON e.id = n.email_id
  WHERE {found}
  AND emails_fts.rowid BETWEEN coalesce((SELECT lo FROM rest), 1 << 62) AND coalesce((SELECT hi FROM rest), 0)
  ORDER BY emails_fts.rowid DESC LIMIT +?7
)
