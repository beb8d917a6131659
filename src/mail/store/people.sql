-- The people whom a text stands for, with the first and the last entry that each of them sent (role 0) or received (role 1)
-- in the inbox ?2: the address {text} itself or, if there is no such address, those of the best 100 addresses with the words
-- {words} that have entries there, at most ten.
SELECT * FROM (
  SELECT {role} AS role, c.id AS id,
    (SELECT p.entry_id FROM people p WHERE p.address_id = c.id AND p.role = {role}
      AND p.entry_id BETWEEN i.lo AND i.hi ORDER BY p.entry_id LIMIT 1) AS first,
    (SELECT p.entry_id FROM people p WHERE p.address_id = c.id AND p.role = {role}
      AND p.entry_id BETWEEN i.lo AND i.hi ORDER BY p.entry_id DESC LIMIT 1) AS last
  FROM inboxes i CROSS JOIN (
    SELECT a.id FROM addresses a WHERE a.address = {text}
    UNION ALL
    SELECT * FROM (SELECT address_words.rowid FROM address_words
      WHERE address_words MATCH {words} AND NOT EXISTS (SELECT 1 FROM addresses a WHERE a.address = {text})
      ORDER BY rank LIMIT 100)
  ) c
  WHERE i.inbox = ?2
) WHERE first IS NOT NULL LIMIT 10
