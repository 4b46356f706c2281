-- Where the wall asked to be paid, and when its operator last accepted an older copy that was restored: payments that the copy
-- does not know may still arrive for some minutes after that.
ALTER TABLE wall ADD COLUMN payees text NOT NULL DEFAULT ''; -- addresses, separated by spaces
ALTER TABLE wall ADD COLUMN accepted_at bigint; -- Unix milliseconds
