-- What readers reported to the operator. No other reader ever sees it, and nothing is hidden because of it.
CREATE TABLE reports (
  id bigint PRIMARY KEY,
  at bigint NOT NULL,
  work integer NOT NULL REFERENCES blocks (i), -- first block of the work
  block integer NOT NULL REFERENCES blocks (i), -- that the reader meant
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 20),
  note text CHECK (length(note) BETWEEN 1 AND 400),
  reporter text NOT NULL CHECK (length(reporter) = 32), -- a keyed hash of the address; the key is forgotten after its day
  delivered integer NOT NULL DEFAULT 0 CHECK (delivered IN (0, 1)), -- to the webhook
  closed_at bigint,
  closed_by text CHECK (length(closed_by) BETWEEN 1 AND 64),
  outcome text CHECK (outcome IN ('hidden', 'dismissed')),
  why text CHECK (length(why) BETWEEN 1 AND 200),
  CHECK ((closed_at IS NULL) = (outcome IS NULL)),
  UNIQUE (work, reporter)
);
CREATE INDEX open_reports ON reports (work) WHERE closed_at IS NULL;

ALTER TABLE wall ADD COLUMN report_key text; -- day and key of the hashes of reporters
