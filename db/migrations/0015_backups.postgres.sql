-- When the last backup was made, so that the operator hears of one that is missing.
ALTER TABLE wall ADD COLUMN backed_up_at bigint; -- Unix milliseconds
