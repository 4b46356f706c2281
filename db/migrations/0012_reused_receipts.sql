-- Payments that were answered with the receipt of an earlier purchase of their payer. They get it again each time they are sent,
-- and buy nothing, however many of them there are.
CREATE TABLE reused_receipts (
  payer text NOT NULL,
  nonce text NOT NULL, -- of the later payment
  payment bigint NOT NULL REFERENCES payments (id), -- of the purchase
  PRIMARY KEY (payer, nonce)
);
CREATE INDEX reused_receipts_of ON reused_receipts (payment);
INSERT INTO reused_receipts (payer, nonce, payment)
  SELECT payer, handed_to, max(id) FROM payments WHERE handed_to IS NOT NULL GROUP BY payer, handed_to;
DROP INDEX handed_over;
ALTER TABLE payments DROP COLUMN handed_to;
