-- How far the log was delivered to the operator's webhook: what follows is what waits for it.
ALTER TABLE wall ADD COLUMN delivered bigint; -- number of the last entry delivered; NULL until a webhook is set
