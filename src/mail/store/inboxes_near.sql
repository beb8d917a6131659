-- The inbox ?1, as a figure; or all inboxes, as figures, if there is no such inbox.
SELECT inbox AS name, emails AS count FROM inboxes WHERE inbox = ?1
UNION ALL
SELECT * FROM (SELECT inbox, emails FROM inboxes
  WHERE NOT EXISTS (SELECT 1 FROM inboxes WHERE inbox = ?1) ORDER BY inbox LIMIT 1000)
