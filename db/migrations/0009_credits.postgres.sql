-- What the chain says of a credit is looked at once more, when no reorganisation can change it, and that is noted as it is
-- for a sale. If the money never arrived, the credit ends: nothing is owed.
DROP INDEX unfinished;
DO $$
BEGIN
  EXECUTE (SELECT format('ALTER TABLE payments DROP CONSTRAINT %I', conname) FROM pg_constraint
    WHERE conrelid = 'payments'::regclass AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%looks%');
END $$;
ALTER TABLE payments ADD CHECK (looks = 0 OR (looks IN (1, 2) AND state IN ('sold', 'credited')));
CREATE INDEX unfinished ON payments (state, payer)
  WHERE state = 'reserved' OR (state = 'released' AND dead = 0) OR (state IN ('sold', 'credited') AND looks < 2);

DROP TRIGGER payments_at_their_end_stay_there ON payments;
CREATE TRIGGER payments_at_their_end_stay_there BEFORE UPDATE ON payments
  FOR EACH ROW WHEN (OLD.state IN ('sold', 'credited') AND (
    (NEW.payer, NEW.nonce, NEW.block, NEW.seq, NEW.claimed_at)
      IS DISTINCT FROM (OLD.payer, OLD.nonce, OLD.block, OLD.seq, OLD.claimed_at)
    OR (NEW.state <> OLD.state AND (OLD.state, NEW.state, NEW.dead) <> ('credited', 'released', 1))))
  EXECUTE FUNCTION refuse('a sale is final, and a credit unless it was never paid');
