-- When the last message applied to a block, or to a wallet's identity, was signed: a message from before it comes too late.
ALTER TABLE blocks ADD COLUMN signed_at INTEGER;
ALTER TABLE agents ADD COLUMN signed_at INTEGER;
