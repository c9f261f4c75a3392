"""Counterfeit notes and chips: taken out of a drawer or the vault, and kept as evidence; the house bears them.

A counterfeit chip was counted as one that had come back. It leaves the rack of the books, so that one more of its kind
is with the public, for which the house owes.
"""

from casino.audit.events.cage import CageCounterfeitsFound, VaultCounterfeitsFound
from casino.bookkeeping.accounts import VAULT, Account
from casino.bookkeeping.postings import posting
from casino.cage.models import Drawer
from casino.cage.services import Pieces, enter, require_open, write_at
from casino.cage.vault import AT_THE_VAULT
from casino.chips import counterfeits
from casino.chips import selectors as chip_sets
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.staff.models import Role


def at_drawer(*, command: Command, code: str, cash: int, pieces: Pieces, evidence: str, reason: str) -> Answer:
    """Take counterfeits out of an open drawer: notes of `cash` minor units at face value, and chips by denomination.

    Raises Unprocessable no_counterfeits or for wrong pieces; Conflict approval_required, drawer_short, and as
    `services.require_open`.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        require_open(drawer)
        rack = drawer.account(Account.CAGE_CHIPS)
        chips = counterfeits.named(drawer.house, cash, pieces)
        if (chip_sets.rack(drawer.house, rack) - chips).shortage:
            raise Conflict(f"Drawer {code} does not hold enough for this.", code="drawer_short")
        work.require_approval(counterfeits.approved(Role.CAGE_SUPERVISOR, amount=cash + chips.value))
        note = posting("counterfeit_note", {"drawer": code}, amount=cash)
        taken_out = counterfeits.taken_out(code, rack, chips)
        enter(
            work, command.ledger_key(), drawer, "cage.counterfeits_found", [note, taken_out], evidence=evidence
        )  # fmt: skip
        found = counterfeits.as_json(cash, chips)
        return Outcome(CageCounterfeitsFound(counterfeits=found, evidence=evidence, reason=reason), status=201)

    return write_at(command, code, change)


def in_vault(*, command: Command, cash: int, pieces: Pieces, evidence: str, reason: str) -> Answer:
    """Take counterfeits out of the vault. Raises Unprocessable no_counterfeits or for wrong pieces, Conflict
    approval_required, InsufficientFunds for more than the vault has."""

    def change(house: House, work: Work) -> Outcome:
        chips = counterfeits.named(house, cash, pieces)
        work.require_approval(counterfeits.approved(amount=cash + chips.value))
        note = posting("counterfeit_note_in_vault", {}, amount=cash)
        posted = work.post_now(
            key=command.ledger_key(), kind="vault.counterfeits_found",
            postings=[note, counterfeits.taken_out(VAULT, Account.VAULT_CHIPS, chips)], metadata={"evidence": evidence},
        )  # fmt: skip
        found = counterfeits.as_json(cash, chips)
        event = VaultCounterfeitsFound(counterfeits=found, evidence=evidence, reason=reason)
        return Outcome(event, {"counterfeits": found, "evidence": evidence}, 201, version=posted)

    return write.write(command, AT_THE_VAULT, change)
