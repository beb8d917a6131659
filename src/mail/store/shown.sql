-- The columns of an email in the response. The tool's own schema checks them.
e.message_id, e.subject, e.sender, e.date,
  'Subject: ' || coalesce(snippet(emails_fts, 0, '<mark>', '</mark>', '...', 32), '')
  || ' | Body: ' || coalesce(snippet(emails_fts, 1, '<mark>', '</mark>', '...', 64), '') AS snippet
