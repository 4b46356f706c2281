-- What the chain says of a credit is looked at once more, when no reorganisation can change it, and that is noted as it is
-- for a sale. If the money never arrived, the credit ends: nothing is owed.
DROP INDEX unfinished;
ALTER TABLE payments ADD COLUMN looked INTEGER NOT NULL DEFAULT 0
  CHECK (looked = 0 OR (looked IN (1, 2) AND state IN ('sold', 'credited')));
UPDATE payments SET looked = looks WHERE looks > 0;
ALTER TABLE payments DROP COLUMN looks;
ALTER TABLE payments RENAME COLUMN looked TO looks;
CREATE INDEX unfinished ON payments (state, payer)
  WHERE state = 'reserved' OR (state = 'released' AND dead = 0) OR (state IN ('sold', 'credited') AND looks < 2);

DROP TRIGGER payments_at_their_end_stay_there;
CREATE TRIGGER payments_at_their_end_stay_there BEFORE UPDATE OF state, payer, nonce, block, seq, claimed_at ON payments
WHEN OLD.state IN ('sold', 'credited') AND (
  (NEW.payer, NEW.nonce, NEW.block, NEW.seq, NEW.claimed_at)
    IS NOT (OLD.payer, OLD.nonce, OLD.block, OLD.seq, OLD.claimed_at)
  OR (NEW.state <> OLD.state AND (OLD.state, NEW.state, NEW.dead) <> ('credited', 'released', 1)))
BEGIN
  SELECT RAISE(ABORT, 'a sale is final, and a credit unless it was never paid');
END;
