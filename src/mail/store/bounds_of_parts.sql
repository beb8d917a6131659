-- The bounds of a search for senders and recipients of whom ?5 and ?6 are only a part, with the words ?8 and ?9. The
-- people's own first and last entries are bounds too.
WITH named (role, id, first, last) AS MATERIALIZED (
  SELECT * FROM (
{senders}
)
  UNION ALL SELECT * FROM (
{recipients}
)
),
bounds (lo, hi) AS MATERIALIZED (
  SELECT
    max(
      iif(?3 IS NULL, i.lo, (SELECT n.id FROM entries n
        WHERE n.inbox_id = i.id AND n.date >= ?3 ORDER BY n.date, n.id LIMIT 1)),
      iif(?5 IS NULL, i.lo, (SELECT min(first) FROM named WHERE role = 0)),
      iif(?6 IS NULL, i.lo, (SELECT min(first) FROM named WHERE role = 1))),
    min(
      iif(?4 IS NULL, i.hi, (SELECT n.id FROM entries n
        WHERE n.inbox_id = i.id AND n.date < ?4 ORDER BY n.date DESC, n.id DESC LIMIT 1)),
      iif(?5 IS NULL, i.hi, (SELECT max(last) FROM named WHERE role = 0)),
      iif(?6 IS NULL, i.hi, (SELECT max(last) FROM named WHERE role = 1)))
  FROM inboxes i WHERE i.inbox = ?2
)
