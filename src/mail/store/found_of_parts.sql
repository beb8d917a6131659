-- A condition: the entry has the words, and one of the named senders and one of the named recipients.
emails_fts MATCH ?1
AND (?5 IS NULL OR EXISTS (SELECT 1 FROM people w
  WHERE w.address_id IN (SELECT id FROM named WHERE role = 0) AND w.role = 0 AND w.entry_id = emails_fts.rowid))
AND (?6 IS NULL OR EXISTS (SELECT 1 FROM people w
  WHERE w.address_id IN (SELECT id FROM named WHERE role = 1) AND w.role = 1 AND w.entry_id = emails_fts.rowid))
