-- The wall: its blocks, the payments for them, the wallets that bought, and the log of everything visible.
-- What must never be is refused here, so that no code above can get it wrong: a second owner, a payment used twice,
-- a sale taken back, a log rewritten.
-- Times are Unix milliseconds unless a name says otherwise; wallets, nonces, digests and hashes are lower-case hex.
-- `sum` is a hash of the rest of its row, so that a bit that turns over in the file is noticed.

-- 'wall', so that another program's file is not taken for ours.
PRAGMA application_id = 0x77616c6c;

CREATE TABLE wall (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  network TEXT NOT NULL, -- CAIP-2; money of one network never buys on the wall of another
  seen_height INTEGER CHECK (seen_height >= 0), -- chain height to which all that arrived was compared with the purchases
  sum BLOB CHECK (length(sum) = 8)
) STRICT;

CREATE TABLE agents (
  id INTEGER PRIMARY KEY CHECK (id >= 1), -- dense, because rows are never deleted
  wallet TEXT NOT NULL UNIQUE CHECK (wallet GLOB '0x*' AND length(wallet) = 42),
  name TEXT,
  framework TEXT,
  first_seen_at INTEGER NOT NULL,
  changed INTEGER NOT NULL, -- number of the last word on the identity; no reference, because the buyer is entered first
  sum BLOB CHECK (length(sum) = 8)
) STRICT;

CREATE TABLE payments (
  id INTEGER PRIMARY KEY,
  payer TEXT NOT NULL CHECK (payer GLOB '0x*' AND length(payer) = 42),
  nonce TEXT NOT NULL CHECK (nonce GLOB '0x*' AND length(nonce) = 66),
  pay_to TEXT NOT NULL CHECK (pay_to GLOB '0x*' AND length(pay_to) = 42),
  asset TEXT NOT NULL CHECK (asset GLOB '0x*' AND length(asset) = 42),
  network TEXT NOT NULL,
  scheme TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  valid_after INTEGER NOT NULL, -- Unix seconds
  valid_before INTEGER NOT NULL, -- Unix seconds
  signature TEXT NOT NULL CHECK (signature GLOB '0x*'),
  target INTEGER REFERENCES blocks (i), -- NULL asks for the next open block
  block INTEGER NOT NULL REFERENCES blocks (i), -- held, sold, or held last
  name TEXT,
  framework TEXT,
  message TEXT,
  link TEXT,
  pixels BLOB CHECK (length(pixels) = 100),
  head INTEGER NOT NULL CHECK (head >= 0), -- chain height before the payment was first verified
  created_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'sold', 'released', 'credited')),
  doubted INTEGER NOT NULL DEFAULT 0 CHECK (doubted = 0 OR (doubted = 1 AND state = 'reserved')),
  dead INTEGER NOT NULL DEFAULT 0 CHECK (dead = 0 OR (dead = 1 AND state = 'released')),
  settled INTEGER NOT NULL DEFAULT 0 CHECK (settled = 0 OR (settled = 1 AND state = 'sold')),
  looks INTEGER NOT NULL DEFAULT 0 CHECK (looks = 0 OR (looks IN (1, 2) AND state = 'sold')), -- back at a sale; 2 is the last
  receipt_owed INTEGER NOT NULL DEFAULT 0 CHECK (receipt_owed = 0 OR (receipt_owed = 1 AND state = 'sold')),
  tx TEXT CHECK (tx GLOB '0x*' AND length(tx) = 66), -- not unique: one transaction can move several payments
  seq INTEGER UNIQUE REFERENCES changes (seq),
  claimed_at INTEGER,
  sum BLOB CHECK (length(sum) = 8),
  UNIQUE (payer, nonce), -- one authorization, one purchase, for ever
  CHECK ((tx IS NOT NULL) = (state IN ('sold', 'credited'))),
  CHECK ((seq IS NOT NULL) = (state = 'sold')),
  CHECK ((claimed_at IS NOT NULL) = (state = 'sold'))
) STRICT;

-- Two payers of one block cannot be written at all.
CREATE UNIQUE INDEX one_payment_per_block ON payments (block) WHERE state IN ('reserved', 'sold');
CREATE INDEX owed_receipts ON payments (payer) WHERE receipt_owed = 1;
CREATE INDEX unfinished ON payments (state, payer)
  WHERE state = 'reserved' OR (state = 'released' AND dead = 0) OR (state = 'sold' AND looks < 2);

CREATE TABLE blocks (
  i INTEGER PRIMARY KEY CHECK (i BETWEEN 0 AND 14399), -- row * 160 + column
  rank INTEGER NOT NULL UNIQUE, -- place in the order of sale, from 0 at the centre
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'reserved', 'claimed')),
  payment INTEGER UNIQUE REFERENCES payments (id),
  agent INTEGER REFERENCES agents (id),
  pixels BLOB CHECK (length(pixels) = 100),
  message TEXT,
  link TEXT,
  changed INTEGER REFERENCES changes (number), -- last word on what it shows
  sum BLOB CHECK (length(sum) = 8), -- NULL until somebody first wants the block
  CHECK ((payment IS NULL) = (state = 'open')),
  CHECK ((agent IS NOT NULL) = (state = 'claimed')),
  CHECK ((changed IS NOT NULL) = (state = 'claimed')),
  CHECK (state = 'claimed' OR (pixels IS NULL AND message IS NULL AND link IS NULL))
) STRICT;

CREATE INDEX open_blocks ON blocks (rank) WHERE state = 'open';

CREATE TABLE changes (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('sale', 'repaint', 'hide', 'unhide', 'identity')),
  seq INTEGER UNIQUE, -- number of the sale: dense, in commit order
  block INTEGER REFERENCES blocks (i),
  agent INTEGER REFERENCES agents (id),
  hidden INTEGER CHECK (hidden BETWEEN 0 AND 7), -- what is withheld from here on: 1 pixels, 2 message, 4 link
  name TEXT,
  framework TEXT,
  pixels BLOB CHECK (length(pixels) = 100),
  message TEXT,
  link TEXT,
  sum BLOB CHECK (length(sum) = 8),
  CHECK ((seq IS NOT NULL) = (kind = 'sale')),
  CHECK ((block IS NOT NULL) = (kind IN ('sale', 'repaint', 'hide', 'unhide'))),
  CHECK ((agent IS NOT NULL) = (kind IN ('sale', 'identity'))),
  CHECK ((hidden IS NOT NULL) = (kind IN ('hide', 'unhide'))),
  CHECK (kind NOT IN ('repaint', 'hide', 'unhide') OR (name IS NULL AND framework IS NULL)),
  CHECK (kind <> 'identity' OR (pixels IS NULL AND message IS NULL AND link IS NULL))
) STRICT;

CREATE UNIQUE INDEX one_sale_per_block ON changes (block) WHERE kind = 'sale';
CREATE INDEX moderations ON changes (number) WHERE hidden IS NOT NULL;

-- Blocks of which something is hidden. What their owners set stays in `blocks`, and readers are told the rest of it.
CREATE TABLE moderated (
  block INTEGER PRIMARY KEY REFERENCES blocks (i),
  hidden INTEGER NOT NULL CHECK (hidden BETWEEN 1 AND 7),
  sum BLOB CHECK (length(sum) = 8)
) STRICT;

-- Signed messages applied once, so that a copy of one changes nothing.
CREATE TABLE edits (
  block INTEGER REFERENCES blocks (i),
  agent INTEGER REFERENCES agents (id),
  digest TEXT NOT NULL CHECK (digest GLOB '0x*' AND length(digest) = 66),
  number INTEGER NOT NULL REFERENCES changes (number), -- what it changed
  keep_until INTEGER NOT NULL,
  CHECK ((block IS NULL) <> (agent IS NULL)),
  UNIQUE (block, digest),
  UNIQUE (agent, digest)
) STRICT;

CREATE INDEX edits_by_age ON edits (keep_until);

-- What the operator paid back, or settled in another way, outside of this program.
CREATE TABLE payouts (
  payer TEXT NOT NULL CHECK (payer GLOB '0x*' AND length(payer) = 42),
  nonce TEXT NOT NULL CHECK (nonce GLOB '0x*' AND length(nonce) = 66),
  reference TEXT NOT NULL CHECK (length(reference) BETWEEN 1 AND 200), -- where the operator finds it again
  at INTEGER NOT NULL,
  PRIMARY KEY (payer, nonce)
) STRICT;

CREATE TRIGGER changes_are_numbered_densely BEFORE INSERT ON changes
WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM changes)
  OR NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM changes)
BEGIN
  SELECT RAISE(ABORT, 'the log has no gaps');
END;

-- Its sum is made once, at the end of the transaction that writes an entry.
CREATE TRIGGER changes_are_never_rewritten BEFORE UPDATE ON changes
WHEN OLD.sum IS NOT NULL
  OR (NEW.number, NEW.at, NEW.kind, NEW.seq, NEW.block, NEW.agent, NEW.hidden, NEW.name, NEW.framework, NEW.pixels, NEW.message, NEW.link)
    IS NOT (OLD.number, OLD.at, OLD.kind, OLD.seq, OLD.block, OLD.agent, OLD.hidden, OLD.name, OLD.framework, OLD.pixels, OLD.message, OLD.link)
BEGIN
  SELECT RAISE(ABORT, 'the log is append-only');
END;

CREATE TRIGGER changes_are_never_deleted BEFORE DELETE ON changes
BEGIN
  SELECT RAISE(ABORT, 'the log is append-only');
END;

CREATE TRIGGER claimed_blocks_keep_their_owner BEFORE UPDATE OF state, payment, agent ON blocks
WHEN OLD.state = 'claimed' AND (NEW.state, NEW.payment, NEW.agent) IS NOT (OLD.state, OLD.payment, OLD.agent)
BEGIN
  SELECT RAISE(ABORT, 'a claimed block stays with its owner');
END;

CREATE TRIGGER payments_at_their_end_stay_there BEFORE UPDATE OF state, payer, nonce, block, seq, claimed_at ON payments
WHEN OLD.state IN ('sold', 'credited')
  AND (NEW.state, NEW.payer, NEW.nonce, NEW.block, NEW.seq, NEW.claimed_at)
    IS NOT (OLD.state, OLD.payer, OLD.nonce, OLD.block, OLD.seq, OLD.claimed_at)
BEGIN
  SELECT RAISE(ABORT, 'a sale or a credit is final');
END;

CREATE TRIGGER payments_are_never_forgotten BEFORE DELETE ON payments
BEGIN
  SELECT RAISE(ABORT, 'a payment is remembered for ever');
END;

-- Nearest the centre first, ties by index. Distances are squared and in half blocks, so that ties are exact.
WITH RECURSIVE
  cells (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM cells WHERE i < 14399),
  offsets (i, dx, dy) AS (SELECT i, 2 * (i % 160) - 159, 2 * (i / 160) - 89 FROM cells)
INSERT INTO blocks (i, rank)
SELECT i, row_number() OVER (ORDER BY dx * dx + dy * dy, i) - 1 FROM offsets;
