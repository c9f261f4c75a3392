-- The Merkle log of each house. The sequencer's role may execute three functions, the application's one; nobody writes
-- these tables in another way. Which events become leaves follows the chains: numbers in a chain are gapless and given
-- under the lock of its head, so a statement that sees event n sees every one before it. (Following transaction ids
-- instead would take event n+1 without event n where its transaction got an id earlier and the lock later.)

CREATE OR REPLACE FUNCTION audit_log_grows() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.house_id, NEW.epoch, NEW.origin) IS DISTINCT FROM (OLD.id, OLD.house_id, OLD.epoch, OLD.origin)
       OR NEW.size < OLD.size OR (OLD.vkey <> '' AND NEW.vkey <> OLD.vkey) THEN
        RAISE EXCEPTION 'a log only grows' USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION audit_mark_grows() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.chain_id <> OLD.chain_id OR NEW.seq < OLD.seq THEN
        RAISE EXCEPTION 'a mark only grows' USING ERRCODE = 'KZ900';
    END IF;
    RETURN NEW;
END $$;

-- One writer of a house's log at a time: held until the transaction ends.
CREATE OR REPLACE FUNCTION audit_lock_log(p_house uuid) RETURNS void LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('audit log of ' || p_house, 0))
$$;

-- The key that signs the next checkpoint of a log (vkey): the one that the last rotation names, or the log's first.
CREATE OR REPLACE FUNCTION audit_key_of_log(p_house uuid, p_epoch integer) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(
        (SELECT vkey FROM audit_keyrotation WHERE house_id = p_house AND epoch = p_epoch ORDER BY size DESC LIMIT 1),
        (SELECT vkey FROM audit_log WHERE house_id = p_house AND epoch = p_epoch))
$$;

-- Takes a log up under a key: the first epoch is created, one that was opened gets its key.
CREATE OR REPLACE FUNCTION audit_take_up_log(p_house uuid, p_epoch integer, p_origin text, p_vkey text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM audit_lock_log(p_house);
    IF p_epoch = 1 THEN
        INSERT INTO audit_log (house_id, epoch, origin, vkey, size, refusal) VALUES (p_house, 1, p_origin, p_vkey, 0, '')
            ON CONFLICT (house_id, epoch) DO NOTHING;
    END IF;
    UPDATE audit_log SET vkey = p_vkey WHERE house_id = p_house AND epoch = p_epoch AND vkey = '';
    PERFORM FROM audit_log WHERE (house_id, epoch, origin) = (p_house, p_epoch, p_origin);
    IF NOT FOUND OR audit_key_of_log(p_house, p_epoch) <> p_vkey THEN
        RAISE EXCEPTION 'log % has another key or origin', p_origin USING ERRCODE = 'KZ911';
    END IF;
END $$;

-- Makes leaves of what the chains have beyond their marks, at most p_most of a chain, and moves the marks.
-- The caller names the state it knows: epoch, size, last root (null before the first checkpoint), and its key.
CREATE OR REPLACE FUNCTION audit_sequence(
    p_house uuid, p_epoch integer, p_size bigint, p_root bytea, p_vkey text, p_most bigint
) RETURNS TABLE (event_id bigint, leaf_hash bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    current audit_log%ROWTYPE;
    last_root bytea;
    chains bigint[];
    done bigint[];
    upto bigint[];
    wanted bigint;
    taken bigint;
BEGIN
    PERFORM audit_lock_log(p_house);
    SELECT * INTO current FROM audit_log WHERE house_id = p_house ORDER BY epoch DESC LIMIT 1;
    SELECT root INTO last_root FROM audit_checkpoint
        WHERE house_id = p_house AND epoch = current.epoch ORDER BY size DESC LIMIT 1;
    IF (current.epoch, current.size) IS DISTINCT FROM (p_epoch, p_size) OR last_root IS DISTINCT FROM p_root THEN
        RAISE EXCEPTION 'the log is at epoch %, size %; epoch %, size % or another root was expected',
            current.epoch, current.size, p_epoch, p_size USING ERRCODE = 'KZ910';
    ELSIF audit_key_of_log(p_house, p_epoch) <> p_vkey THEN
        RAISE EXCEPTION 'log % has another key by now', current.origin USING ERRCODE = 'KZ911';
    END IF;
    SELECT array_agg(chain ORDER BY chain), array_agg(before ORDER BY chain), array_agg(last ORDER BY chain),
           coalesce(sum(last - before), 0)
    INTO chains, done, upto, wanted
    FROM (
        SELECT head.id AS chain, coalesce(mark.seq, 0) AS before,
               least(head.seq, coalesce(mark.seq, 0) + p_most) AS last
        FROM audit_chainhead head LEFT JOIN audit_mark mark ON mark.chain_id = head.id
        WHERE head.house_id = p_house AND head.seq > coalesce(mark.seq, 0)
    ) ahead;
    -- Ids of one chain rise with its numbers: both are given under the lock of its head.
    RETURN QUERY
        WITH found AS (
            SELECT event.id, decode(event.leaf_hash, 'hex') AS hash, row_number() OVER (ORDER BY event.id) AS number
            FROM unnest(chains, done, upto) AS ahead(chain, before, last)
            JOIN audit_event event
                ON event.house_id = p_house AND event.chain_id = ahead.chain
                    AND event.seq > ahead.before AND event.seq <= ahead.last
        ), leaves AS (
            INSERT INTO audit_leaf (event_id, house_id, epoch, leaf_index, leaf_hash)
            SELECT id, p_house, p_epoch, p_size + number - 1, hash FROM found ORDER BY number
            RETURNING event_id, leaf_hash, leaf_index
        )
        SELECT event_id, leaf_hash FROM leaves ORDER BY leaf_index;
    GET DIAGNOSTICS taken = ROW_COUNT;
    IF taken <> wanted THEN
        RAISE EXCEPTION '% events are missing from the chains', wanted - taken USING ERRCODE = 'KZ912';
    END IF;
    INSERT INTO audit_mark (house_id, chain_id, seq) SELECT p_house, * FROM unnest(chains, upto)
        ON CONFLICT (chain_id) DO UPDATE SET seq = excluded.seq;
    UPDATE audit_log SET size = size + taken WHERE id = current.id;
END $$;

-- Keeps why the sequencer does not sign a log: until it has signed it again, the house writes nothing.
CREATE OR REPLACE FUNCTION audit_refuse(p_house uuid, p_epoch integer, p_refusal text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM audit_lock_log(p_house);
    UPDATE audit_log SET refusal = p_refusal WHERE house_id = p_house AND epoch = p_epoch AND refusal <> p_refusal;
END $$;

-- Keeps what the sequencer computed and signed: tiles that became complete, and the checkpoint of the log's size.
CREATE OR REPLACE FUNCTION audit_publish(
    p_house uuid, p_epoch integer, p_size bigint, p_root bytea, p_at timestamptz, p_note text,
    p_levels smallint[], p_indexes bigint[], p_hashes bytea[]
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM audit_lock_log(p_house);
    PERFORM FROM audit_log WHERE house_id = p_house AND epoch = p_epoch AND size = p_size;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'a checkpoint is of the size that the log has' USING ERRCODE = 'KZ910';
    END IF;
    UPDATE audit_log SET refusal = '' WHERE house_id = p_house AND epoch = p_epoch AND refusal <> '';
    INSERT INTO audit_tile (house_id, epoch, level, tile_index, hash)
        SELECT p_house, p_epoch, tile.* FROM unnest(p_levels, p_indexes, p_hashes) AS tile;
    INSERT INTO audit_checkpoint (house_id, epoch, size, root, at, note)
        VALUES (p_house, p_epoch, p_size, p_root, p_at, p_note);
END $$;

-- Begins a new epoch whose first leaf is the event that says so, written by the same transaction. What was restored
-- and is not in the log yet follows it in the new epoch.
CREATE OR REPLACE FUNCTION audit_open_epoch(
    p_house uuid, p_epoch integer, p_origin text, p_size bigint, p_chain text, p_seq bigint,
    p_outside_epoch integer, p_outside_size bigint, p_outside_root bytea
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    opening audit_event%ROWTYPE;
    current audit_log%ROWTYPE;
    before bigint;
BEGIN
    PERFORM audit_lock_log(p_house);
    SELECT event.* INTO opening
        FROM audit_event event JOIN audit_chainhead head ON head.id = event.chain_id AND head.house_id = event.house_id
        WHERE head.house_id = p_house AND head.name = p_chain AND event.seq = p_seq;
    IF opening.xid IS DISTINCT FROM pg_current_xact_id()::text::bigint OR opening.doc ->> 'kind' <> 'log.epoch_opened' THEN
        RAISE EXCEPTION 'an epoch begins with the event that records it' USING ERRCODE = 'KZ913';
    END IF;
    SELECT seq INTO before FROM audit_mark WHERE chain_id = opening.chain_id;
    IF coalesce(before, 0) <> p_seq - 1 THEN
        RAISE EXCEPTION 'an earlier event of % is not in the log', p_chain USING ERRCODE = 'KZ913';
    END IF;
    SELECT * INTO current FROM audit_log WHERE house_id = p_house ORDER BY epoch DESC LIMIT 1;
    IF p_epoch <= coalesce(current.epoch, 1) OR p_size <> coalesce(current.size, 0) THEN
        RAISE EXCEPTION 'the log is at epoch %, size %; it was read at size %, and epoch % is to be a new one',
            current.epoch, current.size, p_size, p_epoch USING ERRCODE = 'KZ913';
    END IF;
    INSERT INTO audit_epoch (house_id, epoch, event_id, outside_epoch, outside_size, outside_root)
        VALUES (p_house, p_epoch, opening.id, p_outside_epoch, p_outside_size, p_outside_root);
    INSERT INTO audit_log (house_id, epoch, origin, vkey, size, refusal)
        VALUES (p_house, p_epoch, p_origin, '', 1, '');
    INSERT INTO audit_leaf (event_id, house_id, epoch, leaf_index, leaf_hash)
        VALUES (opening.id, p_house, p_epoch, 0, decode(opening.leaf_hash, 'hex'));
    INSERT INTO audit_mark (house_id, chain_id, seq) VALUES (p_house, opening.chain_id, p_seq)
        ON CONFLICT (chain_id) DO UPDATE SET seq = excluded.seq;
END $$;

-- Another key signs every checkpoint that is larger than the last one, which the event of this transaction records. The
-- sequencer takes the event into the log with the next checkpoint, under the new key.
CREATE OR REPLACE FUNCTION audit_rotate_key(
    p_house uuid, p_epoch integer, p_size bigint, p_old text, p_new text, p_chain text, p_seq bigint
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    rotation audit_event%ROWTYPE;
    current audit_log%ROWTYPE;
BEGIN
    PERFORM audit_lock_log(p_house);
    SELECT event.* INTO rotation
        FROM audit_event event JOIN audit_chainhead head ON head.id = event.chain_id AND head.house_id = event.house_id
        WHERE head.house_id = p_house AND head.name = p_chain AND event.seq = p_seq;
    IF rotation.xid IS DISTINCT FROM pg_current_xact_id()::text::bigint OR rotation.doc ->> 'kind' <> 'log.key_rotated'
       OR (rotation.doc #>> '{data,epoch}', rotation.doc #>> '{data,size}', rotation.doc #>> '{data,new_key}')
          IS DISTINCT FROM (p_epoch::text, p_size::text, p_new) THEN
        RAISE EXCEPTION 'a key is rotated with the event that records it' USING ERRCODE = 'KZ914';
    END IF;
    SELECT * INTO current FROM audit_log WHERE house_id = p_house ORDER BY epoch DESC LIMIT 1;
    IF (current.epoch, current.size) IS DISTINCT FROM (p_epoch, p_size) OR audit_key_of_log(p_house, p_epoch) <> p_old
       OR NOT EXISTS (SELECT FROM audit_checkpoint WHERE house_id = p_house AND epoch = p_epoch AND size = p_size) THEN
        RAISE EXCEPTION 'the log is at epoch %, size %, or has another key', current.epoch, current.size
            USING ERRCODE = 'KZ914';
    END IF;
    INSERT INTO audit_keyrotation (house_id, epoch, size, vkey, event_id)
        VALUES (p_house, p_epoch, p_size, p_new, rotation.id);
END $$;
