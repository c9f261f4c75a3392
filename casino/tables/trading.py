"""Chips and cash at a table that are no part of a hand: buy-ins into the drop box, changing chips, tips."""

from collections.abc import Mapping
from typing import Any

from casino.audit.events.tables import TableBuyIn, TableExchange, TableTip
from casino.bookkeeping import books
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.flows import Direction
from casino.bookkeeping.postings import Posting, posting
from casino.chips.changing import Desk
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.work import Outcome, Work
from casino.houses import stages
from casino.players import thresholds
from casino.safeguards import standing
from casino.staff import as_player
from casino.tables import selectors
from casino.tables.models import Table, TableState
from casino.tables.services import AtTable, at_seat, require_limits, require_state, take_seat

#: Chips by denomination as somebody wrote them: {"500": 3}.
Pieces = Mapping[Any, int]


def buy_in(
    *, command: Command, code: str, seat: int, amount: int, player_ref: str | None = None,
    pieces: Pieces | None = None, ticket: int | None = None,
) -> Answer:  # fmt: skip
    """Take `amount` minor units of cash into the drop box and give the seat chips out of the tray: these pieces, or the
    largest that the tray can make it of. A player who is named sits down with it, whose wait with the number `ticket`
    ends.

    Between hands only. Raises as `services.sit` and `services.add_chips`, and Conflict identity_required and
    approval_required as at the cage, no_exact_change, InsufficientFunds for the tray, Unprocessable for wrong pieces.
    """

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.OPEN)
        stages.require_playing(work.house)
        if player_ref is not None:
            sums = thresholds.reading(work.house, player_ref)
            buyer, [paid] = take_seat(table, seat, player_ref, amount, ticket, sums)
        else:
            seating = at_seat(table, seat)
            buyer = seating.player
            as_player.require_guest(work.house, buyer.ref)
            require_limits(table, selectors.stacks(table, [seating])[buyer.ref] + amount)
            [paid] = standing.lock_known(work.house, buyer, thresholds.reading(work.house, buyer.ref))
        thresholds.read(buyer, paid)
        standing.require_buy_in(work.house, buyer, amount)
        trade = thresholds.check(table.house, amount, Direction.IN, player=buyer)
        player = buyer.ref
        desk = _desk(table)
        chosen = desk.give(amount) if pieces is None else desk.named(pieces, amount)
        trade.require_approval(work)
        bought = posting("buy_in_at_table", {"table": code, "player": player}, amount=amount, chips=chosen)
        _enter(work, command, table, "table.buy_in", [bought], player=player)
        event = TableBuyIn(
            seat=seat, player=player, amount=amount, exchanged=chosen.as_json(), ticket=ticket,
            threshold_reached=trade.reached,
        )  # fmt: skip
        return Outcome(event, status=201)

    return write.write(command, AtTable(code), change)


def exchange(*, command: Command, code: str, given: Pieces, change_for: Pieces | None = None) -> Answer:
    """Change chips of the public at the tray into others of the same value: those of `change_for`, or the largest.

    Between hands only: the tray's chips may be promised to a hand. Raises as `chips.changing.Desk.swap`.
    """

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.OPEN)
        event, swapped = _desk(table).swap(given, change_for)
        _enter(work, command, table, "table.exchange", [event])
        return Outcome(TableExchange(**swapped), status=201)

    return write.write(command, AtTable(code), change)


def tip(*, command: Command, code: str, seat: int, amount: int, pieces: Pieces | None = None) -> Answer:
    """Put `amount` minor units of a seat's chips into the tip box: these pieces, or such as the players have, changed
    at the tray where need be. Between hands only: a stack in play is what the others play against.

    Raises InsufficientFunds, Conflict no_exact_change or chips_not_in_circulation, Unprocessable for wrong pieces.
    """

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.OPEN)
        seating = at_seat(table, seat)
        standing.require_play(work.house, seating.player)
        stack = table.stack_account(seating.player.ref)
        books.require(table.house, stack, selectors.stacks(table, [seating])[seating.player.ref], amount)
        desk = _desk(table)
        before: list[Posting] = []
        if pieces is None:
            box, before = desk.for_the_box(amount)
        else:
            box = desk.require_public(desk.named(pieces, amount))
        tipped = posting("tip", {"table": code, "player": seating.player.ref}, amount=amount, chips=box)
        _enter(work, command, table, "table.tip", [*before, tipped], player=seating.player.ref)
        return Outcome(TableTip(seat=seat, player=seating.player.ref, amount=amount, chips=box.as_json()), status=201)

    return write.write(command, AtTable(code), change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _desk(table: Table) -> Desk:
    return Desk(table.house, table.account(Account.TRAY), table.code)


def _enter(work: Work, command: Command, table: Table, kind: str, events: list[Posting], **metadata: Any) -> None:
    work.post(
        key=command.ledger_key(),
        kind=kind,
        postings=events,
        metadata={"table": table.code, **metadata},
    )
