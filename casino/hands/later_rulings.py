"""Rulings on hands whose money has moved already: settled hands that prove to be wrong, and rulings that do.

Nothing is mirrored, since stacks have moved and the tax lies in a locked box. What was decided first stays; the later
ruling stands beside it with what puts it right: tax and fees that are refunded and losses that the house makes good,
all from the table's tray, and what a winner gives back with consent. A manager approves every one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.hands import HandRuledLater
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, moved_anything, posting
from casino.chips.changing import Desk
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Unprocessable
from casino.core.work import Outcome, Work
from casino.hands import fees, readings, ruling, selectors
from casino.hands.models import Hand, HandState, LaterRuling
from casino.hands.readings import Claim
from casino.houses import days
from casino.tables import selectors as tables_read
from casino.tables import services as tables
from casino.tables.models import Seating, Table, TableState


@dataclass(frozen=True, slots=True)
class Collected:
    """What one seat of the hand gives another one, in minor units, and how it has consented."""

    loser: str
    winner: str
    amount: int
    consent: str


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a later ruling moves, by seat of the hand (`p1`), in minor units."""

    tax_refunded: Mapping[str, int] = field(default_factory=dict)
    fee_refunded: Mapping[str, int] = field(default_factory=dict)
    made_good: Mapping[str, int] = field(default_factory=dict)
    collected: Sequence[Collected] = ()

    @property
    def total(self) -> int:
        """All of it together."""
        paid = (self.tax_refunded, self.fee_refunded, self.made_good)
        return sum(sum(amounts.values()) for amounts in paid) + sum(one.amount for one in self.collected)

    @property
    def actors(self) -> set[str]:
        """The seats that it names."""
        pairs = {actor for one in self.collected for actor in (one.loser, one.winner)}
        return pairs | set(self.tax_refunded) | set(self.fee_refunded) | set(self.made_good)


def rule(*, command: Command, code: str, name: str, remedy: Remedy, claims: Sequence[Claim], reason: str) -> Answer:
    """Rule on a hand that was settled or ruled on before; everybody whom it pays or who pays sits at the table, where
    no hand is played.

    Raises NotFound, Conflict table_..., hand_not_over for a hand whose money has not moved, not_seated, Unprocessable
    no_such_seat, refund_too_high for more tax than the hand, or a larger fee than a seat, has paid and not got back,
    Forbidden four_eyes for the dealer of the hand, what a claim is refused with, and Conflict approval_required until
    a manager has approved it.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.OPEN)
        hand = _over(table, name)
        before, begun, there, log = readings.require_not_dealer(
            command,
            hand,
            LaterRuling.objects.filter(hand=hand),
            days.opened_before(hand.house, hand.settled_at or hand.started_at),
            tables_read.asking_seated(table),
            selectors.reading_log(hand),
        )
        _require_possible(hand, remedy, before, tables_read.those_seated(there))
        read, moved = readings.both(hand, claims, [stored for (stored,) in log]), _events(hand, remedy)
        work.require_approval(Need(kind=ApprovalKind.RULING, roles=ruling.APPROVERS, amount=remedy.total))
        settlement = _post(command, work, hand, moved, reason, days.for_day(begun))
        number = 1 + (hand.state == HandState.RULED) + len(before)
        decided: dict[str, Any] = {
            "tax_refunded": dict(remedy.tax_refunded),
            "fee_refunded": dict(remedy.fee_refunded),
            "made_good": dict(remedy.made_good),
            "collected": [asdict(one) for one in remedy.collected],
            "readings": read,
        }
        work.insert(
            LaterRuling(
                house_id=hand.house_id, hand=hand, number=number, settlement=settlement, reason=reason, **decided
            )
        )
        decided["fee_refunded"] = decided["fee_refunded"] or None
        return Outcome(HandRuledLater(hand=hand.name, ruling=number, settlement=settlement, reason=reason, **decided))

    return write.write(command, tables.AtTable(code), change)


def _over(table: Table, name: str) -> Hand:
    """A hand of this table whose money has moved. Raises NotFound, Conflict hand_not_over."""
    hand = selectors.of_table(table, None, name)
    if hand.state not in (HandState.SETTLED, HandState.RULED):
        raise Conflict(f"Hand {name} is {hand.state}; no money of it has to be put right.", code="hand_not_over",
                       state=hand.state)  # fmt: skip
    return hand


def _require_possible(hand: Hand, remedy: Remedy, before: Sequence[LaterRuling], there: Sequence[Seating]) -> None:
    """`before`: the later rulings that there are; `there`: who sits at the table. Raises as :func:`rule`."""
    ruling.require_seats(hand, remedy.actors)
    _require_seated(hand, remedy.actors, there)
    _require_fees(hand, remedy.fee_refunded, before)
    left = tax_of(hand) - sum(sum(one.tax_refunded.values()) for one in before)
    refunded = sum(remedy.tax_refunded.values())
    if refunded > left:
        raise Unprocessable(
            f"Of the tax of hand {hand.name}, {hand.house.money(left)} are not refunded yet.",
            code="refund_too_high",
            max=left,
            tax=refunded,
        )


def _require_fees(hand: Hand, refunded: Mapping[str, int], before: Sequence[LaterRuling]) -> None:
    """Raises Unprocessable refund_too_high."""
    for actor, amount in refunded.items():
        left = fee_of(hand, int(actor[1:])) - sum(one.fee_refunded.get(actor, 0) for one in before)
        if amount > left:
            raise Unprocessable(
                f"Of the fee of seat {actor} in hand {hand.name}, {hand.house.money(left)} are not refunded yet.",
                code="refund_too_high",
                max=left,
                tax=amount,
            )


def fee_of(hand: Hand, seat: int) -> int:
    """The fee that a seat of the hand (1 is p1) has paid in chips, in minor units; only a settlement takes one."""
    return fees.of_seat(hand.fees, seat) if hand.state == HandState.SETTLED else 0


def tax_of(hand: Hand) -> int:
    """The tax that the hand has paid, in minor units."""
    paid: int = ((hand.ruling if hand.state == HandState.RULED else hand.result) or {})["tax"]
    return paid


def _require_seated(hand: Hand, actors: set[str], there: Sequence[Seating]) -> None:
    """Raises Conflict not_seated."""
    named = {hand.player_of(int(actor[1:])) for actor in actors}
    if missing := sorted(named - {seating.player.ref for seating in there}):
        raise Conflict(
            f"{', '.join(missing)} must sit at table {hand.table.code}, where the stack is that is paid from or to.",
            code="not_seated",
            players=missing,
        )


def _post(
    command: Command, work: Work, hand: Hand, moved: list[Posting], reason: str, for_day: Mapping[str, str]
) -> int | None:
    """Post what the ruling moves, for the day of the hand; returns the ledger transaction, None where nothing moves."""
    if not moved_anything(moved):
        return None
    return work.post_now(
        key=command.ledger_key("ruling"),
        kind="hand.ruled_later",
        postings=moved,
        metadata={"hand": hand.name, "reason": reason, **for_day},
    )


def _events(hand: Hand, remedy: Remedy) -> list[Posting]:
    code, desk = hand.table.code, Desk(hand.house, hand.table.account(Account.TRAY), hand.table.code)

    def player(actor: str) -> str:
        return hand.player_of(int(actor[1:]))

    found = []
    for one in remedy.collected:
        places = {"table": code, "loser": player(one.loser), "winner": player(one.winner)}
        found.append(posting("pairs_settled", places, amount=one.amount))
    for name, amounts in (
        ("tax_refunded", remedy.tax_refunded), ("fee_refunded", remedy.fee_refunded), ("made_good", remedy.made_good)
    ):  # fmt: skip
        for actor, amount in amounts.items():
            chips, change = desk.pay_out(amount)
            places = {"table": code, "player": player(actor)}
            found.append(posting(name, places, amount=amount, chips=chips, change=change))
    return found
