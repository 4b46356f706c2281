-- Of the log, repaints and names may go, each only once a later word on the same block or wallet has replaced it. The wall
-- decides which of them it keeps as history.
CREATE OR REPLACE FUNCTION refuse_loss() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.kind = 'repaint' AND OLD.number < coalesce((SELECT changed FROM blocks WHERE i = OLD.block), 0))
    OR (OLD.kind = 'identity' AND OLD.number < coalesce((SELECT changed FROM agents WHERE id = OLD.agent), 0)
      AND NOT EXISTS (SELECT 1 FROM moderated_agents WHERE agent = OLD.agent AND through = OLD.number))
  THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the log is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;
