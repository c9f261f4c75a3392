"""The stakes of a minor: given back to the player or a guardian, and winnings kept.

What lies in the deposit is the player's in any case. What was paid in for play, less what was paid out, is given back:
out of what the player still holds, and where that was lost, by the house. What the player holds beyond it is winnings,
which are not paid: they stay on an account of their own for the authority, and are no income of the house. What is
given back is a held payout, which is paid in cash or by the bank once somebody who may take it has come
(`casino/cage/held.py`).

Chips come to the cage first, as held payouts, so that the house has them; compliance takes chips that the player
cannot bring off the player, and they count as paid out.
"""

from dataclasses import asdict, dataclass

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.approvals.selectors import database_time
from casino.audit.events.safeguards import MinorSettled
from casino.bookkeeping import chart, flows
from casino.bookkeeping.postings import moved_anything, posting
from casino.cage import held
from casino.cage.models import HeldCause, HeldPayout, HeldState
from casino.core import sql, write
from casino.core.errors import Conflict
from casino.core.write import Answer, Command, Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.players.models import Player
from casino.safeguards import minors
from casino.safeguards.models import Minor, MinorState
from casino.staff.models import Role

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


def settle(*, command: Command, number: int, figures: Figures) -> Answer:
    """Give back the stakes of a minor as a held payout, and keep the winnings. `figures` are those that were looked at:
    they are what is approved. Raises NotFound, Conflict minor_ended, player_seated, chips_not_handed_in (`available`),
    figures_changed (`figures`), approval_required (a manager), WrongTerminal."""

    def change(house: House, work: Work) -> Outcome:
        found = minors.locked(house, number)
        player, last = found.player, held.lock_numbers(house)
        _require_away(house, player)
        now = of_player(house, player)
        if now != figures:
            raise Conflict(
                "The figures have changed: look at them, and have them approved again.",
                code="figures_changed",
                figures=now.as_json(),
            )
        work.require_approval(Need(kind=ApprovalKind.MINOR, roles=(Role.MANAGER,), amount=now.refund))
        chart.open_accounts(house, [player.held_payouts])
        moved = posting("minor_settled", {"player": player.ref}, deposit=now.deposit, borne=now.borne, kept=now.kept)
        if moved_anything([moved]):
            metadata = {"minor": number, "player": player.ref}
            work.post(key=command.ledger_key(), kind="minor.settled", postings=[moved], metadata=metadata)
        ended, made = _held_again(house, command, player, now.refund, last)
        _end(found, work, command, now, made)
        event = MinorSettled(
            minor=number, player=player.ref, stakes=now.stakes, deposit=now.deposit, held=now.held, refund=now.refund,
            kept=now.kept, borne=now.borne, ended=ended, payout=None if made is None else held.describe(made),
        )  # fmt: skip
        return Outcome(event, minors.describe(found), version=number)

    return write.write(command, minors.SUBJECT, change)


def of_player(house: House, player: Player) -> Figures:
    """What a settlement would come to now. Chips that the player still has are not in it."""
    [[(paid,)]] = sql.together(flows.net(house, player.ref))
    balances = {code: balance for code, balance, _ in chart.of_player(house, player.ref)}
    deposit = balances.get(player.deposit, 0)
    return Figures.of(stakes=paid - deposit, deposit=deposit, held=balances.get(player.held_payouts, 0))


def chips_of(house: House, player: Player) -> int:
    """Worth of the chips that the player has, on seats and away from them, in minor units."""
    kept = (player.deposit, player.held_payouts)
    return sum(balance for code, balance, _ in chart.of_player(house, player.ref) if code not in kept)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _require_away(house: House, player: Player) -> None:
    """Refuse while the player sits, or has chips."""
    [(seated,)] = sql.rows(_SEATED, [house.id, player.pk])
    if seated:
        raise Conflict(f"{player.ref} sits at a table; the seat is left first.", code="player_seated")
    chips = chips_of(house, player)
    if chips:
        raise Conflict(
            f"{player.ref} still has chips worth {house.money(chips)}. They come to the cage as a held payout; "
            "compliance takes those off the player that cannot be brought.",
            code="chips_not_handed_in",
            available=chips,
        )


def _held_again(
    house: House, command: Command, player: Player, refund: int, last: int
) -> tuple[list[int], HeldPayout | None]:
    """End the payouts that are held for a player, and hold what is given back as the next one after `last`; the numbers
    of those, and the new one, None where nothing is given back. The caller holds the lock of payouts."""
    rows = HeldPayout.objects.filter(house=house, player=player, state=HeldState.HELD)
    ended = list(rows.order_by("number").values_list("number", flat=True))
    by = command.context.staff
    rows.update(state=HeldState.SETTLED, paid_by=by, ended_at=ClockTimestamp())
    if not refund:
        return ended, None
    made = HeldPayout.objects.create(
        house=house, number=last + 1, player=player, drawer=None, amount=refund, cause=HeldCause.MINOR, held_by=by
    )
    return ended, made


def _end(found: Minor, work: Work, command: Command, now: Figures, made: HeldPayout | None) -> None:
    found.state, found.ended_by, found.ended_at = MinorState.SETTLED, command.context.staff, database_time()
    found.payout = None if made is None else made.number
    values = now.as_json() | {"state": str(found.state), "payout": found.payout}
    for name, value in now.as_json().items():
        setattr(found, name, value)
    work.soon(Minor.objects.filter(pk=found.pk), **values, ended_by=found.ended_by, ended_at=ClockTimestamp())
