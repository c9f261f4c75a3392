"""Playing hands: dealing, entering cards, acting."""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import engine
from casino.audit.events.hands import HandActed, HandDealt, HandProgress
from casino.audit.services import Actor
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.core import canonical, measured, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.work import Outcome, Work
from casino.hands import (
    arranging,
    cards,
    clock,
    deals,
    exceptions,
    face_down,
    fees,
    next_hand,
    postings,
    preparing,
    selectors,
    verbs,
)
from casino.hands.models import Hand, HandState, Mode
from casino.hands.subject import AtHand, Opened
from casino.houses import stages
from casino.tables import services as tables
from casino.tables.models import TableState
from engine.errors import EngineError
from engine.kernel.purse import BANK, KITTY, POT, Move
from engine.registry import prepare

#: Celery task that settles an ended hand.
RESOLVE = "hands.resolve_hand"


#: New objects that hold others, less those that have gone, after which a process looks for garbage; 700 by default.
GARBAGE = 20_000


def warm_up() -> None:
    """Build what the engine needs for its first hands; called once before a server forks its processes. What is there
    by now stays for ever: the collector of garbage need not look at it again, nor write to pages that are shared. It
    looks less often at what a request makes, which almost always goes with the request."""
    prepare()
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)


# --- One write to a hand --------------------------------------------------------------------------------------------


_ADD_LINES = """
INSERT INTO hands_handline (house_id, hand_id, seq, text, sealed, hash, aside)
SELECT %s::uuid, %s::bigint, added.*
FROM unnest(%s::int[], %s::text[], %s::bytea[], %s::text[], %s::boolean[]) AS added (seq, text, sealed, hash, aside)
ORDER BY added.seq
"""


_ENDED = """
UPDATE hands_hand
SET state = %s::text, digest = %s::text, result = %s::jsonb, handle = %s::bigint, ended_at = clock_timestamp()
WHERE id = %s::bigint
"""


@dataclass(slots=True)
class _Play:
    """A hand while one command works on it: row, engine state, where in log and moves the command began, and the lines
    accepted so far. `shuffle` gives the packs of redeals in electronic mode."""

    hand: Hand
    game: engine.Hand
    shuffle: engine.Shuffle | None
    first_seq: int
    first_move: int
    lines: list[str] = field(default_factory=list)
    before_line: int = 0
    #: At the end, what `cards.asking_secrets` has found.
    secrets: list[list[Any]] = field(default_factory=list)

    @property
    def ending(self) -> int:
        """Where the moves of the line that ended the hand begin; behind all moves while it is played."""
        return self.before_line if self.game.over else len(self.game.moves)

    def take(self, line: str) -> None:
        """Let the engine accept one line; it raises and changes nothing when the line is not legal."""
        before = len(self.game.moves)
        self.game.advance(line)
        self.before_line = before
        if self.shuffle is not None:
            engine.supply(self.game, self.shuffle)
        self.lines.append(line)

    def take_forced(self) -> None:
        """In electronic mode, deal and show for as long as no seat has a choice; at a real table the dealer does."""
        while self.game.setup.deck is not None and (line := self.game.forced()) is not None:
            self.take(line)


def _outcome(work: Work, play: _Play, event: Callable[..., HandProgress], *, status: int = 200) -> Outcome:
    """Store, post and prove the accepted lines: the second half of every write to a hand. `event` makes the event of
    what `_progress` returns."""
    hand, table = play.hand, play.hand.table
    if deals.commit_to_cards(hand, play.game.setup, work):
        event = partial(event, cards_roots=hand.cards_roots)
    view: dict[str, Any] = play.game.view("public")
    seen = view["log"][max(play.first_seq, 1) - 1 :]
    hashes = _add_lines(work, play, seen)
    _post_at_once(work, play)
    if play.game.over:
        _end(work, play)
        tables.to_state(table, TableState.SETTLING)
    body = {**selectors.describe(hand, play.game, view), "balances": _proven_balances(work, play)}
    return Outcome(event(**_progress(play, view, seen), line_hashes=hashes or None), body, status)


def _add_lines(work: Work, play: _Play, seen: Sequence[str]) -> dict[str, str]:
    """Store the accepted lines as everybody sees them, and sealed where that is not the whole line; returns the hashes
    of those, by number."""
    hand, words = play.hand, selectors.grammar(play.hand)
    numbers = range(play.first_seq, play.first_seq + len(play.lines))
    asides = [words.declared(words.parse(line)).aside for line in play.lines]
    kept = [face_down.line(hand, *each) for each in zip(numbers, play.lines, seen, strict=True)]
    sealed, hashes = sql.binaries(one.sealed for one in kept), [one.hash for one in kept]
    flags = f"{{{','.join('ft'[aside] for aside in asides)}}}"
    values = [hand.house_id, hand.id, sql.numbers(numbers), sql.texts(seen), sealed, sql.texts(hashes), flags]
    # At once if the answer needs them: at the end of the hand, or if it names the time at which the time to act is
    # over.
    if play.game.over or play.hand.table.time_to_act is not None:
        reads = cards.asking_secrets(hand) if play.game.over else ()
        _, *play.secrets = sql.together(sql.Bound(_ADD_LINES, values), *reads)
    else:
        work.also(_ADD_LINES, values)
    return {str(number): hashed for number, hashed in zip(numbers, hashes, strict=True) if hashed}


def _progress(play: _Play, view: dict[str, Any], seen: Sequence[str]) -> dict[str, Any]:
    """Fields of the event: the lines as everybody saw them, and at the end the log as everybody has seen it by then.

    Auditors read events; a card that lies face down is for its holder only, and a folded card stays face down.
    """
    hand, log = play.hand, view["log"]
    words: dict[str, Any] = {"hand": hand.name, "first_line": play.first_seq, "lines": seen}
    words["table_version"] = hand.table.version + 1
    if play.game.over:
        words |= {"log": log, "digest": hand.digest, "result": hand.result, "handle": hand.handle}
        words |= {"next_button": hand.table.button, "record_hash": hand.table.last_record_hash}
        words |= cards.opened_at_the_end(hand, play.game.log, log, *play.secrets)
    return words


def _post_at_once(work: Work, play: _Play) -> None:
    new = play.game.moves[play.first_move :]
    moves = postings.at_once(new, play.ending - play.first_move)
    if moves:
        hand = play.hand
        work.post(
            key=postings.key(hand, play.first_seq),
            kind="hand.stakes" if play.first_seq else "hand.carry_in",
            postings=postings.events(hand, moves),
            metadata={"hand": hand.name, "first_line": play.first_seq, "lines": len(play.lines)},
        )


def _proven_balances(work: Work, play: _Play) -> dict[str, Any]:
    """What the ledger holds for the hand when all is posted: the engine's pot, bank and stacks, less what waits for the
    settlement, and nothing in the cukassza, which went into the pot. The work proves that it does, or writes nothing.
    """
    hand, table = play.hand, play.hand.table
    waiting = postings.at_settlement(play.game.moves, play.ending)
    pot, bank, stacks = expected_before_settlement(play.game, waiting)
    held = {table.account(Account.POT): pot, table.account(Account.CUKASSZA): 0, table.account(Account.BANK): bank}
    players = [table.stack_account(seat["player"]) for seat in hand.seats]
    held |= {code: stacks[at] + fees.of_seat(hand.fees, at + 1) for at, code in enumerate(players)}
    ids = chart.ids(hand.house, {(code, hand.house.currency) for code in held})
    work.prove({ids[code, hand.house.currency]: balance for code, balance in held.items()})
    return {
        "pot": pot,
        "cukassza": 0,
        "bank": bank,
        "stacks": {f"p{number}": held[code] for number, code in enumerate(players, start=1)},
    }


_IN_PLAY = (POT, KITTY)
"""Places whose money is in the pot's account while a hand is played."""


def expected_before_settlement(game: engine.Hand, waiting: Iterable[Move]) -> tuple[int, int, tuple[int, ...]]:
    """The engine's pot, bank and stacks with the moves of the settlement taken back, in minor units."""
    pot, bank, stacks = game.pot, game.bank, list(game.stacks)
    for move in waiting:
        if move.source > 0:
            stacks[move.source - 1] += move.amount
        if move.target > 0:
            stacks[move.target - 1] -= move.amount
        pot += ((move.source in _IN_PLAY) - (move.target in _IN_PLAY)) * move.amount
        bank += ((move.source == BANK) - (move.target == BANK)) * move.amount
    return pot, bank, tuple(stacks)


def _end(work: Work, play: _Play) -> None:
    """The log is complete: keep digest and result for comparison, and queue the worker's replay."""
    hand, result = play.hand, play.game.result
    assert result is not None  # noqa: S101 - the engine has a result when it is over
    hand.state = HandState.ENDED
    hand.digest = deals.salted_digest(hand, play.game)
    hand.result = selectors.stored_result(result)
    hand.handle = postings.handle(play.game.moves)
    work.soon(sql.Bound(_ENDED, [hand.state, hand.digest, canonical.dumps(hand.result), hand.handle, hand.id]))
    hand.table.button = _next_dealer(hand, result)
    hand.table.last_record_hash = selectors.record_hash(hand, play.game)
    work.enqueue(task=RESOLVE, subject=str(hand.id))


def _next_dealer(hand: Hand, result: engine.Result) -> int:
    """The chair that deals next: last of those who sit in play order then."""
    info = engine.rules_version(hand.rules)
    return int(hand.seats[info.next_seats(len(hand.seats), hand.series, result.series)[-1]]["seat"])


# --- The writes -----------------------------------------------------------------------------------------------------


def deal(
    *, command: Command, code: str, button: int | None, sitting_out: Sequence[int], announced: Sequence[str] = ()
) -> Answer:
    """Start the next hand from a real pack, with everybody seated but those who sit out.

    `button` may be named for the first hand of a session only; after that the turn to deal passes by itself, to
    the seat that came first after the dealer. `announced`: what the dealer announces for this deal (the game's
    policy lists it), at a table that leaves it open; where money can be carried, only with some. Raises Conflict
    table_settling while the last hand is not settled, deal_prepared while an electronic one is committed to, and what
    :func:`casino.hands.next_hand.ready` raises.
    """

    def change(opened: Opened, work: Work) -> Outcome:
        table = opened.table
        tables.require_state(table, TableState.OPEN)
        tables.require_dealer(command.context, table)
        tables.require_none_prepared(table)
        seen = next_hand.look(table)
        order = next_hand.play_order(table, seen, button, sitting_out)
        return _begun(opened, work, next_hand.ready(table, seen, order, announced))

    return write.write(command, AtHand(code), change)


def deal_prepared(*, command: Command, code: str) -> Answer:
    """Start the next hand from the prepared deal, to the seats that were fixed with it.

    Raises Conflict no_deal_prepared, deal_seats_changed where another player sits there by now, client_seeds_missing
    where the table demands seeds that are not there, client_seeds_unrevealed, and what
    :func:`casino.hands.next_hand.ready` raises.
    """

    def change(opened: Opened, work: Work) -> Outcome:
        tables.require_state(opened.table, TableState.OPEN)
        tables.require_dealer(command.context, opened.table)
        return _begun(opened, work, preparing.ready(opened.table, work))

    return write.write(command, AtHand(code), change)


def _begun(opened: Opened, work: Work, ready: next_hand.Ready) -> Outcome:
    """The hand is in play: its row, its first lines, and what they post."""
    stages.require_playing(work.house)
    table, hand, game = opened.table, ready.hand, ready.game
    sql.insert(hand)
    table.state = TableState.PLAYING
    table.button = hand.seats[0]["seat"]
    table.hands_dealt, table.abandoned_deals = hand.number, 0
    play = _Play(hand, game, deals.shuffle(hand), first_seq=0, first_move=0)
    _post_at_once(work, play)
    play.first_seq, play.first_move = 1, len(game.moves)
    play.take_forced()
    opened.hand = hand
    return _remembered(opened, game, _outcome(work, play, _dealt(hand, left=ready.left), status=201))


def act(*, command: Command, code: str, actions: Sequence[Mapping[str, Any]]) -> Answer:
    """Take actions of the log's vocabulary (a bet, a call, cards in physical mode, cards shown ...), all or none: each
    an actor, a verb and what the verb takes (:meth:`engine.kernel.grammar.Grammar.compose`), or `places` instead of the
    cards.

    Raises Conflict not_the_dealer, and the engine's error for the first action it refuses; nothing is stored then. In
    electronic mode a refusal must not reveal hidden cards, see :func:`casino.hands.arranging.require_sealed`.
    """
    lines: list[str] = []

    def change(opened: Opened, work: Work) -> Outcome:
        tables.require_dealer(command.context, opened.table)
        return _take(work, opened, actions, lines)

    return exceptions.keeping(command, code, lambda: write.write(command, AtHand(code), change), lines)


def say_beside(*, command: Command, code: str, name: str, line: int, action: Mapping[str, Any]) -> Answer:
    """Say what may be said while others act: a call, a meld, a shout (verbs that the game declares `beside`). It
    answers the first `line` lines of the log of hand `name`, regardless of what came after them, so it needs no
    version: the order in which words arrive here is the log's order.

    Raises NotFound, Conflict hand_over, Unprocessable not_beside or no_such_line, and the engine's error where it comes
    too late or is not legal; `came_before` in what the error expects holds the lines since, as everybody saw them.
    """
    lines: list[str] = []

    def change(opened: Opened, work: Work) -> Outcome:
        tables.require_dealer(command.context, opened.table)
        hand = selectors.of_table(opened.table, opened.hand, name)
        there = len(selectors.log(hand))
        if line > there:
            raise Unprocessable(f"Hand {name} has {there} lines.", code="no_such_line", max=there)
        if hand.state != HandState.PLAYING:
            since = selectors.seen_log(hand)[line:]
            raise Conflict(f"Hand {name} is over.", code="hand_over", state=hand.state, expected={"came_before": since})
        grammar = selectors.grammar(hand)
        if not grammar.verb(action["actor"], action["verb"]).beside:
            allowed = sorted({verb.name for verb in grammar if verb.beside})
            raise Unprocessable(f"{action['verb']} can be used only on turn.", code="not_beside", verbs=allowed)
        try:
            return _take(work, opened, [action], lines)
        except EngineError as error:
            error.expected["came_before"] = selectors.seen_log(hand)[line:]
            raise

    return exceptions.keeping(command, code, lambda: write.write(command, AtHand(code), change), lines)


def _take(work: Work, opened: Opened, actions: Sequence[Mapping[str, Any]], lines: list[str]) -> Outcome:
    """Take actions in the hand, whose table is locked; `lines` gets them as they would stand in its log."""
    hand, game = opened.playing(), opened.game()
    return _remembered(opened, game, take(work, hand, game, opened.entered, actions, lines))


def take(
    work: Work, hand: Hand, game: engine.Hand, entries: Mapping[cards.Position, str],
    actions: Sequence[Mapping[str, Any]], lines: list[str],
) -> Outcome:  # fmt: skip
    """Take actions in a hand whose table is locked, all or none; `game` is its state and goes along, `entries` are the
    cards that were entered, `lines` gets the actions as they would stand in its log."""
    grammar = selectors.grammar(hand)
    lines[:] = [arranging.composed(grammar, action, number) for number, action in enumerate(actions)]
    play = _Play(hand, game, deals.shuffle(hand), len(game.log) + 1, len(game.moves))
    entered = entries if arranging.names_cards(grammar, lines) else {}
    for number, line in enumerate(lines):
        if hand.mode == Mode.ELECTRONIC:
            arranging.require_sealed(game, grammar, line, last=number == len(lines) - 1)
        try:
            play.take(arranging.arranged(play.game, grammar, line, entered))
        except EngineError as error:
            error.expected["refused_action"] = number
            raise
        cards.require_agreeing(hand, game, entered, line=line)
        play.take_forced()
    measured.taken(hand.game, len(lines))
    return _outcome(work, play, HandActed)


def _remembered(opened: Opened, game: engine.Hand, outcome: Outcome) -> Outcome:
    """The same, after whose commit this process remembers the hand's state."""
    return replace(outcome, after=lambda: opened.remember(game))


def play_automatic(hand: Hand, actor: Actor) -> bool:
    """For the seat whose time to act has run out, add what `clock.lines` says to the hand in play, whose table the
    caller has locked; its event names the seat. Returns False where the clock does not run."""
    game = selectors.state(hand)
    lines = clock.lines(game)
    if not lines:
        return False
    play = _Play(hand, game, deals.shuffle(hand), len(game.log) + 1, len(game.moves))
    acted = partial(HandActed, automatic=game.actor)
    entered = _entered(hand, lines)
    for line in lines:
        play.take(line)
        cards.require_agreeing(hand, game, entered, line=line)
    play.take_forced()
    work, table = Work(hand.house, actor), hand.table
    event = _outcome(work, play, acted).event
    tables.advance(table, work)
    work.record(chain=table.chain, event=event)
    return True


def _entered(hand: Hand, lines: Sequence[str]) -> dict[cards.Position, str]:
    """What was entered of a hand's unknown cards, where any of these lines could disagree with it."""
    if hand.mode != Mode.PHYSICAL:
        return {}
    return cards.entered(hand) if arranging.names_cards(selectors.grammar(hand), lines) else {}


# --- Parts ----------------------------------------------------------------------------------------------------------


def _dealt(hand: Hand, *, left: Mapping[str, Any]) -> Callable[..., HandProgress]:
    """The event of a deal, with everything that decides how the hand can go on; `left`: what the session's last settled
    hand left."""
    return partial(
        HandDealt,
        table=hand.table.code,
        number=hand.number,
        mode=str(hand.mode),
        game=hand.game,
        rules=hand.rules,
        options=hand.options,
        seats=hand.seats,
        stacks=hand.stacks,
        carry=hand.carry,
        fees=hand.fees or None,
        series=hand.series,
        series_begins=hand.series != left or None,
        button=hand.seats[-1]["seat"],
        commitment=hand.commitment or None,
        client_seeds=hand.client_seeds or None,
        card_verbs=verbs.of_cards(hand.rules),
    )
