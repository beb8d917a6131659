-- `few` is one of the people in the search, if this person has at most 100 entries within the bounds. The search then
-- looks for the words in these entries, instead of checking for each entry with the words whether it is this person's.
-- `rest` is the part of the index that is still walked: everything within the bounds, or nothing if there is a row in
-- `few`.
, few (address_id, role) AS MATERIALIZED (
  SELECT who.address_id, who.role
  FROM bounds CROSS JOIN (SELECT sender AS address_id, 0 AS role FROM bounds UNION ALL SELECT recipient, 1 FROM bounds) who
  WHERE (SELECT count(*) FROM (SELECT 1 FROM people p
    WHERE p.address_id = who.address_id AND p.role = who.role AND p.entry_id BETWEEN bounds.lo AND bounds.hi LIMIT 101))
    BETWEEN 1 AND 100
  LIMIT 1
),
rest (lo, hi) AS (SELECT lo, hi FROM bounds WHERE NOT EXISTS (SELECT 1 FROM few))
