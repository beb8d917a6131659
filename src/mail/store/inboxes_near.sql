-- The inbox ?1, as a figure; or all inboxes, as figures, if there is no such inbox. The inboxes are the inner loop, so that
-- none is read if there is one.
SELECT inbox AS name, emails AS count FROM inboxes WHERE inbox = ?1
UNION ALL
SELECT * FROM (
  SELECT i.inbox, i.emails FROM (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM inboxes WHERE inbox = ?1)) CROSS JOIN inboxes i
  LIMIT 1000
)
