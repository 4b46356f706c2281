-- A receipt that had not gone out may be handed over to a later payment of the same payer. Whoever sends that payment again gets
-- the same receipt: the nonce tells which it was.
ALTER TABLE payments ADD COLUMN handed_to text;
CREATE INDEX handed_over ON payments (payer, handed_to) WHERE handed_to IS NOT NULL;
