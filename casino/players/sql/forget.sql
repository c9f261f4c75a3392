-- The one way in which a person's data key ends. It needs the event that records it: the house's chain must end with
-- `player.forgotten` of this player, written by the same transaction; so the application's role, which may execute this
-- and cannot delete, destroys no key unseen. True when there was a key. The stored answers about the player go with it:
-- beside each stands a hash of the request, against which a holder of Django's secret key can try names. Sent again,
-- such a request is refused: its version has passed, or who the player was is forgotten.
CREATE OR REPLACE FUNCTION players_destroy_key(p_player bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    player players_player%ROWTYPE;
BEGIN
    SELECT * INTO STRICT player FROM players_player WHERE id = p_player;
    IF NOT EXISTS (
        SELECT FROM audit_chainhead head
        JOIN houses_house house ON house.id = head.house_id AND head.name = 'house/' || house.code
        JOIN audit_event event ON event.house_id = head.house_id AND event.chain_id = head.id AND event.seq = head.seq
        WHERE head.house_id = player.house_id AND event.xid = pg_current_xact_id()::text::bigint
            AND event.doc ->> 'kind' = 'player.forgotten' AND event.doc -> 'data' ->> 'player' = player.ref
    ) THEN
        RAISE EXCEPTION 'no audit event records that player % is forgotten', player.ref
            USING ERRCODE = 'KZ920', HINT = 'Record player.forgotten first, in the same transaction.';
    END IF;
    DELETE FROM staff_answeredrequest WHERE house_id = player.house_id
        -- Few answers have the text at all, and only those are read as JSON.
        AND CASE WHEN strpos(answer, '"player":' || to_json(player.ref)) > 0 THEN answer::json ->> 'player' = player.ref
            ELSE false END;
    DELETE FROM players_personkey WHERE player_id = p_player;
    RETURN FOUND;
END $$;
