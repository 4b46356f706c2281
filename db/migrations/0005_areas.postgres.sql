-- A payment buys a rectangle of blocks, whole: `block` is its top left one, and `size` its width and height. It holds or
-- owns all of them or none.
ALTER TABLE payments ADD COLUMN size text NOT NULL DEFAULT '1x1' CHECK (size ~ '^[1-9][0-9]*x[1-9][0-9]*$');

-- So many pixels for each of its blocks, block by block.
ALTER TABLE payments DROP CONSTRAINT payments_pixels_check;
ALTER TABLE payments ADD CONSTRAINT payments_pixels_check
  CHECK (octet_length(pixels) % 100 = 0 AND octet_length(pixels) BETWEEN 100 AND 40000);

-- Several blocks may be of one payment.
ALTER TABLE blocks DROP CONSTRAINT blocks_payment_key;
CREATE INDEX blocks_of_payment ON blocks (payment) WHERE payment IS NOT NULL;
CREATE INDEX held_blocks ON blocks (i) WHERE state = 'reserved';

-- Looked at when the transaction ends, since its statements write payments and blocks together.
CREATE FUNCTION refuse_parts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  has bigint := (SELECT count(*) FROM blocks WHERE payment = NEW.id);
BEGIN
  IF NEW.state IN ('reserved', 'sold') AND has <> split_part(NEW.size, 'x', 1)::integer * split_part(NEW.size, 'x', 2)::integer
    OR NEW.state IN ('released', 'credited') AND has <> 0 THEN
    RAISE EXCEPTION 'an area is held, sold and given back whole' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payments_are_whole AFTER INSERT OR UPDATE ON payments
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_parts();
CREATE TRIGGER payments_keep_their_size BEFORE UPDATE ON payments
  FOR EACH ROW WHEN (NEW.size <> OLD.size) EXECUTE FUNCTION refuse('a payment buys what it was for');

-- One sale for each block of a payment, numbered row by row.
CREATE VIEW sales (payment, block, seq) AS
SELECT p.id, b.i, p.seq + (b.i / 160 - p.block / 160) * split_part(p.size, 'x', 1)::integer + (b.i % 160 - p.block % 160)
FROM payments AS p JOIN blocks AS b ON b.payment = p.id WHERE p.state = 'sold';
