-- The bounds of a search in the index, as one row. There is no row if the inbox is unknown. ?1 is the words, ?2 the
-- inbox, ?3 the first day and ?4 the day after the last. A bound is NULL if no entry lies within it: then nothing can
-- be found.
WITH bounds (lo, hi) AS (
  SELECT
    iif(?3 IS NULL, i.lo, (SELECT n.id FROM entries n
      WHERE n.inbox_id = i.id AND n.date >= ?3 ORDER BY n.date, n.id LIMIT 1)),
    iif(?4 IS NULL, i.hi, (SELECT n.id FROM entries n
      WHERE n.inbox_id = i.id AND n.date < ?4 ORDER BY n.date DESC, n.id DESC LIMIT 1))
  FROM inboxes i WHERE i.inbox = ?2
)
