-- A ledger transaction of a house commits only with an audit event that records it. The ledger's other books (it knows no
-- houses) are left alone. The names are written out, which is cheaper than a search path of the function's own; who
-- posts may read both tables, or cannot post.
CREATE OR REPLACE FUNCTION audit_require_recorded() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.audit_posting WHERE transaction_id OPERATOR(pg_catalog.=) new.id)
        AND EXISTS (SELECT FROM public.houses_house WHERE id OPERATOR(pg_catalog.=) new.book) THEN
        RAISE EXCEPTION 'no audit event records ledger transaction %', new.id
            USING ERRCODE = 'KZ902', HINT = 'Record an event after posting, in the same transaction.';
    END IF;
    RETURN NULL;
END $$;
