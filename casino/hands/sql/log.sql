-- The log of a hand. Tables are named in full: temporary ones of their names, which any role may make, come first on
-- the search path.

-- A line can only be added to a hand in play, and only as its next one. Judged for all lines of a statement together:
-- most actions add more than one.
-- Its plan is kept for as long as the connection lives: one that was made while there were few hands must not go on
-- reading all of them when there are many (enable_seqscan, here and in the other functions of every action).
CREATE OR REPLACE FUNCTION hands_line_in_order() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    wrong record;
BEGIN
    SELECT line.hand_id, line.seq, (
        SELECT state FROM public.hands_hand WHERE (house_id, id) = (line.house_id, line.hand_id)) AS state
    INTO wrong FROM added line
    WHERE NOT coalesce((
            SELECT state = 'playing' FROM public.hands_hand WHERE (house_id, id) = (line.house_id, line.hand_id)), false)
        OR (line.seq <> 1 AND (
            SELECT seq FROM public.hands_handline
            WHERE (house_id, hand_id, seq) = (line.house_id, line.hand_id, line.seq - 1)) IS NULL)
    LIMIT 1;
    IF FOUND AND wrong.state = 'playing' THEN
        RAISE EXCEPTION 'line % of hand % has no line before it', wrong.seq, wrong.hand_id USING ERRCODE = 'KZ900';
    ELSIF FOUND THEN
        RAISE EXCEPTION 'hand % is not being played', wrong.hand_id USING ERRCODE = 'KZ900';
    END IF;
    RETURN NULL;
END $$;

-- The log with its corrections: of a line's corrections the last one counts. `text` is what everybody may know of a
-- line. `stored` is the same, and for a line with face-down cards also what is sealed of it and its hash, after tabs
-- (`hands.face_down` opens it).
CREATE OR REPLACE VIEW hands_log AS
SELECT line.house_id, line.hand_id, line.seq, now.text,
    CASE WHEN now.sealed = '' THEN now.text ELSE concat_ws(E'\t', now.text, encode(now.sealed, 'hex'), now.hash) END AS stored
FROM hands_handline line LEFT JOIN LATERAL (
    SELECT after, sealed, hash FROM hands_correction
    WHERE house_id = line.house_id AND hand_id = line.hand_id AND seq = line.seq ORDER BY id DESC LIMIT 1
) AS corrected ON true CROSS JOIN LATERAL (
    SELECT coalesce(corrected.after, line.text) AS text,
        CASE WHEN corrected.after IS NULL THEN line.sealed ELSE corrected.sealed END AS sealed,
        CASE WHEN corrected.after IS NULL THEN line.hash ELSE corrected.hash END AS hash
) AS now;

-- Entered cards and corrections belong to a hand in play; a correction names the line as it reads now.
CREATE OR REPLACE FUNCTION hands_while_played() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM public.hands_hand WHERE (house_id, id, state) = (NEW.house_id, NEW.hand_id, 'playing')) THEN
        RAISE EXCEPTION 'hand % is not being played', NEW.hand_id USING ERRCODE = 'KZ900';
    END IF;
    IF TG_TABLE_NAME = 'hands_correction' THEN
        IF NOT EXISTS (
            SELECT FROM public.hands_log
            WHERE (house_id, hand_id, seq, text) = (NEW.house_id, NEW.hand_id, NEW.seq, NEW.before)) THEN
            RAISE EXCEPTION 'line % of hand % is not %', NEW.seq, NEW.hand_id, NEW.before USING ERRCODE = 'KZ900';
        END IF;
    END IF;
    RETURN NEW;
END $$;
