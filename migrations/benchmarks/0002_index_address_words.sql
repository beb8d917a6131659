-- The words of addresses, so that `from` and `to` find a person by a part of an address: `belden`, `tim bel`. No display
-- names are stored, but most addresses are made of a person's names. FTS5 splits an address at its dots and at its @.
CREATE VIRTUAL TABLE address_words USING fts5 (address, content = 'addresses', content_rowid = 'id');
INSERT INTO address_words (address_words) VALUES ('rebuild');

-- A bulk load drops these triggers too, and fills the index in one go:
--   INSERT INTO address_words (address_words) VALUES ('rebuild');
CREATE TRIGGER addresses_ai AFTER INSERT ON addresses BEGIN
  INSERT INTO address_words (rowid, address) VALUES (new.id, new.address);
END;

CREATE TRIGGER addresses_ad AFTER DELETE ON addresses BEGIN
  INSERT INTO address_words (address_words, rowid, address) VALUES ('delete', old.id, old.address);
END;

CREATE TRIGGER addresses_bu BEFORE UPDATE ON addresses BEGIN
  SELECT raise(ABORT, 'an address stays as it is: delete it and insert another');
END;
