-- What Django's models do not say about the tables.

-- Every posting updates its accounts' rows: leave room for the new version on the same page.
ALTER TABLE @schema@.ledger_account SET (fillfactor = 50);

-- A key is unique in its book. Sixteen bytes stand in the index for book and key, which take three times as much; two
-- keys of one digest, which nobody meets by chance, are told apart where a key is found used and refused as reused.
CREATE UNIQUE INDEX ledger_transaction_key_key ON @schema@.ledger_transaction
    ((md5(book::text || idempotency_key)::uuid));
