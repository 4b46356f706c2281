-- Of the log, only repaints may ever go, and each only as long as a later one of the same block and hour stays: what the
-- wall showed at any full hour can be told for ever.
DROP TRIGGER changes_are_never_deleted;
CREATE TRIGGER changes_are_never_lost BEFORE DELETE ON changes
WHEN OLD.kind <> 'repaint' OR NOT EXISTS (
  SELECT 1 FROM changes WHERE number > OLD.number AND kind = 'repaint' AND block = OLD.block AND at / 3600000 = OLD.at / 3600000
)
BEGIN
  SELECT RAISE(ABORT, 'the log is append-only');
END;

-- Whether anything refers to an entry that goes.
CREATE INDEX blocks_by_change ON blocks (changed) WHERE changed IS NOT NULL;
CREATE INDEX edits_by_change ON edits (number);

-- A wallet with thousands of blocks is told of them a page at a time.
CREATE INDEX sales_of_payer ON payments (payer, seq) WHERE state = 'sold';
CREATE INDEX credits_of_payer ON payments (payer) WHERE state = 'credited';
