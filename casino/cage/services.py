"""The cage's writes: funding the vault, opening a drawer, buy-ins, cash-outs, counting and closing."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Max

from casino import commands, locks
from casino.audit.services import Actor, record
from casino.cage import selectors
from casino.cage.models import Drawer, Shift
from casino.commands import Acting, Answer, Command
from casino.errors import Conflict, NotFound, WrongTerminal
from casino.house import books, chart
from casino.house.books import Line
from casino.house.models import ClockTimestamp, House
from casino.players.models import Player
from casino.staff.models import TerminalKind

VAULT_ACCOUNTS = ("1010", "3010", "9110", "9199")
#: Accounts that every drawer has for itself.
DRAWER_ACCOUNTS = ("1020", "2015", "5200", "5210", "9120", "9170")


def open_vault(*, house: House, capital: int, chips: int, actor: Actor) -> None:
    """Put the house's capital (minor units of cash) and its commissioned chips (at face value) into the vault."""
    with transaction.atomic():
        chart.open_accounts(house, VAULT_ACCOUNTS)
        books.enter(
            house,
            key="vault:opening",
            kind="vault.opened",
            lines=[("1010", "3010", capital), ("9110", "9199", chips)],
            metadata={},
        )
        record(
            chain=f"house/{house.code}",
            house=house,
            kind="vault.opened",
            actor=actor,
            data={"capital": capital, "chips": chips},
        )


def create_drawer(*, house: House, code: str, actor: Actor) -> Drawer:
    """Set up a drawer with its accounts; it is closed and empty."""
    with transaction.atomic():
        drawer = Drawer(house=house, code=code)
        drawer.full_clean()
        drawer.save(force_insert=True)
        chart.open_accounts(house, [drawer.account(number) for number in DRAWER_ACCOUNTS])
        record(chain=drawer.chain, house=house, kind="drawer.set_up", actor=actor, data={})
    return drawer


def _at_drawer(
    command: Command, code: str, change: Callable[[Drawer], tuple[str, dict[str, Any]]], *, status: int = 200
) -> Answer:
    """Run one write at a drawer: lock it, change it, record the change, answer with the drawer as it is now."""

    def operation() -> Answer:
        drawer = locks.lock(Drawer, locks.Rank.DESK, house=command.acting.house, code=code)
        _require_at(command.acting, drawer)
        command.require_version(drawer.version)
        kind, data = change(drawer)
        drawer.version += 1
        drawer.save(update_fields=["version"])
        receipt = record(
            chain=drawer.chain,
            house=drawer.house,
            kind=kind,
            actor=command.acting.actor,
            data={**data, "drawer_version": drawer.version},
        )
        body = {**selectors.describe(drawer), **data, "audit": receipt.as_json()}
        return Answer(body, drawer.version, status)

    return commands.run(command, operation)


def _require_at(acting: Acting, drawer: Drawer) -> None:
    if acting.terminal.kind != TerminalKind.CAGE or acting.terminal.place != drawer.code:
        raise WrongTerminal(f"Terminal {acting.terminal.code} does not stand at drawer {drawer.code}.")


def _require_open(drawer: Drawer) -> Shift:
    shift = selectors.open_shift(drawer)
    if shift is None:
        raise Conflict(f"Drawer {drawer.code} is closed; open it first.", code="drawer_closed")
    return shift


def _enter(command: Command, drawer: Drawer, kind: str, lines: list[Line], **metadata: Any) -> None:
    lines = [line for line in lines if line[2]]
    if lines:
        books.enter(
            drawer.house,
            key=command.ledger_key(),
            kind=kind,
            lines=lines,
            metadata={"drawer": drawer.code, **metadata},
        )


def open_drawer(*, command: Command, code: str, cash: int, chips: int) -> Answer:
    """Open a drawer with a float of cash and chips from the vault, in minor units."""

    def change(drawer: Drawer) -> tuple[str, dict[str, Any]]:
        if selectors.open_shift(drawer) is not None:
            raise Conflict(f"Drawer {code} is open already.", code="drawer_open")
        number = (drawer.shifts.aggregate(last=Max("number"))["last"] or 0) + 1
        Shift.objects.create(
            drawer=drawer, number=number, opened_by=command.acting.staff, float_cash=cash, float_chips=chips
        )
        _enter(
            command,
            drawer,
            "drawer.opened",
            [(drawer.account("1020"), "1010", cash), (drawer.account("9120"), "9110", chips)],
        )
        return "drawer.opened", {"float_cash": cash, "float_chips": chips}

    return _at_drawer(command, code, change)


def buy_in(*, command: Command, code: str, player_ref: str, amount: int) -> Answer:
    """Take `amount` minor units of cash and give the player chips for it."""
    return _exchange(command, code, player_ref, amount, kind="cage.buy_in", cash_to_player=False)


def cash_out(*, command: Command, code: str, player_ref: str, amount: int) -> Answer:
    """Take `amount` minor units in chips and pay the player. Refused when he holds less away from the tables."""
    return _exchange(command, code, player_ref, amount, kind="cage.cash_out", cash_to_player=True)


def _exchange(command: Command, code: str, player_ref: str, amount: int, *, kind: str, cash_to_player: bool) -> Answer:
    """Chips against cash, in one of the two directions."""

    def change(drawer: Drawer) -> tuple[str, dict[str, Any]]:
        _require_open(drawer)
        player = Player.objects.filter(house=drawer.house, ref=player_ref).first()
        if player is None:
            raise NotFound(f"This house knows no player {player_ref}.")
        lines: list[Line] = [
            (drawer.account("1020"), player.wallet, amount),
            (drawer.account("9170"), drawer.account("9120"), amount),
        ]
        if cash_to_player:
            lines = [(credit, debit, value) for debit, credit, value in lines]
        _enter(command, drawer, kind, lines, player=player_ref)
        held = chart.balances(drawer.house, [player.wallet])[player.wallet]
        return kind, {"player": player_ref, "amount": amount, "player_chips": held}

    return _at_drawer(command, code, change, status=201)


def close_drawer(*, command: Command, code: str, counted_cash: int, counted_chips: int) -> Answer:
    """Count the drawer, post what is over or short, and return everything to the vault.

    Cash short is an expense against the drawer's cash. Chips short are in the public's hands without anybody having
    paid: the house owes them (5210/2015) and custody moves to the public; over is the mirror of each.
    """

    def change(drawer: Drawer) -> tuple[str, dict[str, Any]]:
        shift = _require_open(drawer)
        cash, chips = selectors.holdings(drawer)
        lines = [
            *_variance(drawer.account("5200"), drawer.account("1020"), cash - counted_cash),
            *_variance(drawer.account("5210"), drawer.account("2015"), chips - counted_chips),
            *_variance(drawer.account("9170"), drawer.account("9120"), chips - counted_chips),
            ("1010", drawer.account("1020"), counted_cash),
            ("9110", drawer.account("9120"), counted_chips),
        ]
        _enter(command, drawer, "drawer.closed", lines, shift=shift.number)
        Shift.objects.filter(id=shift.id).update(
            closed_by=command.acting.staff,
            closed_at=ClockTimestamp(),
            expected_cash=cash,
            counted_cash=counted_cash,
            expected_chips=chips,
            counted_chips=counted_chips,
        )
        shift.refresh_from_db()
        return "drawer.closed", {"reconciliation": selectors.reconciliation(shift)}

    return _at_drawer(command, code, change)


def _variance(debit: str, credit: str, short: int) -> list[Line]:
    """The line for a shortage of `short` minor units, mirrored when it is negative (over), none when it is zero."""
    if short > 0:
        return [(debit, credit, short)]
    return [(credit, debit, -short)] if short < 0 else []
