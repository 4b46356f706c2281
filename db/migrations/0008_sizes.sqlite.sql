-- Width and height, in blocks, of what a payment buys. `size` is what row sums are made of, as they were before.
DROP VIEW sales;
DROP TRIGGER sales_are_whole;
DROP TRIGGER payments_keep_their_size;
ALTER TABLE payments ADD COLUMN w INTEGER NOT NULL DEFAULT 1 CHECK (w >= 1);
ALTER TABLE payments ADD COLUMN h INTEGER NOT NULL DEFAULT 1 CHECK (h >= 1);
UPDATE payments SET w = CAST(size AS INTEGER), h = CAST(substr(size, instr(size, 'x') + 1) AS INTEGER) WHERE size <> '1x1';
ALTER TABLE payments DROP COLUMN size;
ALTER TABLE payments ADD COLUMN size TEXT AS (w || 'x' || h) VIRTUAL;

CREATE TRIGGER sales_are_whole BEFORE UPDATE OF state ON payments
WHEN NEW.state = 'sold' AND OLD.state <> 'sold' AND
  (SELECT count(*) FROM blocks WHERE payment = NEW.id AND state = 'claimed') <> NEW.w * NEW.h
BEGIN
  SELECT RAISE(ABORT, 'an area is sold whole');
END;

CREATE TRIGGER payments_keep_their_size BEFORE UPDATE OF w, h ON payments
WHEN NEW.w <> OLD.w OR NEW.h <> OLD.h
BEGIN
  SELECT RAISE(ABORT, 'a payment buys what it was for');
END;

-- One sale for each block of a payment, numbered row by row.
CREATE VIEW sales (payment, block, seq) AS
SELECT p.id, b.i, p.seq + (b.i / 160 - p.block / 160) * p.w + (b.i % 160 - p.block % 160)
FROM payments AS p JOIN blocks AS b ON b.payment = p.id WHERE p.state = 'sold';
