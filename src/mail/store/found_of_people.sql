-- A condition: the entry has the words, the sender and the recipient of the search.
emails_fts MATCH ?1
AND (?5 IS NULL OR EXISTS (SELECT 1 FROM people w
  WHERE w.address_id = (SELECT sender FROM bounds) AND w.role = 0 AND w.entry_id = emails_fts.rowid))
AND (?6 IS NULL OR EXISTS (SELECT 1 FROM people w
  WHERE w.address_id = (SELECT recipient FROM bounds) AND w.role = 1 AND w.entry_id = emails_fts.rowid))
