-- Painters: keys whose signatures count as an owner's for repaints. A purchase can name one for its blocks; a wallet names
-- one for all of its blocks, which ends what its purchases named before.
CREATE TABLE purchase_painters (
  payment INTEGER PRIMARY KEY REFERENCES payments (id),
  painter TEXT NOT NULL CHECK (painter GLOB '0x*' AND length(painter) = 42),
  sum BLOB CHECK (length(sum) = 8)
) STRICT;

CREATE TABLE wallet_painters (
  agent INTEGER PRIMARY KEY REFERENCES agents (id),
  painter TEXT CHECK (painter GLOB '0x*' AND length(painter) = 42), -- NULL where the wallet wants none
  ts INTEGER NOT NULL, -- as signed; only a later one takes its place
  through INTEGER NOT NULL CHECK (through >= 0), -- the last payment whose purchase named a painter before
  sum BLOB CHECK (length(sum) = 8)
) STRICT;

CREATE TRIGGER purchases_keep_what_they_named BEFORE UPDATE OF payment, painter ON purchase_painters
BEGIN
  SELECT RAISE(ABORT, 'a purchase names its painter once');
END;

CREATE TRIGGER painters_are_replaced_by_later_words BEFORE UPDATE OF ts ON wallet_painters
WHEN NEW.ts <= OLD.ts
BEGIN
  SELECT RAISE(ABORT, 'an older word on a painter changes nothing');
END;
