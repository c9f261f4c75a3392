"""Cards of a pack in the dealer's hands: one that was dealt unknown is entered when a scanner or the dealer knows it.

Entries are not part of the engine's log: they are kept beside it, sealed (`hands.face_down`), their hashes in the audit
trail, and what is shown must agree with them. Each card exists once. Who enters what cannot be is refused, and the
exception is kept (`hands.exceptions`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import engine
from casino.audit.events.cards import CardsEntered
from casino.core import sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.work import Outcome, Work
from casino.hands import exceptions, face_down, selectors
from casino.hands.exceptions import CardsRefused
from casino.hands.face_down import Sealed, Unsealed
from casino.hands.models import CardEntry, ExceptionKind, Hand, Mode
from casino.hands.subject import AtHand, Opened
from engine.kernel.cards import UNKNOWN
from engine.kernel.grammar import Role

#: A seat of the engine and the index of a card in its hand, from 0 in the order of dealing.
Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """One card: the engine's seat (p1 is 1), the index among its cards in the order of dealing, the card."""

    seat: int
    index: int
    card: str


_ENTRIES = "SELECT seat, index, sealed, hash FROM hands_cardentry WHERE hand_id = %s::bigint ORDER BY id"


def entered(hand: Hand) -> dict[Position, str]:
    """The cards that were entered for a hand, by seat and index; the last entry of a card counts. Raises
    CardsAltered."""
    entries = _opened(hand, sql.rows(_ENTRIES, [hand.id]))
    return {(seat, index): opened.text for seat, index, opened in entries}


def _opened(hand: Hand, entries: Iterable[Any]) -> list[tuple[int, int, Unsealed]]:
    """Seat, index and card of every entry, in the order in which they were made. Raises CardsAltered."""
    return [
        (seat, index, face_down.open_card(hand, seat, index, Sealed(sealed, hashed)))
        for seat, index, sealed, hashed in entries
    ]


_SEALED_LINES = """
SELECT seq, stored FROM hands_log WHERE house_id = %s::uuid AND hand_id = %s::bigint AND stored <> text ORDER BY seq
"""


def asking_secrets(hand: Hand) -> tuple[sql.Statement, sql.Statement]:
    """What reads the lines that are sealed, as `hands_log` stores them, and the cards that were entered."""
    return sql.Bound(_SEALED_LINES, [hand.house_id, hand.id]), sql.Bound(_ENTRIES, [hand.id])


def opened_at_the_end(
    hand: Hand, log: Sequence[str], seen: Sequence[str], sealed: Iterable[tuple[int, str]], entered: Iterable[Any]
) -> dict[str, Any]:
    """What else the event that ends a hand records of cards that were secret, and that everybody has seen by now:
    `line_salts` and `entered`, each only where there is something. `seen` is the log as everybody sees it, `sealed` and
    `entered` are what `asking_secrets` has found."""
    salts = {
        str(number): face_down.open_line(hand, number, stored).salt
        for number, stored in sealed
        if seen[number - 1] == log[number - 1]
    }
    entries = _entries_that_were_shown(hand, seen, entered) if hand.mode == Mode.PHYSICAL else []
    return {name: found for name, found in (("line_salts", salts), ("entered", entries)) if found}


def _entries_that_were_shown(hand: Hand, seen: Sequence[str], entered: Iterable[Any]) -> list[dict[str, Any]]:
    """Entries whose cards everybody has seen, and all those of a seat that has shown its hand; of a hand in which cards
    came from a new pack, from the first one."""
    grammar, named, shown = selectors.grammar(hand), set[str](), set[int]()
    for line in seen:
        action = grammar.parse(line)
        named.update(action.cards)
        if grammar.role(action) is Role.SHOWN and UNKNOWN not in action.cards:
            shown.add(action.actor)
        if grammar.declared(action).reopens:
            break
    return [
        {"number": number, "actor": f"p{seat}", "index": index, "card": card, "salt": salt}
        for number, (seat, index, (card, salt)) in enumerate(_opened(hand, entered), start=1)
        if card in named or seat in shown
    ]


def enter(*, command: Command, code: str, entries: Sequence[Entry]) -> Answer:
    """Enter cards that were dealt as `??` in the hand in play, all or none.

    Raises Conflict no_hand or not_physical; Unprocessable no_such_card for an index without a card, card_known for one
    whose card is known; and CardsRefused card_entered_twice, card_not_in_pack or cards_differ, after which an
    exception is kept.
    """

    def change(opened: Opened, work: Work) -> Outcome:
        hand = physical(opened.playing())
        game, before = opened.game(), entered(hand)
        for entry in entries:
            _require_unknown(game, before, entry)
        require_agreeing(hand, game, before | {(entry.seat, entry.index): entry.card for entry in entries}, entries)
        hashes = add(hand, entries)
        version = opened.table.version + 1
        event = CardsEntered(hand=hand.name, entries=hashes, table_version=version)
        return Outcome(event, described(hand, game))

    return exceptions.keeping(command, code, lambda: write.write(command, AtHand(code), change))


def physical(hand: Hand) -> Hand:
    """The same hand, if its pack is in the dealer's hands. Raises Conflict not_physical."""
    if hand.mode != Mode.PHYSICAL:
        raise Conflict(f"The house deals hand {hand.name} and knows its cards.", code="not_physical", mode=hand.mode)
    return hand


def add(hand: Hand, entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Store entries, sealed; returns what the audit trail records of them."""
    hashes = []
    for entry in entries:
        kept = face_down.card(hand, entry.seat, entry.index, entry.card)
        CardEntry.objects.create(
            house_id=hand.house_id, hand=hand, seat=entry.seat, index=entry.index, **kept._asdict()
        )
        hashes.append({"actor": f"p{entry.seat}", "index": entry.index, "hash": kept.hash})
    return hashes


def described(hand: Hand, game: engine.Hand) -> dict[str, Any]:
    """A hand in play as its console sees it, after a write that took no action."""
    seen = selectors.describe(hand, game, game.view(engine.PUBLIC))
    return seen | {"balances": selectors.balances(hand)}


def _require_unknown(game: engine.Hand, before: Mapping[Position, str], entry: Entry) -> None:
    dealt = require_card(game, entry.seat, entry.index)
    if dealt[entry.index] != UNKNOWN or (entry.seat, entry.index) in before:
        raise Unprocessable(
            f"The card at index {entry.index} of p{entry.seat} is known already; the floor corrects it.",
            code="card_known",
            actor=f"p{entry.seat}",
            index=entry.index,
        )


def require_card(game: engine.Hand, seat: int, index: int) -> tuple[str, ...]:
    """The cards of a seat, one of which has this index. Raises Unprocessable no_such_card."""
    dealt = game.cards_of(seat) if seat <= len(game.stacks) else ()
    if index >= len(dealt):
        raise Unprocessable(
            f"p{seat} has {len(dealt)} cards, counted from 0.", code="no_such_card", actor=f"p{seat}", cards=len(dealt)
        )
    return dealt


def with_entries(game: engine.Hand, seat: int, entries: Mapping[Position, str]) -> tuple[str, ...]:
    """A seat's cards in the order of dealing, with what was entered of those that the log does not know."""
    return tuple(
        entries.get((seat, index), card) if card == UNKNOWN else card for index, card in enumerate(game.cards_of(seat))
    )


def require_agreeing(
    hand: Hand, game: engine.Hand, entries: Mapping[Position, str], new: Iterable[Entry] = (), line: str | None = None
) -> None:
    """Refuse where log and entries together say that a card is of another pack, lies in two places, or is another one
    than was entered. `new` and `line` are what is being entered now. Raises CardsRefused."""
    if not entries:
        return
    pack = engine.rules_version(hand.rules).pack_for(hand.options)
    for entry in new:
        if entry.card not in pack.members:
            raise CardsRefused(ExceptionKind.FOREIGN, f"{entry.card} is not a card of the pack.", [entry.card])
    out, opened = _out(hand, game)
    lying: dict[str, list[int]] = defaultdict(list, {card: [0] for card in opened})
    for seat in range(1, len(game.stacks) + 1):
        for card in _lying_before(game, seat, entries, out[seat], line):
            lying[card].append(seat)
    twice = sorted(card for card, seats in lying.items() if len(seats) > 1)
    if twice:
        raise CardsRefused(
            ExceptionKind.DUPLICATE, f"{', '.join(twice)} is already in another place.", twice, action=line
        )


def _lying_before(
    game: engine.Hand, seat: int, entries: Mapping[Position, str], out: Sequence[tuple[str, int]], line: str | None
) -> list[str]:
    """The cards that are known to lie, or to have lain, before a seat; `out` are those that it turned up or played.
    Raises CardsRefused cards_differ."""
    held = with_entries(game, seat, entries)
    for index, card in enumerate(held):
        known = entries.get((seat, index), card)
        if card != known:
            raise CardsRefused(
                ExceptionKind.DIFFERS,
                f"p{seat} shows another card than the one entered for index {index}. If the entry was wrong, the floor "
                "corrects it.",
                [known, card],
                action=line,
            )
    elsewhere: list[str] = []
    for card, dealt in out:
        if card in held[:dealt] or card in elsewhere:  # one that was turned up may be played later
            continue
        elsewhere.append(card)
        # A card that was drawn later cannot be one that had left the hand by then.
        if len(elsewhere) > held[:dealt].count(UNKNOWN):
            problem = f"p{seat} turns up or plays a card that was not entered for it."
            raise CardsRefused(ExceptionKind.DIFFERS, problem, elsewhere, action=line)
    return [card for card in (*held, *elsewhere) if card != UNKNOWN]


def _out(hand: Hand, game: engine.Hand) -> tuple[dict[int, list[tuple[str, int]]], set[str]]:
    """Cards that seats have turned up or played, by seat, each with the number of cards dealt to the seat by then; and
    those that came off the pack face up, which none of these is, no matter which hand holds it."""
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    dealt: dict[int, int] = defaultdict(int)
    opened: set[str] = set()
    grammar = selectors.grammar(hand)
    for line in game.log:
        action = grammar.parse(line)
        role = grammar.role(action)
        if role is Role.DEALT:
            dealt[action.target] += len(action.cards)
        elif role is Role.OPENED:
            opened.update(action.cards)
        elif role in (Role.TURNED, Role.PLAYED):
            unseen = [card for card in action.cards if card != UNKNOWN and card not in opened]
            found[action.actor] += [(card, dealt[action.actor]) for card in unseen]
    return found, opened
