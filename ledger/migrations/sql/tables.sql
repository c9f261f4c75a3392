-- What Django's models do not say about the tables.

-- Every posting updates its accounts' rows: leave room for the new version on the same page.
ALTER TABLE @schema@.ledger_account SET (fillfactor = 50);

-- A key is unique in its book. Sixteen bytes stand in the index for book and key, which take three times as much; two
-- keys of one digest, which nobody meets by chance, are distinguished where a key is found used and refused as reused.
CREATE UNIQUE INDEX ledger_transaction_key_key ON @schema@.ledger_transaction
    ((md5(book::text || idempotency_key)::uuid));

-- The few transactions that say to which period they belong, wherever they are posted, are found by it.
CREATE INDEX ledger_transaction_for_day ON @schema@.ledger_transaction (book, (metadata ->> 'for_day'))
    WHERE metadata ? 'for_day';

-- Those of a period, which stand together, are found without reading the others; the index takes next to nothing.
CREATE INDEX ledger_transaction_period ON @schema@.ledger_transaction USING brin (period_id)
    WITH (pages_per_range = 32, autosummarize = on);

-- Transactions that say whose they are are found by that and their time.
CREATE INDEX ledger_transaction_player ON @schema@.ledger_transaction (book, (metadata ->> 'player'), posted_at)
    WHERE (metadata ->> 'player') IS NOT NULL;

-- Two BETWEENs in one CHECK would be written with other parentheses after a dump was restored.

-- Amounts and balances stay within 2^62 - 1 either way: the sum of a balance and a leg always fits 64 bits. What is
-- fixed on an account is judged by a trigger when it comes in; a CHECK would be judged again with every posting.
ALTER TABLE @schema@.ledger_entry
    ADD CONSTRAINT ledger_entry_bounds CHECK (
        amount >= -4611686018427387903 AND amount <= 4611686018427387903
        AND balance_after >= -4611686018427387903 AND balance_after <= 4611686018427387903);

ALTER TABLE @schema@.ledger_transaction
    ADD CONSTRAINT ledger_transaction_named CHECK (
        char_length(idempotency_key) >= 1 AND char_length(idempotency_key) <= 255
        AND char_length(kind) >= 1 AND char_length(kind) <= 255),
    ADD CONSTRAINT ledger_transaction_metadata CHECK (jsonb_typeof(metadata) = 'object'),
    ADD CONSTRAINT ledger_transaction_times CHECK (isfinite(posted_at) AND isfinite(occurred_at));

ALTER TABLE @schema@.ledger_period
    ADD CONSTRAINT ledger_period_named CHECK (char_length(name) BETWEEN 1 AND 255),
    ADD CONSTRAINT ledger_period_times CHECK (isfinite(opened_at) AND isfinite(closed_at));

ALTER TABLE @schema@.ledger_hold
    ADD CONSTRAINT ledger_hold_named CHECK (char_length(key) BETWEEN 1 AND 255),
    ADD CONSTRAINT ledger_hold_postings CHECK (jsonb_typeof(postings) = 'array'),
    ADD CONSTRAINT ledger_hold_times CHECK (isfinite(created_at) AND isfinite(expires_at) AND isfinite(ended_at));

ALTER TABLE @schema@.ledger_reserve
    ADD CONSTRAINT ledger_reserve_moves CHECK (amount BETWEEN 1 AND 4611686018427387903),
    ADD CONSTRAINT ledger_reserve_times CHECK (isfinite(expires_at) AND isfinite(released_at));

-- The name of a period's snapshot is "period " and the period's name.
ALTER TABLE @schema@.ledger_snapshot
    ADD CONSTRAINT ledger_snapshot_named CHECK (char_length(name) BETWEEN 1 AND 262),
    ADD CONSTRAINT ledger_snapshot_times CHECK (isfinite(taken_at));

ALTER TABLE @schema@.ledger_assertion
    ADD CONSTRAINT ledger_assertion_metadata CHECK (jsonb_typeof(metadata) = 'object'),
    ADD CONSTRAINT ledger_assertion_times CHECK (isfinite(asserted_at));

-- A row for each thing that was written: what it is, its id and a hash of what never changes of it (seals.sql). Seals are
-- only appended; those of the last transactions stand at the table's end, which the index says at no cost to a posting.
CREATE TABLE @schema@.ledger_seal (
    book uuid NOT NULL,
    id bigint NOT NULL,
    kind smallint NOT NULL,
    hash bytea NOT NULL
);
CREATE INDEX ledger_seal_of_transactions ON @schema@.ledger_seal USING brin (id) WITH (pages_per_range = 64)
    WHERE kind = 1;
