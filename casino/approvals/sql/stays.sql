-- An approval keeps what was asked for; it is decided once, by somebody else, and used once, before it runs out. Numbers
-- of a house have no gaps.
CREATE OR REPLACE FUNCTION approvals_stay() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'approvals_approval keeps its rows' USING ERRCODE = 'KZ900';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'requested' THEN
            RAISE EXCEPTION 'approval % begins as requested', NEW.number USING ERRCODE = 'KZ900';
        END IF;
        IF NEW.number <> 1 + (SELECT coalesce(max(number), 0) FROM approvals_approval WHERE house_id = NEW.house_id)
        THEN
            RAISE EXCEPTION 'approval % is not the next one', NEW.number USING ERRCODE = 'KZ900';
        END IF;
        RETURN NEW;
    END IF;
    IF (OLD.house_id, OLD.number, OLD.kind, OLD.operation, OLD.path, OLD.body, OLD.request_hash, OLD.amount, OLD.roles,
        OLD.requested_by_id, OLD.requested_at, OLD.terminal_id, OLD.expires_at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.number, NEW.kind, NEW.operation, NEW.path, NEW.body, NEW.request_hash, NEW.amount, NEW.roles,
        NEW.requested_by_id, NEW.requested_at, NEW.terminal_id, NEW.expires_at) THEN
        RAISE EXCEPTION 'approval % keeps what was asked for', OLD.number USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.decided_by_id IS NOT NULL
       AND (OLD.decided_by_id, OLD.decided_at, OLD.decided_terminal_id, OLD.reason)
           IS DISTINCT FROM (NEW.decided_by_id, NEW.decided_at, NEW.decided_terminal_id, NEW.reason) THEN
        RAISE EXCEPTION 'approval % stays as it was decided', OLD.number USING ERRCODE = 'KZ900';
    END IF;
    IF (OLD.state, NEW.state) NOT IN (
        ('requested', 'approved'), ('requested', 'refused'), ('requested', 'withdrawn'), ('requested', 'expired'),
        ('approved', 'used'), ('approved', 'withdrawn'), ('approved', 'expired')
    ) THEN
        RAISE EXCEPTION 'approval % is % and cannot become %', OLD.number, OLD.state, NEW.state
            USING ERRCODE = 'KZ900';
    END IF;
    IF NEW.state IN ('approved', 'used') AND OLD.expires_at <= clock_timestamp() THEN
        RAISE EXCEPTION 'approval % has expired', OLD.number USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
