"""Exceptions: cards that cannot be as they were entered. The request is refused and changes nothing; that somebody
clears it is kept in its own transaction. No hand is dealt at the table until the floor has cleared it."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from django.db.models import Max

import engine
from casino.audit.events.cards import CardExceptionCleared, CardExceptionKept, DeckChecked
from casino.audit.services import record
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.work import Outcome, Work
from casino.hands import face_down, selectors
from casino.hands.models import CardException, ExceptionKind, HandState
from casino.houses.models import ClockTimestamp
from casino.tables import services as tables
from casino.tables.models import Table, TableState
from engine.errors import ActionError, CardAlreadyDealt, CardError, CardMismatch, CardNotInPack, EngineError
from engine.kernel.cards import split_cards
from engine.kernel.grammar import Role

T = TypeVar("T")

#: The code of the refusal that keeps an exception.
CODES = {
    ExceptionKind.DUPLICATE: "card_entered_twice",
    ExceptionKind.FOREIGN: "card_not_in_pack",
    ExceptionKind.DIFFERS: "cards_differ",
    ExceptionKind.MISSING: "deck_incomplete",
    ExceptionKind.DECK: "deck_incomplete",
}
#: What the engine refuses of cards that a dealer names, as an exception; a card that differs only where it is shown.
_KINDS: tuple[tuple[type[EngineError], ExceptionKind], ...] = (
    (CardAlreadyDealt, ExceptionKind.DUPLICATE),
    (CardNotInPack, ExceptionKind.FOREIGN),
    (CardMismatch, ExceptionKind.DIFFERS),
)


class CardsRefused(Unprocessable):
    """Cards cannot be as they were entered. `found` is what the exception keeps."""

    def __init__(
        self, kind: ExceptionKind, detail: str, cards: Sequence[str], *, action: str | None = None, **extra: Any
    ) -> None:
        super().__init__(detail, code=CODES[kind], **extra)
        self.kind = kind
        self.found = {"cards": sorted(cards), "problem": detail} | ({"action": action} if action else {})


def keeping(command: Command, code: str, operation: Callable[[], T], lines: Sequence[str] = ()) -> T:
    """Run a write; where it is refused because of cards, keep an exception before the refusal goes on, which names it.

    `lines`: the actions that were sent, one of which the engine's refusal names by its number.
    """
    try:
        return operation()
    except CardsRefused as refused:
        refused.extra["exception"] = _keep(command, code, refused.kind, refused.found)
        raise
    except CardError as error:
        refused_action = error.expected.get("refused_action")
        if isinstance(refused_action, int) and (kind := _kind(error, _game(command, code), lines[refused_action])):
            found = {"action": lines[refused_action], "problem": error.message}
            error.expected["exception"] = _keep(command, code, kind, found)
        raise


def _game(command: Command, code: str) -> engine.Game:
    """The game that is played at the table."""
    return engine.game_info(Table.objects.values_list("game", flat=True).get(house=command.context.house, code=code))


def _kind(error: CardError, game: engine.Game, line: str) -> ExceptionKind | None:
    """Which exception the engine's refusal of a line is; None for one that says nothing about the pack."""
    try:
        shown = game.grammar.role(game.grammar.parse(line)) is Role.SHOWN
    except ActionError:
        return None
    kind = next((kind for refusal, kind in _KINDS if isinstance(error, refusal)), None)
    return None if kind == ExceptionKind.DIFFERS and not shown else kind


def _keep(command: Command, code: str, kind: ExceptionKind, found: dict[str, Any]) -> int:
    """Keep an exception, unless the very same one is open; returns its number."""

    def operation() -> int:
        table = locks.lock(Table, locks.Rank.DESK, house=command.context.house, code=code)
        table.house = command.context.house
        hand = selectors.unsettled(table)
        for one in CardException.objects.filter(table=table, hand=hand, kind=kind, cleared_at=None):
            if findings(one) == found:
                return one.number
        cards = {"found": found} if hand is None else face_down.exception(hand, str(kind), found)._asdict()
        last = CardException.objects.filter(table=table).aggregate(last=Max("number"))["last"] or 0
        kept = CardException.objects.create(
            house=table.house, table=table, number=last + 1, hand=hand, kind=kind, **cards
        )
        event = CardExceptionKept(
            exception=kept.number,
            kind=str(kind),
            hand=hand.name if hand else None,
            found=kept.found,
            found_hash=kept.hash or None,
        )
        record(chain=table.chain, house=table.house, actor=command.context.actor, event=event)
        return kept.number

    return locks.in_transaction(operation)


def findings(exception: CardException) -> dict[str, Any]:
    """What an exception has found, for those who may know the cards. Raises CardsAltered."""
    if exception.hand is None:
        return cast("dict[str, Any]", exception.found)  # the CHECK card_exception_sealed
    opened: dict[str, Any] = json.loads(
        face_down.open_exception(exception.hand, exception.number, exception.kind, exception).text
    )
    return opened


_OPEN = "SELECT number FROM hands_cardexception WHERE table_id = %s::bigint AND cleared_at IS NULL ORDER BY number"


def asking_open(table: Table) -> sql.Statement:
    """What reads the numbers of the open exceptions of a table, in rows of one."""
    return sql.Bound(_OPEN, [table.id])


def require_none_open(table: Table, waiting: list[int]) -> None:
    """Refuse while exceptions of these numbers are open at the table. Raises Conflict cards_exception_open."""
    if waiting:
        raise Conflict(
            f"Table {table.code} has open card exceptions; the floor must clear them before the next hand.",
            code="cards_exception_open",
            exceptions=waiting,
        )


def clear(*, command: Command, code: str, exception: int, reason: str) -> Answer:
    """The floor has looked into an exception; it does so when no hand is in play, whose cards it might reveal.

    Raises NotFound, Conflict already_cleared, and table_playing while a hand is in play.
    """

    def change(table: Table, work: Work) -> Outcome:
        found = CardException.objects.select_related("hand").filter(table=table, number=exception).first()
        if found is None:
            raise NotFound(f"Table {code} has no exception {exception}.")
        if found.cleared_at is not None:
            raise Conflict(f"Exception {exception} was cleared by {found.cleared_by}.", code="already_cleared")
        if found.hand is not None and found.hand.state == HandState.PLAYING:
            tables.require_state(table, TableState.OPEN, TableState.CLOSED)
        CardException.objects.filter(id=found.id).update(
            cleared_at=ClockTimestamp(), cleared_by=command.context.actor.staff, reason=reason
        )
        hand = found.hand.name if found.hand else None
        return Outcome(
            CardExceptionCleared(
                exception=found.number,
                kind=found.kind,
                hand=hand,
                found=found.found,
                found_hash=found.hash or None,
                reason=reason,
            )
        )

    return write.write(command, tables.AtTable(code), change)


def check_deck(*, command: Command, code: str, cards: str) -> Answer:
    """Between hands: all cards of the table's pack, in any order, as a scanner reads them.

    Raises Conflict table_... while a hand is in play, and CardsRefused deck_incomplete, or card_entered_twice or
    card_not_in_pack where nothing is missing, with the names; then an exception is kept.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.OPEN, TableState.CLOSED)
        pack = engine.game_info(table.game).pack_for(table.options)
        there = Counter(split_cards(cards))
        missing = sorted(pack.members - there.keys())
        foreign = sorted(there.keys() - pack.members)
        twice = sorted(card for card, count in there.items() if count > 1)
        if missing or foreign or twice:
            named = {"missing": missing, "duplicate": twice, "foreign": foreign}
            raise _incomplete({name: found for name, found in named.items() if found})
        return Outcome(DeckChecked(pack=pack.name, cards=len(pack.cards)))

    return keeping(command, code, lambda: write.write(command, tables.AtTable(code), change))


def _incomplete(named: dict[str, Any]) -> CardsRefused:
    kind = ExceptionKind(next(iter(named))) if len(named) == 1 else ExceptionKind.DECK
    words = "; ".join(f"{name}: {' '.join(cards)}" for name, cards in named.items())
    every = [card for cards in named.values() for card in cards]
    refused = CardsRefused(kind, f"The pack is not complete: {words}.", every, **named)
    refused.found |= named
    return refused
