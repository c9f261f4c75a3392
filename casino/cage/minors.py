"""The stakes of a minor: given back to the player or a guardian, and winnings kept.

What lies in the deposit is the player's in any case. What was paid in for play, less what was paid out, is given back:
out of what the player still holds, and where that was lost, by the house. What the player holds beyond it is winnings,
which are not paid: they stay on an account of their own for the authority, and are no income of the house. What is
given back is a held payout, which is paid in cash or by the bank when the player or a guardian comes
(`casino/cage/held.py`).

Chips come to the cage first, as held payouts, so that the house has them; compliance takes chips that the player
cannot bring off the player, and they count as paid out.
"""

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.safeguards import MinorSettled
from casino.bookkeeping import chart, flows
from casino.bookkeeping.postings import moved_anything, posting
from casino.cage import held
from casino.cage.models import HeldCause, HeldPayout, HeldState
from casino.core import locks, moments, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.houses.control_points import in_force
from casino.houses.models import ClockTimestamp, House
from casino.players.models import Player
from casino.safeguards import minors
from casino.safeguards.models import Minor, MinorState
from casino.staff.models import Role, Staff

_SEATED = """
SELECT EXISTS (SELECT FROM tables_seating WHERE house_id = %s AND player_id = %s AND left_at IS NULL)
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a settlement comes to, in minor units: `stakes` paid in for play, less what was paid out (below zero where
    that was more); `deposit` and `held`, what lies there; given back, kept as winnings, borne by the house."""

    stakes: int
    deposit: int
    held: int
    refund: int
    kept: int
    borne: int

    @classmethod
    def of(cls, *, stakes: int, deposit: int, held: int) -> "Figures":
        """Deposit and stakes are given back; what is there beyond them is kept, and what is lacking the house bears."""
        refund, there = deposit + max(stakes, 0), deposit + held
        return cls(stakes, deposit, held, refund, max(there - refund, 0), max(refund - there, 0))

    def as_json(self) -> dict[str, int]:
        """As requests, events and answers have them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a minor stands: the figures of now, worth of the chips that the player still has, whether the player sits."""

    figures: Figures
    chips: int
    seated: bool

    @classmethod
    def read(cls, player: Player, found: list[list[Any]]) -> "Standing":
        """By what `_reading` has found."""
        [[(seated,)], [(paid,)], accounts] = found
        balances = {code: balance for code, balance, _ in accounts}
        deposit, held_payouts = balances.pop(player.deposit, 0), balances.pop(player.held_payouts, 0)
        figures = Figures.of(stakes=paid - deposit, deposit=deposit, held=held_payouts)
        return cls(figures, sum(balances.values()), seated)


def settle(*, command: Command, number: int, figures: Figures) -> Answer:
    """Give back the stakes of a minor as a held payout, and keep the winnings. `figures` are those that were looked at:
    they are what is approved. Raises NotFound, Conflict minor_ended, player_seated, chips_not_handed_in (`available`),
    figures_changed (`figures`), approval_required (a manager), WrongTerminal."""

    def change(house: House, work: Work) -> Outcome:
        found, held_now, last = _locked(house, number, figures)
        player = found.player
        work.require_approval(Need(kind=ApprovalKind.MINOR, roles=(Role.MANAGER,), amount=figures.refund))
        chart.open_accounts(house, [player.held_payouts])
        places = {"player": player.ref}
        moved = posting("minor_settled", places, deposit=figures.deposit, borne=figures.borne, kept=figures.kept)
        if moved_anything([moved]):
            metadata = {"minor": number, "player": player.ref}
            work.post(key=command.ledger_key(), kind="minor.settled", postings=[moved], metadata=metadata)
        by = command.context.staff
        rows = HeldPayout.objects.filter(house=house, number__in=held_now)
        work.soon(rows, state=HeldState.SETTLED, paid_by=by, ended_at=ClockTimestamp())
        made = _hold(work, player, figures.refund, last + 1, by) if figures.refund else None
        payout = None if made is None else made.number
        within = in_force(house).remittance_days if figures.kept else None
        minors.end(found, work, by, MinorState.SETTLED, remit_within=within, payout=payout, **figures.as_json())
        event = MinorSettled(
            minor=number, player=player.ref, stakes=figures.stakes, deposit=figures.deposit, held=figures.held,
            refund=figures.refund, kept=figures.kept, borne=figures.borne, ended=held_now,
            payout=None if made is None else held.describe(made), remit_by=moments.utc_or_none(found.remit_by),
        )  # fmt: skip
        return Outcome(event, minors.describe(found), version=number)

    return write.write(command, minors.SUBJECT, change)


def standing_of(house: House, player: Player) -> Standing:
    """How a minor stands now."""
    return Standing.read(player, sql.together(*_reading(house, player)))


# --- Parts ----------------------------------------------------------------------------------------------------------


def _reading(house: House, player: Player) -> tuple[sql.Statement, sql.Statement, QuerySet[Any, Any]]:
    """What reads how a minor stands."""
    return (_SEATED, [house.id, player.pk]), flows.net(house, player.ref), chart.owned_by(house, player.ref)


def _locked(house: House, number: int, figures: Figures) -> tuple[Minor, list[int], int]:
    """A minor whose stakes are to be given back by these figures, and whose money nobody else moves meanwhile; the
    numbers of the payouts that are held for the player, and the newest number of the house. The caller holds the lock
    of safeguards."""
    found = minors.get(house, number)
    minors.require_open(found)
    player = found.player
    with locks.gathered() as locking:
        locks.lock_person(player.pk)
        locks.lock_payouts(house.id)
    rows = HeldPayout.objects.filter(house=house, player=player, state=HeldState.HELD)
    numbers = rows.order_by("number").values_list("number")
    *stands, held_now, [(last,)] = sql.together(*locking, *_reading(house, player), numbers, (held.NEWEST, [house.id]))[
        len(locking) :
    ]
    _require(house, player, Standing.read(player, stands), figures)
    return found, [payout for (payout,) in held_now], last


def _require(house: House, player: Player, now: Standing, figures: Figures) -> None:
    """Refuse while the player sits or has chips, and other figures than those of now."""
    if now.seated:
        raise Conflict(f"{player.ref} sits at a table; the seat is left first.", code="player_seated")
    if now.chips:
        raise Conflict(
            f"{player.ref} still has chips worth {house.money(now.chips)}. They come to the cage as a held payout; "
            "compliance takes those off the player that cannot be brought.",
            code="chips_not_handed_in",
            available=now.chips,
        )
    if now.figures != figures:
        raise Conflict(
            "The figures have changed: look at them, and have them approved again.",
            code="figures_changed",
            figures=now.figures.as_json(),
        )


def _hold(work: Work, player: Player, refund: int, number: int, by: Staff) -> HeldPayout:
    """Hold what is given back."""
    made = HeldPayout(
        house=work.house, number=number, player=player, drawer=None, amount=refund, cause=HeldCause.MINOR,
        held_by=by,
    )  # fmt: skip
    work.insert(made)
    return made
