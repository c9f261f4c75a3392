"""Table fees in cash: a player pays at the cage for the time at a table.

Only at a table of a game that takes a fee for its seats, and that charges none in chips: nobody pays twice.
"""

from casino.audit.events.cage import TableFeePaid
from casino.bookkeeping.postings import posting
from casino.cage.models import Drawer
from casino.cage.services import customer, enter, write_at
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.hands import fees
from casino.houses import stages
from casino.safeguards import standing
from casino.tables import selectors as tables
from casino.tables.models import Table, TableState

#: The longest time that is paid for at once: a gaming day.
MOST_MINUTES = 24 * 60


def pay(*, command: Command, code: str, player_ref: str, table_code: str, amount: int, minutes: int) -> Answer:
    """Take `amount` minor units of cash for so many minutes of a player at a table.

    Raises Conflict house_not_live, drawer_closed, drawer_counted, skim_needed, table_retired, or fee_in_chips where
    the table charges its fee with each hand; Unprocessable no_seat_fee where its game pays tax; NotFound for the player
    or the table, Gone for a player who was forgotten.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        stages.require_playing(work.house)
        player, _ = customer(drawer, work, player_ref, with_cash=True)
        standing.require_play(drawer.house, player)
        table = tables.get(drawer.house, table_code)
        _require_fee_in_cash(table)
        paid = posting("table_fee_cash", {"drawer": code, "table": table.code}, amount=amount)
        enter(work, command.ledger_key(), drawer, "cage.table_fee", [paid], player=player.ref, table=table.code)
        event = TableFeePaid(player=player.ref, amount=amount, table=table.code, minutes=minutes)
        return Outcome(event, status=201)

    return write_at(command, code, change)


def _require_fee_in_cash(table: Table) -> None:
    if table.state == TableState.RETIRED:
        raise Conflict(f"Table {table.code} was retired.", code="table_retired", state=table.state)
    fees.require_charged_by_seat(table.game)
    if table.seat_fee:
        raise Conflict(
            f"Table {table.code} charges its fee in chips, with each hand; nobody pays twice.",
            code="fee_in_chips",
            amount=table.seat_fee,
        )
