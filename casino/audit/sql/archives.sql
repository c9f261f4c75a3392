-- Archives of closed periods. Of an archived section the events that only add lines to a hand's log can be put away: the
-- row keeps its hash and an excerpt of the event, by which it is found, and the archive has its text. Only the owner may,
-- and only so; what is brought back has the hash that the row has always had.

-- What stays of an event that was put away: canonical JSON, like the text itself. Reports add up what it posted.
CREATE OR REPLACE FUNCTION audit_excerpt(p_doc jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT concat(
        '{"actor":', to_json(p_doc ->> 'actor'), ',"at":', to_json(p_doc ->> 'at'), ',"chain":', to_json(p_doc ->> 'chain'),
        ',"data":{"hand":', to_json(p_doc #>> '{data,hand}'), ',"table_version":', p_doc #>> '{data,table_version}',
        '},"kind":', to_json(p_doc ->> 'kind'),
        (SELECT concat(',"postings":[', string_agg(concat(
            '{', (SELECT concat('"legs":[', string_agg(
                    concat('[', to_json(leg ->> 0), ',', to_json(leg ->> 1), ',', leg ->> 2, ']'), ',' ORDER BY number), '],')
                FROM jsonb_array_elements(posting -> 'legs') WITH ORDINALITY AS legs (leg, number) HAVING count(*) > 0),
            '"reverses":' || (posting ->> 'reverses') || ',', '"tx":', posting ->> 'tx', '}'), ',' ORDER BY number), ']')
            FROM jsonb_array_elements(p_doc -> 'postings') WITH ORDINALITY AS postings (posting, number)
            HAVING count(*) > 0),
        ',"role":', to_json(p_doc ->> 'role'), ',"seq":', p_doc ->> 'seq', ',"terminal":', to_json(p_doc ->> 'terminal'), '}')
$$;

-- Whether an event only adds lines to a hand's log, which no report reads. One that ends a hand has `log`, and stays.
CREATE OR REPLACE FUNCTION audit_may_be_put_away(p_doc jsonb) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT p_doc ->> 'kind' = 'hand.acted' AND NOT p_doc -> 'data' ? 'log' AND p_doc -> 'data' ? 'table_version'
$$;

-- The guard of the events: a row is as it was written, but for a text that was put away or brought back.
CREATE OR REPLACE FUNCTION audit_event_stays() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.id, NEW.house_id, NEW.chain_id, NEW.seq, NEW.xid, NEW.leaf_hash)
        IS NOT DISTINCT FROM (OLD.id, OLD.house_id, OLD.chain_id, OLD.seq, OLD.xid, OLD.leaf_hash) THEN
        IF OLD.archive IS NULL AND NEW.archive IS NOT NULL AND audit_may_be_put_away(OLD.doc)
            AND NEW.payload = audit_excerpt(OLD.doc) AND EXISTS (
                SELECT FROM audit_leaf leaf
                JOIN audit_archive held ON held.house_id = leaf.house_id AND held.epoch = leaf.epoch
                    AND leaf.leaf_index >= held.first AND leaf.leaf_index < held.size
                WHERE leaf.event_id = OLD.id AND held.house_id = OLD.house_id AND held.number = NEW.archive
                    AND held.is_put_away) THEN
            RETURN NEW;
        ELSIF OLD.archive IS NOT NULL AND NEW.archive IS NULL
            AND encode(sha256('\x00'::bytea || convert_to(NEW.payload, 'UTF8')), 'hex') = OLD.leaf_hash THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'KZ900', HINT = 'Corrections are new rows.';
END $$;

-- The guard of the archives: what one has does not change, only whether its events are put away.
CREATE OR REPLACE FUNCTION audit_archive_stays() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF to_jsonb(NEW) - 'is_put_away' IS DISTINCT FROM to_jsonb(OLD) - 'is_put_away' THEN
        RAISE EXCEPTION 'an archive does not change' USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;

-- Puts away the texts that an archive has, which its row says already; returns how many.
CREATE OR REPLACE FUNCTION audit_put_away(p_house uuid, p_number integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held audit_archive%ROWTYPE;
    taken bigint;
BEGIN
    SELECT * INTO STRICT held FROM audit_archive WHERE house_id = p_house AND number = p_number;
    UPDATE audit_event event SET payload = audit_excerpt(event.doc), archive = p_number
    FROM audit_leaf leaf
    WHERE leaf.house_id = p_house AND leaf.epoch = held.epoch AND leaf.leaf_index >= held.first
        AND leaf.leaf_index < held.size AND event.id = leaf.event_id AND event.archive IS NULL
        AND audit_may_be_put_away(event.doc);
    GET DIAGNOSTICS taken = ROW_COUNT;
    RETURN taken;
END $$;

-- Brings texts back into the rows of an archive, by the numbers of their leaves; returns how many there were.
CREATE OR REPLACE FUNCTION audit_bring_back(p_house uuid, p_number integer, p_leaves bigint[], p_payloads text[])
RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held audit_archive%ROWTYPE;
    taken bigint;
BEGIN
    SELECT * INTO STRICT held FROM audit_archive WHERE house_id = p_house AND number = p_number;
    UPDATE audit_event event SET payload = given.payload, archive = NULL
    FROM unnest(p_leaves, p_payloads) AS given (leaf_index, payload)
    JOIN audit_leaf leaf ON leaf.house_id = p_house AND leaf.epoch = held.epoch AND leaf.leaf_index = given.leaf_index
    WHERE event.id = leaf.event_id AND event.archive = p_number;
    GET DIAGNOSTICS taken = ROW_COUNT;
    RETURN taken;
END $$;
