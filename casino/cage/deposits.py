"""Cash that players leave with the house for safe keeping: taken at a drawer, drawn in chips, and returned in cash.

A deposit is owed to one known player. It is nothing that the house owes for chips, and never falls below zero.
"""

from typing import Any

from casino.audit.events.cage import DepositDrawn, DepositReturned, DepositTaken
from casino.bookkeeping import books, chart
from casino.bookkeeping.flows import Direction
from casino.bookkeeping.postings import posting
from casino.cage import selectors
from casino.cage.models import Drawer
from casino.cage.services import Pieces, customer, enter, write_at
from casino.core import sql
from casino.core.commands import Answer, Command
from casino.core.work import Outcome, Work
from casino.houses import stages
from casino.players import persons, thresholds
from casino.players.models import Player
from casino.safeguards import standing


def take(*, command: Command, code: str, player_ref: str, amount: int) -> Answer:
    """Take `amount` minor units of cash into a player's deposit. Raises Conflict house_not_live, drawer_closed,
    drawer_counted, skim_needed, approval_required as a buy-in does, NotFound for a player whom the house does not know
    (no_person where nobody has recorded who it is), Gone for one who was forgotten."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        stages.require_playing(work.house)
        player, _ = customer(drawer, work, player_ref, with_cash=True)
        standing.require_play(drawer.house, player)
        persons.require_known(player)
        trade = thresholds.check(drawer.house, amount, Direction.IN, player=player)
        trade.require_approval(work)
        chart.open_accounts(drawer.house, [player.deposit])
        _enter(command, drawer, work, "deposit_taken", player, amount=amount)
        return Outcome(DepositTaken(**_moved(player, amount), threshold_reached=trade.reached), status=201)

    return write_at(command, code, change)


def draw(*, command: Command, code: str, player_ref: str, amount: int, pieces: Pieces | None = None) -> Answer:
    """Give a player chips for `amount` minor units of the deposit: these pieces, or the largest that the drawer can
    make it of. Raises InsufficientFunds where the deposit is less, Conflict house_not_live, no_exact_change,
    Unprocessable for wrong pieces, and as `services.customer`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        stages.require_playing(work.house)
        player, desk = customer(drawer, work, player_ref)
        standing.require_buy_in(drawer.house, player, amount)
        _require(player, amount)
        chosen = desk.give(amount) if pieces is None else desk.named(pieces, amount)
        _enter(command, drawer, work, "deposit_drawn", player, amount=amount, chips=chosen)
        held = chart.balances(drawer.house, [player.wallet])[player.wallet]
        found = _moved(player, amount) | {"player_chips": held, "exchanged": chosen.as_json()}
        return Outcome(DepositDrawn(**found), status=201)

    return write_at(command, code, change)


def give_back(*, command: Command, code: str, player_ref: str, amount: int) -> Answer:
    """Pay `amount` minor units of the deposit back to the player. Raises InsufficientFunds where the deposit is less,
    Conflict drawer_short, approval_required as a cash-out does, and as `services.customer`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        player, _ = customer(drawer, work, player_ref)
        standing.require_no_minor(drawer.house, player)
        _require(player, amount)
        selectors.require_cash(drawer, amount)
        trade = thresholds.check(drawer.house, amount, Direction.OUT, player=player)
        trade.require_approval(work)
        _enter(command, drawer, work, "deposit_returned", player, amount=amount)
        return Outcome(DepositReturned(**_moved(player, amount), threshold_reached=trade.reached), status=201)

    return write_at(command, code, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _held(player: Player) -> int:
    """What lies in a player's deposit; nothing where there never was one."""
    return next((held for (held,) in sql.read(chart.money_at(player.house, player.deposit))), 0)


def _require(player: Player, amount: int) -> None:
    """Raises InsufficientFunds where less lies in the deposit."""
    books.require(player.house, player.deposit, _held(player), amount)


def _enter(command: Command, drawer: Drawer, work: Work, row: str, player: Player, **moved: Any) -> None:
    """Post a movement of the deposit, so that what is read next has it."""
    moves = posting(row, {"drawer": drawer.code, "player": player.ref}, **moved)
    enter(work, command.ledger_key(), drawer, f"cage.{row}", [moves], player=player.ref)
    work.flush()


def _moved(player: Player, amount: int) -> dict[str, Any]:
    return {"player": player.ref, "amount": amount, "deposit": _held(player)}
