-- Mail for the benchmarks: messages, the inboxes that hold them, and the indexes that find them there.
--
-- A search is inside one inbox. FTS5 restricts a search to a range of rowids at no cost. So each inbox owns a block of
-- 2^20 rowids, and a search reads the mail of its inbox only, however large the corpus is. Within a block, keys are in
-- the order of dates. So "newest first" reads the index backwards, and a date is a bound on the key.

-- One row for each message. Ids are in the order of insertion. The body is the last column: lists do not read past it.
CREATE TABLE emails (
  id INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL UNIQUE,
  inbox TEXT NOT NULL, -- the address of the mailbox's owner, whichever inboxes the message is found in
  subject TEXT,
  sender TEXT,
  recipients TEXT CHECK (json_type(recipients) = 'array'), -- To, Cc and Bcc, as JSON
  date TEXT, -- UTC, YYYY-MM-DDTHH:MM:SSZ
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  body TEXT
);

-- The inboxes that can be searched, and how many messages each holds. Addresses are in lower case.
CREATE TABLE inboxes (
  id INTEGER PRIMARY KEY CHECK (id > 0),
  inbox TEXT NOT NULL UNIQUE CHECK (inbox = lower(inbox)),
  emails INTEGER NOT NULL DEFAULT 0,
  lo INTEGER GENERATED ALWAYS AS (id << 20) VIRTUAL,
  hi INTEGER GENERATED ALWAYS AS ((id << 20) + 1048575) VIRTUAL
);

-- A message in an inbox. Under the owner rule a message has one entry. Under the participant rule it has one entry for
-- each inbox that it is in. Within a block, ids rise with (date, message_id): the program that adds mail chooses such
-- ids, and a trigger refuses others. Gaps are allowed.
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  email_id INTEGER NOT NULL REFERENCES emails (id),
  date TEXT NOT NULL, -- the message's date, or '' if it has none, which sorts before all dates
  inbox_id INTEGER GENERATED ALWAYS AS (id >> 20) VIRTUAL REFERENCES inboxes (id)
);
-- Finds the key at which a day begins.
CREATE INDEX entries_by_date ON entries (inbox_id, date);
CREATE INDEX entries_by_email ON entries (email_id);

-- The addresses of all senders and recipients, in lower case. An address stays here after its last message is deleted.
CREATE TABLE addresses (
  id INTEGER PRIMARY KEY,
  address TEXT NOT NULL UNIQUE CHECK (address = lower(address))
);

-- The entries that each address sent (role 0) and received (role 1), in the order of keys. The filters `from` and `to`
-- look here, for each entry that has the words, whether the entry matches. The first and the last entry of an address
-- bound the search.
CREATE TABLE people (
  address_id INTEGER NOT NULL REFERENCES addresses (id),
  role INTEGER NOT NULL CHECK (role IN (0, 1)),
  entry_id INTEGER NOT NULL,
  PRIMARY KEY (address_id, role, entry_id)
) WITHOUT ROWID;

CREATE VIEW entry_texts AS
SELECT n.id, e.subject, e.body FROM entries n JOIN emails e ON e.id = n.email_id;

-- An address that a message names twice in one role is here twice.
CREATE VIEW entry_people (entry_id, role, address) AS
SELECT n.id, 0, lower(e.sender) FROM entries n JOIN emails e ON e.id = n.email_id WHERE e.sender <> ''
UNION ALL
SELECT n.id, 1, lower(j.value) FROM entries n JOIN emails e ON e.id = n.email_id JOIN json_each(e.recipients) j
WHERE j.value <> '';

CREATE VIRTUAL TABLE emails_fts USING fts5 (subject, body, content = 'entry_texts', content_rowid = 'id');

-- The triggers keep the tables that are derived from emails and entries up to date, and refuse changes that would make
-- them wrong. A bulk load drops the triggers, fills the derived tables in one go, and creates the triggers again from
-- sqlite_schema:
--   INSERT INTO addresses (address) SELECT DISTINCT address FROM entry_people;
--   INSERT OR IGNORE INTO people SELECT a.id, role, entry_id FROM entry_people JOIN addresses a USING (address) ORDER BY 1, 2, 3;
--   INSERT INTO emails_fts (emails_fts) VALUES ('rebuild');
--   UPDATE inboxes SET emails = (SELECT count(*) FROM entries WHERE inbox_id = inboxes.id);

-- REPLACE would delete the old row without firing a trigger, and leave the old words in the index. (With another id,
-- REPLACE is refused by the foreign key of entries. `ON CONFLICT (message_id) DO UPDATE` works as usual.)
CREATE TRIGGER emails_bi BEFORE INSERT ON emails BEGIN
  SELECT raise(ABORT, 'an email has this id: delete it, or update it')
  WHERE EXISTS (SELECT 1 FROM emails WHERE id = new.id);
END;

-- The entries are deleted first, while their text is still there to be removed from the index.
CREATE TRIGGER emails_bd BEFORE DELETE ON emails BEGIN
  DELETE FROM entries WHERE email_id = old.id;
END;

CREATE TRIGGER emails_au AFTER UPDATE OF subject, body ON emails BEGIN
  INSERT INTO emails_fts (emails_fts, rowid, subject, body)
  SELECT 'delete', id, old.subject, old.body FROM entries WHERE email_id = old.id;
  INSERT INTO emails_fts (rowid, subject, body) SELECT id, new.subject, new.body FROM entries WHERE email_id = new.id;
END;

CREATE TRIGGER emails_bu_people BEFORE UPDATE OF sender, recipients ON emails BEGIN
  DELETE FROM people WHERE (address_id, role, entry_id) IN (
    SELECT a.id, p.role, p.entry_id FROM entry_people p JOIN addresses a USING (address)
    WHERE p.entry_id IN (SELECT id FROM entries WHERE email_id = old.id));
END;

CREATE TRIGGER emails_au_people AFTER UPDATE OF sender, recipients ON emails BEGIN
  INSERT INTO addresses (address) SELECT address FROM entry_people
  WHERE entry_id IN (SELECT id FROM entries WHERE email_id = new.id) ON CONFLICT DO NOTHING;
  INSERT INTO people (address_id, role, entry_id)
  SELECT a.id, p.role, p.entry_id FROM entry_people p JOIN addresses a USING (address)
  WHERE p.entry_id IN (SELECT id FROM entries WHERE email_id = new.id) ON CONFLICT DO NOTHING;
END;

-- The keys of a message's entries follow from its date and, among messages of one date, from its Message-ID.
CREATE TRIGGER emails_bu BEFORE UPDATE OF id, message_id, date ON emails BEGIN
  SELECT raise(ABORT, 'an email keeps its id, Message-ID and date: delete it and insert another');
END;

CREATE TRIGGER entries_bi BEFORE INSERT ON entries BEGIN
  SELECT raise(ABORT, 'an entry has this id: delete it first') WHERE EXISTS (SELECT 1 FROM entries WHERE id = new.id);
  SELECT raise(ABORT, 'the id of an entry is in the block of an inbox')
  WHERE NOT EXISTS (SELECT 1 FROM inboxes WHERE id = new.id >> 20);
  SELECT raise(ABORT, 'an entry has the date of its email')
  WHERE new.date IS NOT (SELECT coalesce(date, '') FROM emails WHERE id = new.email_id);
  SELECT raise(ABORT, 'ids of entries rise with dates and Message-IDs')
  FROM emails e
  WHERE e.id = new.email_id AND (
    (SELECT (b.date, before.message_id) >= (new.date, e.message_id) FROM entries b JOIN emails before ON before.id = b.email_id
      WHERE b.id < new.id AND b.id >= (new.id >> 20) << 20 ORDER BY b.id DESC LIMIT 1)
    OR (SELECT (a.date, after.message_id) <= (new.date, e.message_id) FROM entries a JOIN emails after ON after.id = a.email_id
      WHERE a.id > new.id AND a.id < ((new.id >> 20) + 1) << 20 ORDER BY a.id LIMIT 1));
END;

CREATE TRIGGER entries_ai AFTER INSERT ON entries BEGIN
  INSERT INTO emails_fts (rowid, subject, body) SELECT new.id, subject, body FROM emails WHERE id = new.email_id;
  INSERT INTO addresses (address) SELECT address FROM entry_people WHERE entry_id = new.id ON CONFLICT DO NOTHING;
  INSERT INTO people (address_id, role, entry_id)
  SELECT a.id, p.role, p.entry_id FROM entry_people p JOIN addresses a USING (address)
  WHERE p.entry_id = new.id ON CONFLICT DO NOTHING;
  UPDATE inboxes SET emails = emails + 1 WHERE id = new.inbox_id;
END;

CREATE TRIGGER entries_bd BEFORE DELETE ON entries BEGIN
  INSERT INTO emails_fts (emails_fts, rowid, subject, body)
  SELECT 'delete', old.id, subject, body FROM emails WHERE id = old.email_id;
  DELETE FROM people WHERE (address_id, role, entry_id) IN (
    SELECT a.id, p.role, p.entry_id FROM entry_people p JOIN addresses a USING (address) WHERE p.entry_id = old.id);
  UPDATE inboxes SET emails = emails - 1 WHERE id = old.id >> 20;
END;

CREATE TRIGGER entries_bu BEFORE UPDATE ON entries BEGIN
  SELECT raise(ABORT, 'an entry keeps its place: delete it and insert another');
END;
