-- The order that a payment's nonce is bound to: its text as it was signed for, and the salt, so that anybody can compute the nonce
-- again. Both or neither, and never changed.
ALTER TABLE payments ADD COLUMN order_text text;
ALTER TABLE payments ADD COLUMN salt text CHECK ((salt IS NULL) = (order_text IS NULL));
