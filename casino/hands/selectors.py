"""Reading hands: the engine's state from inputs and log, views, records."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import engine
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.core import sql
from casino.core.errors import Conflict, NotFound
from casino.hands import clock, deals, face_down
from casino.hands.face_down import CardsAltered
from casino.hands.models import UNSETTLED, Hand, HandState, Mode, engine_seats
from casino.hands.snapshot import HandSnapshot
from casino.houses.models import House
from casino.tables.models import Table
from engine.errors import EngineError
from engine.kernel.canonical import sha256_of
from engine.kernel.grammar import HOUSE, Grammar
from engine.kernel.offered import takes


def setup(hand: Hand | HandSnapshot) -> engine.Setup:
    """The engine's set-up of a stored hand."""
    return engine.Setup(
        game=hand.game,
        opt=hand.options,
        seats=len(hand.seats),
        stacks=tuple(hand.stacks),
        carry=hand.carry,
        dealer=len(hand.seats),
        deck=deals.deck(hand),
        series=hand.series,
        rules=hand.rules,
        ids=tuple(seat["player"] for seat in hand.seats),
    )


def grammar(hand: Hand) -> Grammar:
    """The vocabulary of the hand's log."""
    return engine.rules_version(hand.rules).grammar


def stored_log(hand: Hand) -> list[str]:
    """The accepted lines in order, with the floor's corrections, as they are stored (`hands.face_down` opens them)."""
    return [stored for (stored,) in sql.read(reading_log(hand))]


def reading_log(hand: Hand) -> sql.Statement:
    """What `stored_log` reads, for who reads it with something else: a row for each line."""
    return "SELECT stored FROM hands_log WHERE house_id = %s AND hand_id = %s ORDER BY seq", [hand.house_id, hand.id]


def log(hand: Hand, stored: Sequence[str] | None = None) -> list[str]:
    """The accepted lines in order with all their cards, and with the floor's corrections; `stored` where they were
    read. Raises CardsAltered."""
    return face_down.log(hand, stored_log(hand) if stored is None else stored)


def state(hand: Hand) -> engine.Hand:
    """The current hand: inputs and log replayed through the engine, which refuses the first wrong line."""
    return engine.resume(setup(hand), log(hand), deals.shuffle(hand))


def stored_result(result: engine.Result) -> dict[str, Any]:
    """An engine's result as a hand's row keeps it; amounts in minor units, `winner` an engine seat, 0 for none.

    `series` is there only where the game has one.
    """
    series = {"series": dict(result.series)} if result.series else {}
    return result.as_dict() | series


def seen_log(hand: Hand) -> list[str]:
    """The lines as everybody sees them, cards that lie face down as `??`; none of a log that cannot be replayed."""
    try:
        view: dict[str, Any] = state(hand).view("public")
    except (EngineError, CardsAltered):
        return []
    lines: list[str] = view["log"]
    return lines


# A session that goes on with what the last one has held goes on with its series too. Sessions follow each other: the
# table's last settled hand is of one of those, or none of their hands is settled. They are followed back no further.
_LAST_RESULT = """
WITH RECURSIVE last (session_id, result) AS (
    SELECT session_id, result FROM hands_hand WHERE house_id = %s::uuid AND table_id = %s::bigint AND state = 'settled'
    ORDER BY number DESC LIMIT 1
), those (id, resumes_id) AS (
    SELECT id, resumes_id FROM tables_tablesession
    WHERE house_id = %s::uuid AND table_id = %s::bigint AND closed_at IS NULL
    UNION ALL
    SELECT before.id, before.resumes_id FROM those JOIN tables_tablesession before ON before.id = those.resumes_id
    WHERE those.id > (SELECT session_id FROM last)
)
SELECT result FROM last WHERE session_id IN (SELECT id FROM those)
"""


def series(table: Table) -> dict[str, Any]:
    """What the table's next hand must know of those before it: `series` of the session's last settled hand.

    A voided hand does not count, and a new session starts afresh, where its cukassza has been shared.
    """
    return those_series(sql.read(asking_series(table)))


def asking_series(table: Table) -> sql.Statement:
    """What `series` reads, for who reads it with something else; `those_series` takes what it has found."""
    return sql.Bound(_LAST_RESULT, [table.house_id, table.id, table.house_id, table.id])


def those_series(rows: Iterable[tuple[Any, ...]]) -> dict[str, Any]:
    """The series, by what `asking_series` has found."""
    for (result,) in rows:
        found: dict[str, Any] = json.loads(result).get("series", {})
        return found
    return {}


def unsettled(table: Table) -> Hand | None:
    """The hand at this table that is played or waits for its settlement; there is never more than one."""
    one = "WHERE house_id = %s AND table_id = %s AND state = ANY(%s)"
    for hand in sql.instances(Hand, one, [table.house_id, table.id, list(UNSETTLED)]):
        hand.table, hand.house = table, table.house
        return hand
    return None


def playing(table: Table) -> Hand:
    """The hand in play. Raises Conflict when there is none."""
    return require_playing(table, unsettled(table))


def require_playing(table: Table, hand: Hand | None) -> Hand:
    """The table's hand that is not settled, if it is in play. Raises Conflict no_hand when it is not."""
    if hand is None or hand.state != HandState.PLAYING:
        raise Conflict(f"No hand is being played at table {table.code}.", code="no_hand", state=table.state)
    return hand


def get(house: House, name: str) -> Hand:
    """One hand of the house by its name. Raises NotFound."""
    hand = Hand.objects.filter(house=house, name=name).select_related("table__house").first()
    if hand is None:
        raise NotFound(f"This house has no hand {name}.")
    return hand


def of_table(table: Table, current: Hand | None, name: str) -> Hand:
    """A hand of this table by its name, which may be the `current` one, that is not settled. Raises NotFound."""
    hand = current if current is not None and current.name == name else get(table.house, name)
    if hand.table_id != table.id:
        raise NotFound(f"Table {table.code} has no hand {name}.")
    hand.table, hand.house = table, table.house
    return hand


def balances(hand: Hand) -> dict[str, Any]:
    """The ledger's balances for this hand: the pot, the cukassza, the bank of the seats, and every stack by the
    engine's seat name."""
    table = hand.table
    stack_codes = [table.stack_account(seat["player"]) for seat in hand.seats]
    codes = [table.account(Account.POT), table.account(Account.CUKASSZA), table.account(Account.BANK), *stack_codes]
    found = chart.balances(table.house, codes)
    return {
        "pot": found[codes[0]],
        "cukassza": found[codes[1]],
        "bank": found[codes[2]],
        "stacks": {f"p{index}": found[code] for index, code in enumerate(stack_codes, start=1)},
    }


def stopped(hand: Hand) -> bool:
    """Whether nobody may act any more, also where the log is not complete: a hand disputed or voided in play."""
    return hand.state != HandState.PLAYING


def legal_actions(game: engine.Hand, seat: int | None = None) -> list[dict[str, Any]]:
    """What may be done now. A console does not know hidden cards: not whether a hand beats the one laid open, nor which
    card a hand compels. For `seat`, what the seat may do with its cards."""
    if seat is None:
        return [_offer(game, legal) for legal in game.legal_for(engine.PUBLIC)]
    return [_offer(game, legal) for legal in game.legal_for(seat) if legal.actor == f"p{seat}"]


def _offer(game: engine.Hand, legal: engine.Legal) -> dict[str, Any]:
    """One legal action as the API writes it: with a value for each field in `takes` it is an action of a request."""
    verb = game.grammar.verb(legal.actor, legal.verb)
    held: tuple[str, ...] | None = None
    if game.setup.deck is not None:  # the house deals, so requests name cards of a hand by their places
        held = () if verb.by == HOUSE else game.held(int(legal.actor[1:]))
    return {"actor": legal.actor, "verb": legal.verb, "takes": takes(legal, verb, held)}


def describe(hand: Hand, game: engine.Hand, view: dict[str, Any]) -> dict[str, Any]:
    """A hand in play as its console sees it: public state, whose turn it is and what is legal.

    The console gets the public view `view`, and never a face-down card.
    """
    return {
        "hand": hand.name,
        "state": hand.state,
        "mode": hand.mode,
        "commitment": hand.commitment or None,
        "client_seeds": hand.client_seeds,
        "cards_roots": hand.cards_roots,
        "seats": engine_seats(hand),
        "actor": None if stopped(hand) else game.actor,
        "act_by": clock.act_by(hand, game),
        "legal_actions": [] if stopped(hand) else legal_actions(game),
        "not_offered": [] if stopped(hand) else [one._asdict() for one in game.not_offered(engine.PUBLIC)],
        "view": in_the_records_words(view),
        "result": hand.result,
    }


def in_the_records_words(view: dict[str, Any]) -> dict[str, Any]:
    """The engine's view with its seats named p1, p2 ..., so that `seat` always means a chair of the table."""
    seats = [{"actor": f"p{seat['seat']}", **seat} for seat in view["seats"]]
    # What is legal is beside the view.
    left_out = ("legal", "seats", "dealer")
    return {
        **{key: value for key, value in view.items() if key not in left_out},
        "button": f"p{view['dealer']}",
        "seats": [{key: value for key, value in seat.items() if key != "seat"} for seat in seats],
    }


def finished_record(hand: Hand) -> dict[str, Any]:
    """The record of a hand that is over. Raises Conflict before that, because it would reveal face-down cards."""
    _require_over(hand)
    return record(hand)


def public_record(hand: Hand) -> dict[str, Any]:
    """The record of a hand that is over, as everybody saw it: cards that lay face down are `??`.

    Without deck and seed, nor what is computed from unseen cards: `state` and `prev` are hashes, and where only a
    few cards are unknown, the hash would reveal them to anybody who tries all. Raises Conflict hand_in_play.
    """
    _require_over(hand)
    hidden = ("deck", "decks", "seed", "state", "prev")
    game = as_far_as_it_goes(hand)
    found = {key: value for key, value in record(hand, game).items() if key not in hidden}
    return found | {"acts": game.view(engine.PUBLIC)["log"]}


def _require_over(hand: Hand) -> None:
    if hand.state == HandState.PLAYING:
        raise Conflict(f"Hand {hand.name} is still being played.", code="hand_in_play")


def record(hand: Hand, game: engine.Hand | None = None) -> dict[str, Any]:
    """The hand as a `chr/1` record. Once the log is complete it holds the derived parts too, and in electronic mode the
    deck or decks and the seed that opens the commitment, also when the hand was voided: it cannot have been voided for
    its cards without an auditor seeing which they were. Inputs and log are as stored.

    `game` is the hand's state at the end of its log, where the caller has it: that saves reading the log, and replaying
    an electronic hand for its redeals and its digest.
    """
    out: dict[str, Any] = {
        "v": "chr/1",
        "game": hand.game,
        "rules": hand.rules,
        "opt": hand.options,
        "hand": hand.name,
        "seats": [seat["player"] for seat in hand.seats],
        "dealer": len(hand.seats),
        "stacks": hand.stacks,
        "carry": hand.carry,
        "acts": _log_as_far_as_it_opens(hand) if game is None else list(game.log),
    }
    if hand.series:
        out["series"] = hand.series
    if hand.previous_hash:
        out["prev"] = hand.previous_hash
    if hand.commitment:
        out["commit"] = hand.commitment
    if hand.result is not None:
        out |= {key: hand.result[key] for key in ("net", "tax", "carry_out")}
        if any(hand.result["bonus"]):
            out["bonus"] = hand.result["bonus"]
        if "series" in hand.result:
            out["series_out"] = hand.result["series"]
        if hand.mode == Mode.PHYSICAL:
            out["state"] = hand.digest
    if hand.commitment and (hand.result is not None or hand.state in (HandState.VOIDED, HandState.RULED)):
        out |= _of_the_seed(hand, game or as_far_as_it_goes(hand))
    if hand.client_seeds:
        out["client_seeds"] = hand.client_seeds
    return out


def _of_the_seed(hand: Hand, game: engine.Hand) -> dict[str, Any]:
    """The keys of an electronic hand that is over: the seed, `deck`, or `decks` when cards were shuffled again during
    the hand, and the digest of the state, which its row does not have without the seed."""
    packs = ["".join(pack) for pack in (game.setup.deck or (), *game.setup.redeals)]
    found: dict[str, Any] = {"decks": packs} if len(packs) > 1 else {"deck": packs[0]}
    if game.over and hand.result is not None:
        found["state"] = game.digest()
    return found | {"seed": deals.open_seed(hand).hex()}


def _log_as_far_as_it_opens(hand: Hand) -> list[str]:
    return face_down.log_as_far_as_it_opens(hand, stored_log(hand))


def as_far_as_it_goes(hand: Hand) -> engine.Hand:
    """The hand up to the first line that cannot be opened, or that the engine refuses: a disputed hand has a record
    too."""
    game, shuffle = engine.start(setup(hand)), deals.shuffle(hand)
    for line in _log_as_far_as_it_opens(hand):
        try:
            game.advance(line)
            if shuffle is not None:
                engine.supply(game, shuffle)
        except EngineError:
            break
    return game


def record_hash(hand: Hand, game: engine.Hand) -> str:
    """SHA-256 of a finished hand's canonical record, which the table's next record names as `prev`."""
    return sha256_of(record(hand, game))
