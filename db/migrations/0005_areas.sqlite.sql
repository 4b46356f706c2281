-- A payment buys a rectangle of blocks, whole: `block` is its top left one, and `size` its width and height. It holds or
-- owns all of them or none.
ALTER TABLE payments ADD COLUMN size TEXT NOT NULL DEFAULT '1x1' CHECK (size GLOB '[1-9]*x[1-9]*');

-- So many pixels for each of its blocks, block by block.
ALTER TABLE payments ADD COLUMN picture BLOB CHECK (length(picture) % 100 = 0 AND length(picture) BETWEEN 100 AND 40000);
UPDATE payments SET picture = pixels WHERE pixels IS NOT NULL;
ALTER TABLE payments DROP COLUMN pixels;
ALTER TABLE payments RENAME COLUMN picture TO pixels;

-- Several blocks may be of one payment.
CREATE TABLE blocks_of_areas (
  i INTEGER PRIMARY KEY CHECK (i BETWEEN 0 AND 14399), -- row * 160 + column
  rank INTEGER NOT NULL UNIQUE, -- place in the order of sale, from 0 at the centre
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'reserved', 'claimed')),
  payment INTEGER REFERENCES payments (id),
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
INSERT INTO blocks_of_areas (i, rank, state, payment, agent, pixels, message, link, changed, sum)
SELECT i, rank, state, payment, agent, pixels, message, link, changed, sum FROM blocks;
DROP TABLE blocks;
ALTER TABLE blocks_of_areas RENAME TO blocks;

CREATE INDEX open_blocks ON blocks (rank) WHERE state = 'open';
CREATE INDEX held_blocks ON blocks (i) WHERE state = 'reserved';
CREATE INDEX blocks_of_payment ON blocks (payment) WHERE payment IS NOT NULL;
CREATE INDEX blocks_by_change ON blocks (changed) WHERE changed IS NOT NULL;

CREATE TRIGGER claimed_blocks_keep_their_owner BEFORE UPDATE OF state, payment, agent ON blocks
WHEN OLD.state = 'claimed' AND (NEW.state, NEW.payment, NEW.agent) IS NOT (OLD.state, OLD.payment, OLD.agent)
BEGIN
  SELECT RAISE(ABORT, 'a claimed block stays with its owner');
END;

-- A cast reads a number up to what is none: the width of '4x3'.
CREATE TRIGGER sales_are_whole BEFORE UPDATE OF state ON payments
WHEN NEW.state = 'sold' AND OLD.state <> 'sold' AND
  (SELECT count(*) FROM blocks WHERE payment = NEW.id AND state = 'claimed')
    <> CAST(NEW.size AS INTEGER) * CAST(substr(NEW.size, instr(NEW.size, 'x') + 1) AS INTEGER)
BEGIN
  SELECT RAISE(ABORT, 'an area is sold whole');
END;

CREATE TRIGGER releases_are_whole BEFORE UPDATE OF state ON payments
WHEN NEW.state = 'released' AND EXISTS (SELECT 1 FROM blocks WHERE payment = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'an area is given back whole');
END;

CREATE TRIGGER payments_keep_their_size BEFORE UPDATE OF size ON payments
WHEN NEW.size <> OLD.size
BEGIN
  SELECT RAISE(ABORT, 'a payment buys what it was for');
END;

-- One sale for each block of a payment, numbered row by row.
CREATE VIEW sales (payment, block, seq) AS
SELECT p.id, b.i, p.seq + (b.i / 160 - p.block / 160) * CAST(p.size AS INTEGER) + (b.i % 160 - p.block % 160)
FROM payments AS p JOIN blocks AS b ON b.payment = p.id WHERE p.state = 'sold';
