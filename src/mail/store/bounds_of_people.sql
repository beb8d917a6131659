-- The bounds of a search for a sender ?5 or a recipient ?6. This is a file of its own, because SQLite takes longer to
-- prepare this part than to run most searches.
WITH bounds (lo, hi, sender, recipient) AS MATERIALIZED (
  SELECT
    max(
      iif(?3 IS NULL, i.lo, (SELECT n.id FROM entries n
        WHERE n.inbox_id = i.id AND n.date >= ?3 ORDER BY n.date, n.id LIMIT 1)),
      iif(?5 IS NULL, i.lo, (SELECT p.entry_id FROM people p
        WHERE p.address_id = s.id AND p.role = 0 AND p.entry_id BETWEEN i.lo AND i.hi ORDER BY p.entry_id LIMIT 1)),
      iif(?6 IS NULL, i.lo, (SELECT p.entry_id FROM people p
        WHERE p.address_id = r.id AND p.role = 1 AND p.entry_id BETWEEN i.lo AND i.hi ORDER BY p.entry_id LIMIT 1))),
    min(
      iif(?4 IS NULL, i.hi, (SELECT n.id FROM entries n
        WHERE n.inbox_id = i.id AND n.date < ?4 ORDER BY n.date DESC, n.id DESC LIMIT 1)),
      iif(?5 IS NULL, i.hi, (SELECT p.entry_id FROM people p
        WHERE p.address_id = s.id AND p.role = 0 AND p.entry_id BETWEEN i.lo AND i.hi ORDER BY p.entry_id DESC LIMIT 1)),
      iif(?6 IS NULL, i.hi, (SELECT p.entry_id FROM people p
        WHERE p.address_id = r.id AND p.role = 1 AND p.entry_id BETWEEN i.lo AND i.hi ORDER BY p.entry_id DESC LIMIT 1))),
    s.id, r.id
  FROM inboxes i LEFT JOIN addresses s ON s.address = ?5 LEFT JOIN addresses r ON r.address = ?6
  WHERE i.inbox = ?2
)
