"""Corrections of a hand in play: the floor says what a card is that was entered wrong. Nothing is edited: a correction
is kept beside the log, and every replay of the hand reads the log with its corrections."""

import engine
from casino.audit.events.cards import EntryCorrected, LineCorrected
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.work import Outcome, Work
from casino.hands import cards, face_down, selectors
from casino.hands.cards import Entry
from casino.hands.models import Correction, Hand
from casino.hands.subject import AtHand, Opened
from engine.errors import EngineError
from engine.kernel.grammar import Grammar


def correct_line(*, command: Command, code: str, line: int, named: str, reason: str) -> Answer:
    """Other cards for a line (from 1) of the hand in play: dealt, shown, turned up or laid open.

    The whole hand is replayed with it. Raises Conflict no_hand, not_physical, and correction_changes_play where any
    money, the turn or what may be done now would be another; Unprocessable no_such_line, no_card_line or
    nothing_corrected; CardsRefused where it does not agree with entered cards; and the engine's errors.
    """

    def change(opened: Opened, work: Work) -> Outcome:
        hand = cards.physical(opened.playing())
        stored = selectors.stored_log(hand)
        log = face_down.log(hand, stored)
        after = _corrected(selectors.grammar(hand), log, line, named)
        as_it_was = engine.resume(selectors.setup(hand), log)
        game = _replayed(hand, log, line, after)
        _require_same_play(as_it_was, game)
        cards.require_agreeing(hand, game, cards.entered(hand), line=after)
        seen, seen_after = face_down.seen(stored[line - 1]), _seen(game, line)
        kept = face_down.line(hand, line, after, seen_after)
        Correction.objects.create(
            house_id=hand.house_id, hand=hand, seq=line, before=seen, after=seen_after, reason=reason, **kept._asdict()
        )
        event = LineCorrected(
            hand=hand.name, line=line, before=seen, after=seen_after, line_hash=kept.hash or None, reason=reason
        )
        return Outcome(event, cards.described(hand, game))

    return write.write(command, AtHand(code), change)


def correct_entry(*, command: Command, code: str, entry: Entry, reason: str) -> Answer:
    """Another card for one that was entered (`cards.enter`) in the hand in play.

    Raises as `correct_line`, and Unprocessable no_such_entry where nothing was entered.
    """

    def change(opened: Opened, work: Work) -> Outcome:
        hand = cards.physical(opened.playing())
        game, entries = opened.game(), cards.entered(hand)
        if (entry.seat, entry.index) not in entries:
            raise Unprocessable(f"No card was entered for index {entry.index} of p{entry.seat}.", code="no_such_entry")
        if entries[entry.seat, entry.index] == entry.card:
            raise _nothing()
        cards.require_agreeing(hand, game, entries | {(entry.seat, entry.index): entry.card}, [entry])
        [hashed] = cards.add(hand, [entry])
        version = opened.table.version + 1
        event = EntryCorrected(hand=hand.name, **hashed, reason=reason, table_version=version)
        return Outcome(event, cards.described(hand, game))

    return write.write(command, AtHand(code), change)


def _corrected(grammar: Grammar, log: list[str], line: int, named: str) -> str:
    """The line with these cards instead."""
    if line > len(log):
        raise Unprocessable(f"The hand has {len(log)} lines.", code="no_such_line", max=len(log))
    before = log[line - 1]
    action = grammar.parse(before)
    if not action.cards:
        verbs = [verb.name for verb in grammar if verb.cards is not None]
        raise Unprocessable(f"Line {line}, {before!r}, names no cards.", code="no_card_line", verbs=verbs)
    after = grammar.with_cards(action, named)
    if after == before:
        raise _nothing()
    return after


def _nothing() -> Unprocessable:
    return Unprocessable("These are the cards that stand there already.", code="nothing_corrected")


def _replayed(hand: Hand, log: list[str], line: int, after: str) -> engine.Hand:
    """The hand with one line replaced. Raises the engine's error, which names the line it refuses."""
    game = engine.start(selectors.setup(hand))
    try:
        game.advance_all([*log[: line - 1], after, *log[line:]])
    except EngineError as error:
        error.expected["line"] = len(game.log) + 1
        raise
    return game


def _require_same_play(before: engine.Hand, after: engine.Hand) -> None:
    """Cards that no action depends on may be corrected; what was played and paid stays."""
    same = (
        (before.moves, before.actor, before.over, before.stacks, before.pot)
        == (after.moves, after.actor, after.over, after.stacks, after.pot)
        and before.legal_for(engine.PUBLIC) == after.legal_for(engine.PUBLIC)
    )  # fmt: skip
    if not same:
        raise Conflict(
            "With these cards the hand would have been played differently; void it, or play it to its end.",
            code="correction_changes_play",
        )


def _seen(game: engine.Hand, line: int) -> str:
    """A line of the log as everybody saw it."""
    log = game.view(engine.PUBLIC)["log"]
    if not isinstance(log, list | tuple):
        raise TypeError("a view has a log")
    return str(log[line - 1])
