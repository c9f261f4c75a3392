"""Counterfeit chips in the tray of a table: taken out, and kept as evidence; the house bears them. Notes are found when
the drop box is counted."""

from collections.abc import Mapping
from typing import Any

from casino.audit.events.tables import TableCounterfeitsFound
from casino.bookkeeping import books
from casino.bookkeeping.accounts import Account
from casino.chips import counterfeits
from casino.chips import selectors as chip_sets
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.work import Outcome, Work
from casino.tables.models import Table, TableState
from casino.tables.services import AtTable, require_state


def take_out(*, command: Command, code: str, pieces: Mapping[Any, int], evidence: str, reason: str) -> Answer:
    """Take counterfeit chips, by denomination, out of the tray. Between hands only: a hand may be promised the tray's
    chips.

    Raises Unprocessable no_counterfeits or for wrong pieces, InsufficientFunds for more than the tray holds, Conflict
    approval_required and as `services.require_state`.
    """

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.OPEN, TableState.CLOSED)
        tray, chips = table.account(Account.TRAY), counterfeits.named(table.house, 0, pieces)
        held = chip_sets.rack(table.house, tray)
        for value, count in (held - chips).shortage.pieces.items():
            books.require(table.house, tray, held[value], held[value] + count)
        work.require_approval(counterfeits.approved(amount=chips.value))
        work.post(
            key=command.ledger_key(),
            kind="table.counterfeits_found",
            postings=[counterfeits.taken_out(code, tray, chips)],
            metadata={"table": code, "evidence": evidence},
        )
        found = counterfeits.as_json(0, chips)
        return Outcome(TableCounterfeitsFound(counterfeits=found, evidence=evidence, reason=reason), status=201)

    return write.write(command, AtTable(code), change)
