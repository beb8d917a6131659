-- Where in the index a search looks, in one row; in none, if the inbox is unknown. Words and inbox are ?1 and ?2, the days from
-- and before which ?3 and ?4. A bound that is not there is NULL: nothing can be found.
WITH bounds (lo, hi) AS (
  SELECT
    iif(?3 IS NULL, i.lo, (SELECT n.id FROM entries n
      WHERE n.inbox_id = i.id AND n.date >= ?3 ORDER BY n.date, n.id LIMIT 1)),
    iif(?4 IS NULL, i.hi, (SELECT n.id FROM entries n
      WHERE n.inbox_id = i.id AND n.date < ?4 ORDER BY n.date DESC, n.id DESC LIMIT 1))
  FROM inboxes i WHERE i.inbox = ?2
)
