-- One of those who are asked for, if there are at most 100 entries of theirs within the bounds: then the words are looked for
-- in these, instead of asking of everything with the words whether it is theirs. The index is walked through the rest:
-- all there is within the bounds, or, if there are few, nothing.
, few (address_id, role) AS MATERIALIZED (
  SELECT who.address_id, who.role
  FROM bounds CROSS JOIN (SELECT sender AS address_id, 0 AS role FROM bounds UNION ALL SELECT recipient, 1 FROM bounds) who
  WHERE (SELECT count(*) FROM (SELECT 1 FROM people p
    WHERE p.address_id = who.address_id AND p.role = who.role AND p.entry_id BETWEEN bounds.lo AND bounds.hi LIMIT 101))
    BETWEEN 1 AND 100
  LIMIT 1
),
rest (lo, hi) AS (SELECT lo, hi FROM bounds WHERE NOT EXISTS (SELECT 1 FROM few))
