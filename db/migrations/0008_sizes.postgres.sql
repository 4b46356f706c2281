-- Width and height, in blocks, of what a payment buys.
DROP VIEW sales;
DROP TRIGGER payments_keep_their_size ON payments;
ALTER TABLE payments ADD COLUMN w integer NOT NULL DEFAULT 1 CHECK (w >= 1);
ALTER TABLE payments ADD COLUMN h integer NOT NULL DEFAULT 1 CHECK (h >= 1);
ALTER TABLE payments DISABLE TRIGGER payments_are_whole;
UPDATE payments SET w = split_part(size, 'x', 1)::integer, h = split_part(size, 'x', 2)::integer WHERE size <> '1x1';
ALTER TABLE payments ENABLE TRIGGER payments_are_whole;
ALTER TABLE payments DROP COLUMN size;
ALTER TABLE payments ADD COLUMN size text GENERATED ALWAYS AS (w::text || 'x' || h::text) STORED;

CREATE OR REPLACE FUNCTION refuse_parts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  has bigint := (SELECT count(*) FROM blocks WHERE payment = NEW.id);
BEGIN
  IF NEW.state IN ('reserved', 'sold') AND has <> NEW.w * NEW.h
    OR NEW.state IN ('released', 'credited') AND has <> 0 THEN
    RAISE EXCEPTION 'an area is held, sold and given back whole' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER payments_keep_their_size BEFORE UPDATE ON payments
  FOR EACH ROW WHEN ((NEW.w, NEW.h) <> (OLD.w, OLD.h)) EXECUTE FUNCTION refuse('a payment buys what it was for');

-- One sale for each block of a payment, numbered row by row.
CREATE VIEW sales (payment, block, seq) AS
SELECT p.id, b.i, p.seq + (b.i / 160 - p.block / 160) * p.w + (b.i % 160 - p.block % 160)
FROM payments AS p JOIN blocks AS b ON b.payment = p.id WHERE p.state = 'sold';

-- Damage to a page is for the server to notice (`data_checksums`), so nobody makes or reads `sum` any more. Processes of older
-- versions that still run would take rows for damaged, so they are refused: a commit says which tables its process knows. For
-- what they read meanwhile, `sum` and `size` stay until a later migration.
ALTER TABLE agents ALTER COLUMN sum DROP NOT NULL;
ALTER TABLE changes ALTER COLUMN sum DROP NOT NULL;
ALTER TABLE moderated ALTER COLUMN sum DROP NOT NULL;
ALTER TABLE moderated_agents ALTER COLUMN sum DROP NOT NULL;
ALTER TABLE payments ALTER COLUMN sum DROP NOT NULL;
ALTER TABLE purchase_painters ALTER COLUMN sum DROP NOT NULL;
ALTER TABLE wallet_painters ALTER COLUMN sum DROP NOT NULL;
ALTER TABLE wall ALTER COLUMN sum DROP NOT NULL;
DELETE FROM commits;
ALTER TABLE commits ADD COLUMN tables integer NOT NULL CHECK (tables >= 8);
