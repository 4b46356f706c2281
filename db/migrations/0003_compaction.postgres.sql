-- Of the log, only repaints may ever go, and each only as long as a later one of the same block and hour stays: what the
-- wall showed at any full hour can be told for ever.
CREATE FUNCTION refuse_loss() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.kind <> 'repaint' OR (
    SELECT number FROM changes
    WHERE number > OLD.number AND kind = 'repaint' AND block = OLD.block AND at / 3600000 = OLD.at / 3600000
    ORDER BY number LIMIT 1
  ) IS NULL THEN
    RAISE EXCEPTION 'the log is append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN OLD;
END $$;

DROP TRIGGER changes_are_never_rewritten ON changes;
CREATE TRIGGER changes_are_never_rewritten BEFORE UPDATE ON changes
  FOR EACH ROW EXECUTE FUNCTION refuse('the log is append-only');
CREATE TRIGGER changes_are_never_lost BEFORE DELETE ON changes
  FOR EACH ROW EXECUTE FUNCTION refuse_loss();

-- Whether anything refers to an entry that goes.
CREATE INDEX blocks_by_change ON blocks (changed) WHERE changed IS NOT NULL;
CREATE INDEX edits_by_change ON edits (number);

-- A wallet with thousands of blocks is told of them a page at a time.
CREATE INDEX sales_of_payer ON payments (payer, seq) WHERE state = 'sold';
CREATE INDEX credits_of_payer ON payments (payer) WHERE state = 'credited';
