"""Counts of the vault: two people count it, blind of each other and of the books.

The rule of the two is that of `casino/chips/two_counts.py`. The vault does not stand still meanwhile: what is compared
is how far each count is from the books of its own moment. A count that agrees with the books is accepted at once; a
difference is posted when a manager, who has neither counted nor decided, signs it off.
"""

from collections.abc import Mapping
from typing import Any

from django.db.models import Max

from casino.audit.events.cage import VaultCountDecided, VaultCounted, VaultCountsDiffered, VaultCountSignedOff
from casino.bookkeeping.accounts import VAULT, Account
from casino.bookkeeping.postings import Posting, posting
from casino.cage import contents, selectors, vault_selectors
from casino.cage.contents import Contents
from casino.cage.models import Shift, VaultCount, VaultCountEntry, VaultCountState
from casino.cage.services import Pieces
from casino.cage.signing import require_another
from casino.chips import selectors as chip_sets
from casino.chips import two_counts
from casino.chips.counts import chip_variance
from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import days
from casino.houses.models import ClockTimestamp, House

AT_THE_VAULT = OfHouse(office=True, lock=locks.lock_vault)


def count(*, command: Command, cash: int, pieces: Pieces, foreign: int) -> Answer:
    """Enter what one person has counted in the vault: cash and chips of other houses in minor units, chips of the house
    by denomination. The first person begins a count, the second ends a round of it.

    Raises Conflict vault_count_counted, supervisor_needed; Forbidden four_eyes for who has counted in this round;
    Unprocessable for wrong pieces.
    """

    def change(house: House, work: Work) -> Outcome:
        found = VaultCount.objects.filter(house=house).exclude(state=VaultCountState.ACCEPTED).first() or _begin(house)
        _require_state(found, VaultCountState.COUNTING)
        counted = contents.named(house, cash, pieces, foreign)
        over = counted.less(contents.in_the_vault(house))
        staff = command.context.staff

        def create(number: int) -> None:
            VaultCountEntry.objects.create(
                house_id=house.pk, vault_count=found, round=number, count=counted.as_json(), over=over.as_json(),
                counted_by=staff,
            )  # fmt: skip

        counts = VaultCountEntry.objects.filter(house=house, vault_count=found)
        compared = {"over": over.as_json()}
        round_ = two_counts.enter(counts, staff, found.differing_rounds, compared, create)
        kind: type[VaultCounted | VaultCountsDiffered] = VaultCounted
        if round_.agrees:
            _counted(found, counted, over)
        elif round_.agrees is not None:
            kind, found.differing_rounds = VaultCountsDiffered, round_.number
            VaultCount.objects.filter(id=found.pk).update(differing_rounds=round_.number)
        described = vault_selectors.describe_count(found)
        event = kind(vault_count=described, count={"round": round_.number, **counted.as_json()})
        body = {"vault_count": described, "differs": kind is VaultCountsDiffered}
        return Outcome(event, body, 201, version=found.number)

    return write.write(command, AT_THE_VAULT, change)


def decide(*, command: Command, number: int, cash: int, pieces: Pieces, foreign: int, reason: str) -> Answer:
    """Decide what is in the vault, after three pairs of counts that differ, as a supervisor who has not counted it.
    Raises NotFound, Conflict vault_count_... or recount_needed, Forbidden four_eyes, Unprocessable for wrong pieces."""

    def change(house: House, work: Work) -> Outcome:
        found = _get(house, number)
        _require_state(found, VaultCountState.COUNTING)
        two_counts.require_to_decide(found.differing_rounds)
        two_counts.require_not_counted(found.entries.all(), command.context.staff)
        counted = contents.named(house, cash, pieces, foreign)
        found.decided_by, found.decision = command.context.staff, reason
        over = counted.less(contents.in_the_vault(house))
        _counted(found, counted, over, decided_by=found.decided_by, decision=reason)
        described = vault_selectors.describe_count(found)
        event = VaultCountDecided(vault_count=described, reason=reason)
        return Outcome(event, {"vault_count": described}, version=number)

    return write.write(command, AT_THE_VAULT, change)


def sign_off(
    *, command: Command, number: int, reason: str, corrects: Mapping[str, Any] | None = None
) -> Answer:  # fmt: skip
    """Accept a count that differs from the books, and post the difference; `corrects` names the earlier count that was
    signed and wrong (`drawer` and number of the shift as `count`, or a count of the vault): it stays as it was signed.

    Raises NotFound, Conflict vault_count_..., already_corrected, Forbidden four_eyes for who has counted or decided,
    Unprocessable corrects_nothing, InsufficientFunds where what is missing has left the vault.
    """

    def change(house: House, work: Work) -> Outcome:
        found = _get(house, number)
        _require_state(found, VaultCountState.COUNTED)
        two_counts.require_not_counted(found.entries.all(), command.context.staff)
        require_another(command, "decided on this count", found.decided_by)
        if corrects is not None:
            found.corrects = _corrected(found, corrects.get("drawer"), corrects["count"])
        work.post(
            key=f"vault_count:{number}",
            kind="vault.count_signed_off",
            postings=variance(house, found.over),
            metadata={"vault_count": number, "reason": reason} | days.belongs_to(house, found.begun_at),
        )
        work.flush()
        found.state, found.signed_by, found.reason = VaultCountState.ACCEPTED, command.context.staff, reason
        VaultCount.objects.filter(id=found.pk).update(
            state=found.state,
            signed_by=found.signed_by,
            reason=reason,
            corrects=found.corrects,
            ended_at=ClockTimestamp(),
        )
        described = vault_selectors.describe_count(found)
        event = VaultCountSignedOff(vault_count=described, reason=reason)
        return Outcome(event, {"vault_count": described}, version=number)

    return write.write(command, AT_THE_VAULT, change)


def variance(house: House, over: Any) -> list[Posting]:
    """What a count of the vault found over or, below zero, short, as events of the books."""
    cash, foreign = over["cash"], over["foreign"]
    chips = Chips(chip_sets.in_use(house).code, {int(value): pieces for value, pieces in over["pieces"].items()})
    return [
        posting("vault_over" if cash > 0 else "vault_short", {}, amount=abs(cash)),
        *chip_variance(Account.VAULT_CHIPS, VAULT, chips),
        posting("foreign_over" if foreign > 0 else "foreign_short", {"drawer": VAULT}, amount=abs(foreign)),
    ]


# --- Parts ----------------------------------------------------------------------------------------------------------


def _begin(house: House) -> VaultCount:
    last = VaultCount.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
    return VaultCount.objects.create(house=house, number=last + 1)


def _get(house: House, number: int) -> VaultCount:
    """The count of this number. The vault is locked, and so nobody else changes it. Raises NotFound."""
    persons = ("decided_by", "signed_by")
    found = VaultCount.objects.filter(house=house, number=number).select_related(*persons).first()
    if found is None:
        raise NotFound(f"This house has no count {number} of the vault.")
    return found


def _corrected(found: VaultCount, drawer: str | None, count: int) -> dict[str, Any]:
    """The earlier count that this one corrects: what was counted lay in the vault when this one began. Raises NotFound,
    Conflict already_corrected, Unprocessable corrects_nothing."""
    if drawer is None:
        ended_at = _get(found.house, count).ended_at
        in_the_vault = True
    else:
        shift = Shift.objects.filter(drawer=selectors.get(found.house, drawer), number=count).first()
        if shift is None:
            raise NotFound(f"Drawer {drawer} has no shift {count}.")
        ended_at = shift.closed_at
        reopened = Shift.objects.filter(drawer_id=shift.drawer_id, reopens=count).exists()
        in_the_vault = shift.handed_to_id is None and not reopened
    if ended_at is None or ended_at > found.begun_at or not in_the_vault:
        raise Unprocessable(
            "What that count has counted was not in the vault when this one began.", code="corrects_nothing"
        )
    if (other := vault_selectors.corrected_by(found.house, drawer, count)) is not None:
        raise Conflict(f"Count {other} of the vault has corrected it already.", code="already_corrected")
    return {"drawer": drawer, "count": count}


def _require_state(found: VaultCount, wanted: VaultCountState) -> None:
    """Raises a Conflict that names the state: vault_count_counting, vault_count_counted or vault_count_accepted."""
    if found.state != wanted:
        raise Conflict(
            f"Count {found.number} of the vault is {found.state}.", code=f"vault_count_{found.state}", state=found.state
        )


def _counted(found: VaultCount, counted: Contents, over: Contents, **decided: object) -> None:
    """Two agree, or a supervisor has decided. What agrees with the books needs nobody else."""
    agrees = not (over.cash or over.foreign or over.chips)
    found.state = VaultCountState.ACCEPTED if agrees else VaultCountState.COUNTED
    found.count, found.over = counted.as_json(), over.as_json()
    ended = {"ended_at": ClockTimestamp()} if agrees else {}
    VaultCount.objects.filter(id=found.pk).update(
        state=found.state, count=found.count, over=found.over, **ended, **decided
    )
