-- Painters: keys whose signatures count as an owner's for repaints. A purchase can name one for its blocks; a wallet names
-- one for all of its blocks, which ends what its purchases named before.
CREATE TABLE purchase_painters (
  payment bigint PRIMARY KEY REFERENCES payments (id),
  painter text NOT NULL CHECK (painter LIKE '0x%' AND length(painter) = 42),
  sum bytea NOT NULL CHECK (octet_length(sum) = 8)
);

CREATE TABLE wallet_painters (
  agent bigint PRIMARY KEY REFERENCES agents (id),
  painter text CHECK (painter LIKE '0x%' AND length(painter) = 42), -- NULL where the wallet wants none
  ts bigint NOT NULL, -- as signed; only a later one takes its place
  through bigint NOT NULL CHECK (through >= 0), -- the last payment whose purchase named a painter before
  sum bytea NOT NULL CHECK (octet_length(sum) = 8)
);

CREATE TRIGGER purchases_keep_what_they_named BEFORE UPDATE ON purchase_painters
  FOR EACH ROW EXECUTE FUNCTION refuse('a purchase names its painter once');
CREATE TRIGGER painters_are_replaced_by_later_words BEFORE UPDATE ON wallet_painters
  FOR EACH ROW WHEN (NEW.ts <= OLD.ts) EXECUTE FUNCTION refuse('an older word on a painter changes nothing');
