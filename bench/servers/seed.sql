INSERT INTO agents (wallet, name, framework, first_seen_at, changed)
VALUES ($wallet, $name, $framework, $at, $number)
ON CONFLICT (wallet) DO UPDATE SET changed = excluded.changed, name = excluded.name, framework = excluded.framework
RETURNING id;

INSERT INTO changes (number, at, kind, seq, block, agent, name, framework, pixels, message, link)
VALUES ($number, $at, 'sale', $number, $block, $agent, $name, $framework, $pixels, $message, $link);

INSERT INTO payments (id, payer, nonce, pay_to, asset, network, scheme, amount, valid_after, valid_before, signature,
  block, name, framework, message, link, pixels, head, created_at, state, settled, looks, tx, seq, claimed_at)
VALUES ($number, $wallet, $nonce, $wallet, $wallet, 'eip155:8453', 'exact', 1000000, 0, 1, '0x00',
  $block, $name, $framework, $message, $link, $pixels, 1, $at, 'sold', 1, 2, $nonce, $number, $at);

UPDATE blocks SET state = 'claimed', payment = $number, agent = $agent, changed = $number,
  pixels = $pixels, message = $message, link = $link
WHERE i = $block;
