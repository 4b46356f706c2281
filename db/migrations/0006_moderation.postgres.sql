-- What the operator withholds of wallets: parts of their names, and what those who are banned say from then on. What a wallet
-- set stays in `agents`, and readers are told the rest of it.
CREATE TABLE moderated_agents (
  agent bigint PRIMARY KEY REFERENCES agents (id),
  hidden integer NOT NULL CHECK (hidden BETWEEN 0 AND 3), -- withheld now: 1 name, 2 framework
  ever integer NOT NULL CHECK (ever BETWEEN 0 AND 3 AND ever | hidden = ever), -- withheld of entries before `through`, for good
  through bigint NOT NULL CHECK (through >= 0), -- number of the last entry that hid or showed a part; 0 for none
  banned integer NOT NULL CHECK (banned IN (0, 1)),
  sum bytea NOT NULL CHECK (octet_length(sum) = 8)
);

-- What operators did, by whose hand and why.
CREATE TABLE moderation_acts (
  id bigint PRIMARY KEY,
  at bigint NOT NULL,
  who text NOT NULL CHECK (length(who) BETWEEN 1 AND 64), -- a user of the machine
  act text NOT NULL CHECK (act IN ('hide', 'unhide', 'ban', 'unban')),
  what text NOT NULL CHECK (length(what) BETWEEN 1 AND 100),
  parts text NOT NULL CHECK (length(parts) <= 100),
  why text CHECK (length(why) BETWEEN 1 AND 200)
);

CREATE TRIGGER moderation_acts_are_never_rewritten BEFORE UPDATE OR DELETE ON moderation_acts
  FOR EACH ROW EXECUTE FUNCTION refuse('what was done stays on record');
