"""What most tests begin with, in one transaction each: a drawer with its float, players with chips, seats taken.

Rows, postings and events are those that the services write (`test_prepared.py` compares them). What is left out is what
cannot refuse here, and is read before or after each of these steps for a request: how a player stands whom nobody has
heard of before, and the answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from django.db import transaction

from casino.audit.events import AuditEvent
from casino.audit.events.cage import CageBuyIn, DrawerOpened, HandoverOffered
from casino.audit.events.tables import SatDown
from casino.audit.services import Actor
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.cage import handing, selectors
from casino.cage.models import Drawer, HandoverKind, HandoverState
from casino.cage.services import _ADVANCE, AtDrawer, enter
from casino.chips.changing import Desk as Rack
from casino.chips.floats import from_vault
from casino.core import kept, locks, sql
from casino.core.commands import Command
from casino.core.work import Work
from casino.players.models import Player
from casino.tables import bringing
from casino.tables.models import Seating, Table, TableSession
from casino.tables.services import AtTable, advance, at_version, require_limits


@contextmanager
def one_transaction() -> Iterator[None]:
    """A transaction in which locks are taken in their order, and what is read once is kept."""
    try:
        with transaction.atomic():
            locks.begin()
            kept.begin()
            yield
    finally:
        locks.begin()
        kept.end()


def open_drawer(offers: Command, takes: Command, code: str, *, cash: int, pieces: Mapping[str, int]) -> None:
    """Let a manager count out the float, and the cashier count the same and take it."""
    with one_transaction():
        drawer = AtDrawer(code).open(takes)
        chips = from_vault(drawer.house, amount=None, pieces=pieces)
        kind = HandoverKind.FLOAT
        found = handing.new_handover(offers, drawer, kind=kind, cash=cash, pieces=chips.as_json())
        work = Work(drawer.house, offers.context.actor)
        _record_at_drawer(drawer, work, HandoverOffered(handover=selectors.describe_handover(found, revealed=True)))
        work = Work(drawer.house, takes.context.actor)
        shift = handing.begin_shift(takes, drawer, cash, chips)
        issued = posting("float_issued", {"drawer": code}, cash=cash, chips=chips)
        enter(work, takes.ledger_key(), drawer, "drawer.opened", [issued], handover=found.number)
        handing.end(takes, found, HandoverState.TAKEN)
        opened = DrawerOpened(
            shift=shift.number, handover=found.number, float_cash=cash, float_chips=chips.value,
            float_pieces=chips.as_json(),
        )  # fmt: skip
        _record_at_drawer(drawer, work, opened)


def sell_chips(
    commands: Sequence[Command], code: str, players: Sequence[Player], *, amount: int, pieces: Mapping[int, int] | None
) -> None:
    """Let each of these players, who have none yet, buy chips at an open drawer, with a command each: in these pieces,
    or the largest that there are."""
    with one_transaction():
        drawer = AtDrawer(code).open(commands[0])
        rack = Rack(drawer.house, drawer.account(Account.CAGE_CHIPS), code)
        for command, player in zip(commands, players, strict=True):
            chips = rack.give(amount) if pieces is None else rack.named(pieces, amount)
            work = Work(drawer.house, command.context.actor)
            sold = posting("buy_in", {"drawer": code, "player": player.ref}, amount=amount, chips=chips)
            enter(work, command.ledger_key(), drawer, "cage.buy_in", [sold], player=player.ref)
            bought = CageBuyIn(
                player=player.ref, amount=amount, player_chips=amount, exchanged=chips.as_json(), threshold_reached=None
            )
            _record_at_drawer(drawer, work, bought)


def seat(commands: Sequence[Command], code: str, players: Sequence[Player], *, stacks: Sequence[int]) -> None:
    """Let these players sit down on seats 1, 2 ... of an open table where nobody sits, with a command each."""
    actor: Actor = commands[0].context.actor
    with one_transaction():
        table = AtTable(code).open(commands[0])
        session = TableSession.objects.get(table=table, closed_at=None)
        sits = [
            sql.inserting(Seating(house_id=session.house_id, session=session, seat=number, player=player))
            for number, player in enumerate(players, start=1)
        ]
        chart.open_accounts(table.house, [table.stack_account(player.ref) for player in players], None, *sits)
        for number, (command, player, amount) in enumerate(zip(commands, players, stacks, strict=True), start=1):
            require_limits(table, amount)
            _sit(table, Work(table.house, actor), command.ledger_key(), number, player, amount)


def _sit(table: Table, work: Work, key: str, number: int, player: Player, amount: int) -> None:
    if amount:
        work.post(
            key=key, kind="table.sat_down", postings=bringing.put_down(table, player, amount, 0),
            metadata={"table": table.code, "player": player.ref},
        )  # fmt: skip
    advance(table, work)
    work.record(
        chain=table.chain, event=at_version(SatDown(seat=number, player=player.ref, amount=amount), table.version)
    )


def _record_at_drawer(drawer: Drawer, work: Work, event: HandoverOffered | DrawerOpened | CageBuyIn) -> None:
    drawer.version += 1
    work.also(_ADVANCE, [drawer.version, drawer.id])
    at_version: AuditEvent = event.at_drawer_version(drawer.version)
    work.record(chain=drawer.chain, event=at_version)
