-- Inputs of a hand never change, nor its result; what is settled, ruled on or voided is final. A hand that waits for an
-- approval is approved or disputed, never settled straight from there; one that is disputed is ruled on or voided, or
-- goes back to where the floor has disputed it, which counts and has its time.
CREATE OR REPLACE FUNCTION hands_inputs_stay() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a hand is never deleted' USING ERRCODE = 'KZ900';
    END IF;
    IF (OLD.house_id, OLD.table_id, OLD.session_id, OLD.number, OLD.name, OLD.mode, OLD.game, OLD.rules, OLD.options,
        OLD.seats, OLD.stacks, OLD.carry, OLD.fees, OLD.series, OLD.commitment, OLD.sealed_seed, OLD.previous_hash,
        OLD.started_at)
       IS DISTINCT FROM
       (NEW.house_id, NEW.table_id, NEW.session_id, NEW.number, NEW.name, NEW.mode, NEW.game, NEW.rules, NEW.options,
        NEW.seats, NEW.stacks, NEW.carry, NEW.fees, NEW.series, NEW.commitment, NEW.sealed_seed, NEW.previous_hash,
        NEW.started_at) THEN
        RAISE EXCEPTION 'the inputs of hand % do not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.digest <> '' AND (OLD.digest, OLD.result, OLD.handle) IS DISTINCT FROM (NEW.digest, NEW.result, NEW.handle)
    THEN
        RAISE EXCEPTION 'the result of hand % does not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.state IN ('settled', 'ruled', 'voided') THEN
        RAISE EXCEPTION 'hand % is %', OLD.name, OLD.state USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.state = 'awaiting_approval' AND NEW.state NOT IN ('awaiting_approval', 'approved', 'disputed') THEN
        RAISE EXCEPTION 'hand % waits for an approval and cannot become %', OLD.name, NEW.state USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.state = 'disputed' AND OLD.disputed_from <> '' AND NEW.state = OLD.disputed_from THEN
        IF (NEW.disputed_at, NEW.disputed_by, NEW.disputed_from, NEW.disputes_withdrawn)
           IS DISTINCT FROM (NULL::timestamptz, '', '', OLD.disputes_withdrawn + 1)
           OR NEW.resumed_at IS NULL OR NEW.resumed_at < OLD.disputed_at THEN
            RAISE EXCEPTION 'the dispute of hand % was not withdrawn whole', OLD.name USING ERRCODE = 'KZ900';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.state = 'disputed' AND NEW.state NOT IN ('disputed', 'ruled', 'voided') THEN
        RAISE EXCEPTION 'hand % is disputed and cannot become %', OLD.name, NEW.state USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.disputed_at IS NOT NULL AND (OLD.disputed_at, OLD.disputed_by, OLD.disputed_from)
       IS DISTINCT FROM (NEW.disputed_at, NEW.disputed_by, NEW.disputed_from) THEN
        RAISE EXCEPTION 'hand % was disputed at another time, or by somebody else', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF (OLD.disputes_withdrawn, OLD.resumed_at) IS DISTINCT FROM (NEW.disputes_withdrawn, NEW.resumed_at) THEN
        RAISE EXCEPTION 'no dispute of hand % was withdrawn', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;

-- A hand's client seeds never change. Roots are added as packs are shuffled, and earlier ones stay.
CREATE OR REPLACE FUNCTION hands_cards_stay() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.client_seeds IS DISTINCT FROM NEW.client_seeds THEN
        RAISE EXCEPTION 'the client seeds of hand % do not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    IF OLD.cards_roots IS DISTINCT FROM NEW.cards_roots AND EXISTS (
        SELECT FROM jsonb_array_elements(OLD.cards_roots) WITH ORDINALITY AS earlier (root, place)
        WHERE earlier.root IS DISTINCT FROM NEW.cards_roots -> (earlier.place::int - 1)) THEN
        RAISE EXCEPTION 'the roots over the cards of hand % do not change', OLD.name USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;
