"""Playing hands: setting up a table's game, dealing, entering cards, acting."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from casino import commands, sql
from casino.audit.services import Actor, record
from casino.commands import Answer, Command
from casino.errors import Conflict, ProofFailed, Unprocessable
from casino.hands import deals, postings, selectors
from casino.hands.models import Hand, HandState, Mode
from casino.house import books, outbox
from casino.house.models import ClockTimestamp, House
from casino.tables import selectors as table_selectors
from casino.tables import services as tables
from casino.tables.models import Seating, Table, TableState
from engine import game as engine
from engine.errors import EngineError, StackTooShort
from engine.events import Event, Move, MoveKind
from engine.vying import ranking

#: Every verb of the games' logs with its meaning.
VERBS: dict[str, str] = {
    verb: meaning for name in engine.game_names() for verb, meaning in engine.game_info(name).verbs.items()
}
#: Celery task that settles an ended hand.
RESOLVE = "hands.resolve_hand"
#: Options without a silent default at a house table, although the engine can do without them.
HOUSE_MUST_SET = {"ferbli": ("vizi", "table_max")}


def warm_up() -> None:
    """Build what the engine needs for its first showdown; called once before a server forks its processes."""
    ranking.prepare()


def set_up_table(*, house: House, code: str, terms: tables.Terms, actor: Actor) -> Table:
    """Set up a table after the engine has accepted its options.

    Raises the engine's typed option errors, and Unprocessable for what a house table must set or cannot seat.
    """
    info = engine.game_info(terms.game)
    info.rules.parse(terms.options, terms.seats)
    if terms.min_stack < int(terms.options.get("vizi", 0)):
        raise Unprocessable("A stack must cover the vizi.", code="min_stack_too_small", min=terms.options["vizi"])
    for name in HOUSE_MUST_SET.get(terms.game, ()):
        if name not in terms.options:
            raise Unprocessable(f"A {terms.game} table must set {name}.", code="option_missing", option=name)
    if not info.min_seats <= terms.seats <= info.max_seats:
        raise Unprocessable(
            f"{terms.game} seats {info.min_seats} to {info.max_seats}.",
            code="seats_out_of_range",
            min=info.min_seats,
            max=info.max_seats,
        )
    return tables.create_table(house=house, code=code, terms=terms, actor=actor)


# --- One write to a hand --------------------------------------------------------------------------------------------


_ADD_LINES = """
INSERT INTO hands_handline (hand_id, seq, text)
SELECT %s, added.seq, added.text FROM unnest(%s::int[], %s::text[]) AS added (seq, text) ORDER BY added.seq
"""


@dataclass(slots=True)
class _Play:
    """A hand while one command works on it: row, engine state, and what has been accepted so far."""

    hand: Hand
    game: engine.Hand
    first_seq: int
    lines: list[str]
    events: list[Event]

    def take(self, line: str) -> None:
        """Let the engine accept one line; it raises and changes nothing when the line is not legal."""
        self.events += self.game.apply(line)
        self.lines.append(self.game.log[-1])

    def take_forced(self) -> None:
        """In electronic mode, deal and show for as long as nobody has a choice."""
        while (line := self.game.forced()) is not None:
            self.take(line)


def _answer(command: Command, play: _Play, kind: str, data: dict[str, Any], status: int) -> Answer:
    """Store what was accepted, post it, prove it, record it: the second half of every write to a hand."""
    hand, table = play.hand, play.hand.table
    sql.change(_ADD_LINES, [hand.id, list(range(play.first_seq, play.first_seq + len(play.lines))), play.lines])
    _post_at_once(play)
    if play.game.over:
        _end(play)
    tables.advance(table, TableState.SETTLING if play.game.over else None)
    view = play.game.view("public")
    receipt = record(
        chain=table.chain,
        house=table.house,
        kind=kind,
        actor=command.acting.actor,
        data={**data, **_told(play, view), "table_version": table.version},
    )
    body = {
        **selectors.describe(hand, play.game, view),
        "balances": _proven_balances(play),
        "version": table.version,
        "audit": receipt.as_json(),
    }
    return Answer(body, table.version, status)


def _told(play: _Play, view: dict[str, Any]) -> dict[str, Any]:
    """What the audit trail is told: the lines as everybody saw them, and the whole log once no card is a secret.

    Auditors read events while hands are played; a card that lies face down is nobody's business but its holder's.
    """
    first = play.first_seq
    told: dict[str, Any] = {"hand": play.hand.name, "first_line": first, "lines": view["log"][max(first, 1) - 1 :]}
    if play.game.over:
        told |= {"log": list(play.game.log), "digest": play.hand.digest}
    return told


def _post_at_once(play: _Play) -> None:
    moves = postings.moves(play.events, at_once=True)
    if moves:
        hand = play.hand
        books.enter(
            hand.house,
            key=f"hand:{hand.name}:{play.first_seq}",
            kind="hand.stakes" if play.first_seq else "hand.carry_in",
            lines=postings.lines(hand, moves),
            metadata={"hand": hand.name, "first_line": play.first_seq, "lines": len(play.lines)},
        )


def _proven_balances(play: _Play) -> dict[str, Any]:
    """The ledger's balances, after making sure that they are the engine's, less what waits for the settlement."""
    balances = selectors.balances(play.hand)
    waiting = postings.moves(play.events, at_once=False)
    pot, stacks = expected_before_settlement(play.game, waiting)
    in_ledger = tuple(balances["stacks"].values())
    if (balances["pot"], in_ledger) != (pot, stacks):
        raise ProofFailed(
            f"Hand {play.hand.name}: the engine has pot {pot} and stacks {stacks}, the ledger "
            f"{balances['pot']} and {in_ledger}. Nothing was written.",
        )
    return balances


def expected_before_settlement(game: engine.Hand, waiting: Iterable[Move]) -> tuple[int, tuple[int, ...]]:
    """The engine's pot and stacks with the moves of the settlement taken back, in minor units."""
    pot, stacks = game.pot, list(game.stacks)
    for move in waiting:
        match move.kind:
            case MoveKind.PENALTY:
                pot -= move.amount
                stacks[move.seat - 1] += move.amount
            case MoveKind.RETURNED | MoveKind.AWARD:
                pot += move.amount
                stacks[move.seat - 1] -= move.amount
            case MoveKind.BONUS:
                stacks[move.seat - 1] -= move.amount
            case MoveKind.TAX | MoveKind.CARRY_OUT:
                pot += move.amount
            case MoveKind.CARRY_IN | MoveKind.STAKE:
                raise AssertionError("these are posted at once")
    return pot, tuple(stacks)


def _end(play: _Play) -> None:
    """The log is complete: keep digest and result for comparison, and queue the worker's replay."""
    hand, result = play.hand, play.game.result
    assert result is not None  # noqa: S101 - the engine has a result when it is over
    hand.state = HandState.ENDED
    hand.digest = play.game.digest()
    hand.result = selectors.stored_result(result)
    hand.handle = sum(play.game.stakes)
    Hand.objects.filter(id=hand.id).update(
        state=hand.state, digest=hand.digest, result=hand.result, handle=hand.handle, ended_at=ClockTimestamp()
    )
    hand.table.last_record_hash = selectors.record_hash(hand)
    outbox.enqueue(house=hand.house, task=RESOLVE, subject=str(hand.id))


# --- The writes -----------------------------------------------------------------------------------------------------


def deal(*, command: Command, code: str, mode: Mode, dealer_seat: int | None, sitting_out: Sequence[int]) -> Answer:
    """Start the next hand with everybody seated but those who sit out.

    `dealer_seat` may be named for the first hand of a sitting only; after that the turn to deal passes by itself, to
    the seat that came first after the dealer. Raises Conflict table_settling while the last hand is not settled, and
    the engine's errors (too few seats, a stack that cannot cover the forced payments).
    """

    def operation() -> Answer:
        table = tables.lock_table(command, code)
        tables.require_state(table, TableState.OPEN)
        order = _play_order(table, dealer_seat, sitting_out)
        hand = _new_hand(table, order, mode)
        try:
            game = engine.start(selectors.setup(hand))
        except StackTooShort as error:
            raise _too_short(hand, error) from error
        hand.save(force_insert=True)
        table.state = TableState.PLAYING
        table.dealer_seat = hand.seats[0]["seat"]
        table.hands_dealt = hand.number
        play = _Play(hand, game, 0, [], list(game.opening_events))
        _post_at_once(play)
        play.first_seq, play.events = 1, []
        play.take_forced()
        data = {
            "mode": str(mode),
            "dealer": order[-1].seat,
            "seats": hand.seats,
            "stacks": hand.stacks,
            "carry": hand.carry,
            "commitment": hand.commitment,
        }
        return _answer(command, play, "hand.dealt", data, status=201)

    return commands.run(command, operation)


def act(*, command: Command, code: str, lines: Sequence[str]) -> Answer:
    """Take actions of the log's vocabulary (a bet, a call, cards in physical mode, cards shown ...), all or none.

    Raises the engine's error for the first line it refuses; nothing is stored then.
    """

    def operation() -> Answer:
        table = tables.lock_table(command, code)
        hand = selectors.playing(table)
        before = selectors.log(hand)
        play = _Play(hand, engine.resume(selectors.setup(hand), before), len(before) + 1, [], [])
        for number, line in enumerate(lines):
            try:
                play.take(_arranged(play.game, line))
            except EngineError as error:
                error.expected["refused_action"] = number
                raise
            play.take_forced()
        return _answer(command, play, "hand.acted", {}, status=200)

    return commands.run(command, operation)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _play_order(table: Table, dealer_seat: int | None, sitting_out: Sequence[int]) -> list[Seating]:
    """Who is dealt in, in play order: first the seat after the dealer, last the dealer himself."""
    seated = table_selectors.seated(table)
    absent = sorted(set(sitting_out) - {seating.seat for seating in seated})
    if absent:
        raise Unprocessable(f"Nobody sits on seats {absent}.", code="no_such_seat", seats=absent)
    dealt_in = [seating for seating in seated if seating.seat not in sitting_out]
    if dealer_seat is not None:
        if table.dealer_seat is not None:
            raise Conflict(
                "The dealer is named for the first hand of a sitting only; the turn to deal passes by itself.",
                code="dealer_already_known",
                dealer_seat=table.dealer_seat,
            )
        if dealer_seat not in [seating.seat for seating in dealt_in]:
            raise Unprocessable(f"Nobody is dealt in on seat {dealer_seat}.", code="no_such_seat")
    least = engine.game_info(table.game).min_seats
    if len(dealt_in) < least:
        raise Conflict(f"A hand of {table.game} takes at least {least} players.", code="too_few_players", min=least)
    first_dealer = dealt_in[-1].seat
    wanted = dealer_seat or table.dealer_seat or first_dealer
    # A dealer who has left or sits out is replaced by the next in play order.
    dealer = tables.in_play_order(dealt_in, after=wanted - 1)[0].seat
    return tables.in_play_order(dealt_in, after=dealer)


def _too_short(hand: Hand, error: StackTooShort) -> Unprocessable:
    """The engine's refusal in the words of the table."""
    short = hand.seats[int(str(error.expected["seat"])) - 1]
    return Unprocessable(
        f"{short['player']} on seat {short['seat']} has too little for a hand: {error.message}. Add chips, or let the "
        "seat sit out.",
        code=error.code,
        min=error.expected["min"],
        **short,
    )


def _arranged(game: engine.Hand, line: str) -> str:
    """A show with the cards put in the order in which they were dealt, which a dealer turning them over cannot know.

    Any other line, and a show that does not hold the cards known so far, stays as it is for the engine to judge.
    """
    actor, _, show = line.partition(" sm ")
    if not show:
        return line
    seats = game.view("auditor")["seats"]
    dealt = next((seat["cards"] for seat in seats if f"p{seat['seat']}" == actor), [])  # type: ignore[attr-defined]
    shown = [show[at : at + 2] for at in range(0, len(show), 2)]
    unknown = [card for card in shown if card not in dealt]
    if len(shown) != len(dealt) or len(unknown) != dealt.count("??"):
        return line
    in_order = "".join(card if card != "??" else unknown.pop(0) for card in dealt)
    return f"{actor} sm {in_order}"


def _new_hand(table: Table, order: list[Seating], mode: Mode) -> Hand:
    chips = table_selectors.stacks(table, order)
    number = table.hands_dealt + 1
    hand = Hand(
        house=table.house,
        table=table,
        sitting=order[0].sitting,
        number=number,
        name=f"{table.code}-{number:06d}",
        mode=mode,
        game=table.game,
        options=table.options,
        seats=[{"seat": seating.seat, "player": seating.player.ref} for seating in order],
        stacks=[chips[seating.player.ref] for seating in order],
        carry=table_selectors.cukassza(table),
        previous_hash=table.last_record_hash,
    )
    if mode == Mode.ELECTRONIC:
        deals.commit(hand)
    return hand
