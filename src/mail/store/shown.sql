-- What is answered of an email: the tool's own schema is held against it.
e.message_id, e.subject, e.sender, e.date,
  'Subject: ' || coalesce(snippet(emails_fts, 0, '<mark>', '</mark>', '...', 32), '')
  || ' | Body: ' || coalesce(snippet(emails_fts, 1, '<mark>', '</mark>', '...', 64), '') AS snippet
