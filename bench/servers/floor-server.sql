PRAGMA journal_mode = WAL;

CREATE TABLE log (number INTEGER PRIMARY KEY, block INTEGER, message TEXT, pixels BLOB);

CREATE TABLE blocks (i INTEGER PRIMARY KEY, message TEXT, pixels BLOB);

INSERT INTO log (block, message, pixels) VALUES ($block, $message, $pixels);

INSERT OR REPLACE INTO blocks (i, message, pixels) VALUES ($block, $message, $pixels);
