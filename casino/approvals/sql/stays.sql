-- An approval keeps what was asked for; it is decided once, by somebody else, and used once, before it runs out. Where
-- every role must approve it, one person of each has done so. Numbers of a house have no gaps.
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
        OLD.every_role, OLD.requested_by_id, OLD.requested_at, OLD.terminal_id, OLD.expires_at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.number, NEW.kind, NEW.operation, NEW.path, NEW.body, NEW.request_hash, NEW.amount, NEW.roles,
        NEW.every_role, NEW.requested_by_id, NEW.requested_at, NEW.terminal_id, NEW.expires_at) THEN
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
    IF NEW.state = 'approved' AND OLD.every_role AND EXISTS (
        SELECT unnest(OLD.roles) EXCEPT SELECT role FROM approvals_assent WHERE approval_id = OLD.id
    ) THEN
        RAISE EXCEPTION 'approval % was not given by every role', OLD.number USING ERRCODE = 'KZ900';
    END IF;
    IF NEW.state IN ('approved', 'used') AND OLD.expires_at <= clock_timestamp() THEN
        RAISE EXCEPTION 'approval % has expired', OLD.number USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;

-- A person approves for one role what waits for every role, and not what that person asked for.
CREATE OR REPLACE FUNCTION approvals_assent() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM approvals_approval
    WHERE id = NEW.approval_id AND house_id = NEW.house_id AND state = 'requested' AND every_role
          AND NEW.role = ANY (roles) AND requested_by_id <> NEW.given_by_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'approval % does not wait for this', NEW.approval_id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
