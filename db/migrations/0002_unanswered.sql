-- A purchase is unanswered from its claim until its receipt went out: a held one always is, a sold one until it is marked.
ALTER TABLE payments RENAME COLUMN receipt_owed TO unanswered;
ALTER TABLE payments RENAME COLUMN doubted TO uncertain; -- held, and somebody else than its first run went on with it
DROP INDEX owed_receipts;
CREATE INDEX unanswered ON payments (payer) WHERE unanswered = 1;

-- How often a block was held for the payment: what is decided about one attempt is not done to the next.
ALTER TABLE payments ADD COLUMN attempt integer NOT NULL DEFAULT 1 CHECK (attempt >= 1);

-- The client's own name for the purchase (x402's payment-identifier): signed anew under the same name, it is the same purchase.
ALTER TABLE payments ADD COLUMN identifier text;
CREATE INDEX identified ON payments (payer, identifier) WHERE identifier IS NOT NULL;
