-- What readers reported to the operator. No other reader ever sees it, and nothing is hidden because of it.
CREATE TABLE reports (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  work INTEGER NOT NULL REFERENCES blocks (i), -- first block of the work
  block INTEGER NOT NULL REFERENCES blocks (i), -- that the reader meant
  reason TEXT NOT NULL CHECK (length(reason) BETWEEN 1 AND 20),
  note TEXT CHECK (length(note) BETWEEN 1 AND 400),
  reporter TEXT NOT NULL CHECK (length(reporter) = 32), -- a keyed hash of the address; the key is forgotten after its day
  delivered INTEGER NOT NULL DEFAULT 0 CHECK (delivered IN (0, 1)), -- to the webhook
  closed_at INTEGER,
  closed_by TEXT CHECK (length(closed_by) BETWEEN 1 AND 64),
  outcome TEXT CHECK (outcome IN ('hidden', 'dismissed')),
  why TEXT CHECK (length(why) BETWEEN 1 AND 200),
  CHECK ((closed_at IS NULL) = (outcome IS NULL)),
  UNIQUE (work, reporter)
) STRICT;
CREATE INDEX open_reports ON reports (work) WHERE closed_at IS NULL;

ALTER TABLE wall ADD COLUMN report_key TEXT; -- day and key of the hashes of reporters
