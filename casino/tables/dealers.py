"""Dealers take tables over from each other, and leave them.

Who deals a hand is thereby on record twice: the event of the deal names its actor, and the turn in which it falls names
the dealer. A table that nobody has taken over is dealt at by any dealer who is signed in at its terminal.
"""

from casino.audit.events.tables import DealerLeft, DealerTookOver
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.tables import turns
from casino.tables.models import DealerTurn, Table, TableState, TurnEnd
from casino.tables.services import AtTable, require_dealer, require_state

#: Between hands, also while the last one is being settled or disputed: a dealer who waits can be relieved.
_BETWEEN_HANDS = (TableState.OPEN, TableState.SETTLING, TableState.DISPUTED)


def take_over(*, command: Command, code: str, relieves: str | None, ended_with: TurnEnd) -> Answer:
    """Let the dealer who asks take the table over: from the dealer `relieves`, who goes where `ended_with` says, or
    from nobody (None).

    Raises Conflict table_..., no_change, dealer_differs where the table has another dealer than the one who is named,
    and dealer_elsewhere.
    """

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, *_BETWEEN_HANDS)
        before, dealer = turns.in_force(table), command.context.staff
        if before is not None and before.dealer_id == dealer.pk:
            raise Conflict(f"{dealer.login} deals at table {code} already.", code="no_change")
        _require_named(table, before, relieves)
        turns.end(table, ended_with, work)
        work.flush()
        turn = turns.begin(table, dealer)
        gone_to = str(ended_with) if relieves is not None else None
        return Outcome(DealerTookOver(turn=turn.number, dealer=dealer.login, relieved=relieves, ended_with=gone_to))

    return write.write(command, AtTable(code), change)


def leave(*, command: Command, code: str, ended_with: TurnEnd) -> Answer:
    """End the turn of the table's dealer, whom nobody relieves; asked by that dealer or by the floor.

    Raises Conflict table_..., no_dealer, not_the_dealer.
    """

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, *_BETWEEN_HANDS)
        turn = turns.in_force(table)
        if turn is None:
            raise Conflict(f"No dealer has taken over table {code}.", code="no_dealer")
        require_dealer(command.context, table)
        turns.end(table, ended_with, work)
        return Outcome(DealerLeft(turn=turn.number, dealer=turn.dealer.login, ended_with=str(ended_with)))

    return write.write(command, AtTable(code), change)


def _require_named(table: Table, before: DealerTurn | None, relieves: str | None) -> None:
    """The dealer who is relieved is the table's. Raises Conflict dealer_differs."""
    there = before.dealer.login if before is not None else None
    if there != relieves:
        raise Conflict(
            f"The dealer of table {table.code} is {there or 'nobody'}, not {relieves or 'nobody'}.",
            code="dealer_differs",
            dealer=there,
        )
