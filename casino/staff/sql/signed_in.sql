-- Whether a sign-in that a process remembers still stands: the token is there and has not expired, and none of the rows
-- that it was built from has been written since. `p_rows` are their xmin, as the look-up of a token returned them.
-- Returns the house, which a write takes from here; refuses (KZ906) where anything is different: then the token is read
-- again. Called within the write's own statement, when its subject is locked.
CREATE OR REPLACE FUNCTION staff_still_signed_in(p_house uuid, p_token text, p_rows text)
RETURNS uuid LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    PERFORM FROM staff_terminaltoken token
    JOIN staff_staff person ON person.id = token.user_id
    JOIN houses_house house ON house.id = person.house_id
    JOIN staff_terminal terminal ON terminal.id = token.terminal_id
    WHERE token.digest = p_token AND token.expiry > clock_timestamp() AND house.id = p_house
        AND concat_ws(' ', token.xmin, person.xmin, house.xmin, terminal.xmin) = p_rows;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the sign-in has changed' USING ERRCODE = 'KZ906';
    END IF;
    RETURN p_house;
END $$;
