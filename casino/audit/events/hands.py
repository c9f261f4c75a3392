"""Hands, in such detail that an export's events alone rebuild every one of them.

`lines` are the lines of the hand's log as everybody saw them, cards that lie face down as `??`; `first_line` counts
from 1. With the event that completed the log come `log` (all lines, with the cards), the engine's `digest` of the final
state, the `result` and the `handle`: until then a card that lies face down is nobody's business but its holder's."""

from typing import Any

from casino.audit.events.registry import Told, event, told


@event("hand.dealt", chain="table")
def dealt(
    *,
    hand: str,
    table: str,
    number: int,
    mode: str,
    game: str,
    rules: str | None = None,
    options: dict[str, Any],
    seats: list[dict[str, Any]],
    stacks: list[int],
    carry: int,
    fees: dict[str, Any] | None = None,
    series: dict[str, Any],
    series_begins: bool | None = None,
    dealer: int,
    commitment: str | None = None,
    client_seeds: dict[str, Any] | None = None,
    cards_roots: list[str] | None = None,
    card_verbs: dict[str, list[str]] | None = None,
    first_line: int,
    lines: list[str],
    table_version: int,
    log: list[str] | None = None,
    digest: str | None = None,
    result: dict[str, Any] | None = None,
    handle: int | None = None,
) -> Told:
    """A hand was begun: everything that decides how it can go on, seats and stacks in play order, the dealer's seat.
    `fees`: what each seat pays the house when the hand is settled (`amounts`), for every `deal` or `hour` (`per`): set
    aside from its chips, so no part of `stacks`.
    `series` is what the sitting's last settled hand left (its result's `series`), or the game's beginning where these
    people do not go on with that, which `series_begins` (true) says. `card_verbs`: the verbs of the log whose lines
    name cards, by what becomes of these (`dealt` to a seat, `opened`, `played` out of a hand, `shown` as a whole hand,
    `turned` up, `laid_away`), and under `reopens` those after which cards come of a new pack; missing in older events.
    """
    return told(
        hand=hand,
        table=table,
        number=number,
        mode=mode,
        game=game,
        rules=rules,
        options=options,
        seats=seats,
        stacks=stacks,
        carry=carry,
        fees=fees or None,
        series=series,
        series_begins=series_begins,
        dealer=dealer,
        commitment=commitment or None,
        client_seeds=client_seeds,
        cards_roots=cards_roots,
        card_verbs=card_verbs,
        first_line=first_line,
        lines=lines,
        table_version=table_version,
        log=log,
        digest=digest,
        result=result,
        handle=handle,
    )


@event("hand.acted", chain="table")
def acted(
    *,
    hand: str,
    first_line: int,
    lines: list[str],
    table_version: int,
    cards_roots: list[str] | None = None,
    log: list[str] | None = None,
    digest: str | None = None,
    result: dict[str, Any] | None = None,
    handle: int | None = None,
    entered: list[dict[str, Any]] | None = None,
    corrected: list[dict[str, Any]] | None = None,
    automatic: str | None = None,
) -> Told:
    """Lines were added to a hand's log: actions of players, cards that became known; all the `cards_roots` where a
    redeal added one. `automatic`: the seat (`p2`) whose time to act had run out, for which the worker has played the
    automatic act. At the end also the cards that were `entered` (`hand.cards_entered`), with their salts, and the
    lines that were `corrected` (`hand.line_corrected`), with the cards, where there are such."""
    return told(
        hand=hand,
        first_line=first_line,
        lines=lines,
        table_version=table_version,
        cards_roots=cards_roots,
        log=log,
        digest=digest,
        result=result,
        handle=handle,
        entered=entered,
        corrected=corrected,
        automatic=automatic,
    )


@event("hand.settled", chain="table")
def settled(*, hand: str, result: dict[str, Any], digest: str, settlement: int | None, table_version: int) -> Told:
    """A worker replayed a hand, found what was stored, and paid; `settlement` is the ledger transaction, null where
    nothing was left to move."""
    event = told(hand=hand, result=result, digest=digest, table_version=table_version)
    return event.also(settlement=settlement)


@event("hand.settlement_failed", chain="table")
def settlement_failed(*, hand: str, problem: str) -> Told:
    """A worker could not settle a hand and will try again: `problem` is the error's class, told when it first occurs
    and when it becomes another one. The tray lacks chips, for example, or no gaming day is open."""
    return told(hand=hand, problem=problem)


@event("hand.disputed", chain="table")
def disputed(*, hand: str, frozen: int, reason: str, table_version: int) -> Told:
    """A worker's replay of a hand differs from what was stored: nothing is paid, the pot (`frozen`) waits for a ruling.
    The reason says what differs."""
    return told(hand=hand, frozen=frozen, reason=reason, table_version=table_version)


@event("hand.ruled", chain="table")
def ruled(*, hand: str, pot: int, awards: dict[str, int], tax: int, settlement: int, reason: str) -> Told:
    """The floor divided a disputed pot between the hand's seats (`p1` is the first in play order) and the house."""
    return told(hand=hand, pot=pot, awards=awards, tax=tax, settlement=settlement, reason=reason)


@event("hand.voided", chain="table")
def voided(
    *,
    hand: str,
    log: list[str],
    mirrors: dict[str, int],
    reason: str,
    entered: list[dict[str, Any]] | None = None,
    corrected: list[dict[str, Any]] | None = None,
) -> Told:
    """The floor voided a hand: what its log was, the ledger's reversals by the key undone, and the cards that were
    `entered` and `corrected`, where there are such."""
    return told(hand=hand, log=log, mirrors=mirrors, reason=reason, entered=entered, corrected=corrected)
