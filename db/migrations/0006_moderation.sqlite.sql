-- What the operator withholds of wallets: parts of their names, and what those who are banned say from then on. What a wallet
-- set stays in `agents`, and readers are told the rest of it.
CREATE TABLE moderated_agents (
  agent INTEGER PRIMARY KEY REFERENCES agents (id),
  hidden INTEGER NOT NULL CHECK (hidden BETWEEN 0 AND 3), -- withheld now: 1 name, 2 framework
  ever INTEGER NOT NULL CHECK (ever BETWEEN 0 AND 3 AND ever | hidden = ever), -- withheld of entries before `through`, for good
  through INTEGER NOT NULL CHECK (through >= 0), -- number of the last entry that hid or showed a part; 0 for none
  banned INTEGER NOT NULL CHECK (banned IN (0, 1)),
  sum BLOB CHECK (length(sum) = 8)
) STRICT;

-- What operators did, by whose hand and why.
CREATE TABLE moderation_acts (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  who TEXT NOT NULL CHECK (length(who) BETWEEN 1 AND 64), -- a user of the machine
  act TEXT NOT NULL CHECK (act IN ('hide', 'unhide', 'ban', 'unban')),
  what TEXT NOT NULL CHECK (length(what) BETWEEN 1 AND 100),
  parts TEXT NOT NULL CHECK (length(parts) <= 100),
  why TEXT CHECK (length(why) BETWEEN 1 AND 200)
) STRICT;

CREATE TRIGGER moderation_acts_are_never_rewritten BEFORE UPDATE ON moderation_acts
BEGIN
  SELECT RAISE(ABORT, 'what was done stays on record');
END;

CREATE TRIGGER moderation_acts_are_never_deleted BEFORE DELETE ON moderation_acts
BEGIN
  SELECT RAISE(ABORT, 'what was done stays on record');
END;
