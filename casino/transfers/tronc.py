"""The tronc: tips that were counted, shared among the staff by points or hours, and each share paid once.

The sum of the shares is the pool, to the minor unit: everybody gets the whole units of the exact share, and what is
left goes one by one to the largest remainders.
"""

from collections.abc import Mapping
from dataclasses import replace

from casino.audit.events.cage import TroncShared, TroncSharePaid
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.cage import selectors as drawers
from casino.cage import services as cage
from casino.cage.models import Drawer
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Forbidden, NotFound, Unprocessable
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Staff
from casino.transfers import selectors, serials
from casino.transfers.boxes import IN_COUNT_ROOM
from casino.transfers.models import TroncPool, TroncShare

#: Counted tips that belong to no share yet: one statement, so that no payment comes between balance and shares.
_UNSHARED = """
SELECT coalesce((SELECT balance FROM ledger_account WHERE book = %s AND code = %s), 0)
    - coalesce((SELECT sum(amount) FROM transfers_troncshare WHERE house_id = %s AND paid_at IS NULL), 0)::bigint
"""


def shares_of(amount: int, points: Mapping[str, int]) -> dict[str, int]:
    """`amount` minor units by points, by login; largest remainders first, then logins in their order."""
    total = sum(points.values())
    found = {login: amount * count // total for login, count in sorted(points.items())}
    left = amount - sum(found.values())
    by_remainder = sorted(found, key=lambda login: (-(amount * points[login] % total), login))
    return {login: found[login] + (login in by_remainder[:left]) for login in found}


def share(*, command: Command, points: Mapping[str, int]) -> Answer:
    """Share all tips that were counted and not shared yet, by points or hours of each login.

    Raises Conflict nothing_to_share, Unprocessable unknown_login, Forbidden four_eyes for who would get a share.
    """

    def change(house: House, work: Work) -> Outcome:
        serial = serials.next_of(house, "tronc")
        [(amount,)] = sql.rows(_UNSHARED, [house.id, Account.TRONC_POOL, house.id])
        if amount <= 0:
            raise Conflict("No tips were counted that are not shared yet.", code="nothing_to_share")
        staff = {one.login: one for one in Staff.objects.filter(house=house, login__in=list(points))}
        if unknown := sorted(points.keys() - staff.keys()):
            raise Unprocessable(f"This house has no {', '.join(unknown)}.", code="unknown_login", logins=unknown)
        if command.context.staff.login in points:
            raise Forbidden("Who shares the tips gets none of them.", code="four_eyes")
        pool = TroncPool.objects.create(house=house, serial=serial, amount=amount, shared_by=command.context.staff)
        TroncShare.objects.bulk_create(
            TroncShare(house_id=house.pk, pool=pool, staff=staff[login], points=points[login], amount=part)
            for login, part in shares_of(amount, points).items()
        )
        described = selectors.describe_pool(pool)
        return Outcome(TroncShared(pool=described), {"pool": described}, 201, version=serial)

    # The close of a day names unpaid shares: none are made meanwhile.
    return write.write(command, replace(IN_COUNT_ROOM, lock=locks.lock_vault), change)


def pay(*, command: Command, code: str, serial: int, login: str) -> Answer:
    """Pay a person's share of a pool in cash out of a drawer, once.

    Raises Conflict drawer_closed or share_paid, InsufficientFunds, NotFound, Forbidden four_eyes for the own share.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        cage.require_open(drawer)
        found = TroncShare.objects.filter(
            house=drawer.house, pool__serial=serial, pool__house=drawer.house, staff__login=login
        ).first()
        if found is None:
            raise NotFound(f"{login} has no share of tronc {serial}.")
        share = locks.lock(TroncShare, locks.Rank.CUSTODY, id=found.pk)
        if share.paid_at is not None:
            raise Conflict(f"The share of {login} was paid.", code="share_paid")
        if share.staff_id == command.context.staff.pk:
            raise Forbidden("Nobody pays the own share; another cashier must do this.", code="four_eyes")
        drawers.require_cash(drawer, share.amount)
        TroncShare.objects.filter(id=share.pk).update(
            drawer=drawer, paid_by=command.context.staff, paid_at=ClockTimestamp()
        )
        paid = posting("tronc_share_paid", {"drawer": code}, amount=share.amount)
        cage.enter(work, command.ledger_key(), drawer, "tronc.share_paid", [paid], pool=serial, staff=login)
        return Outcome(TroncSharePaid(share={"pool": serial, "login": login, "amount": share.amount}), status=201)

    return cage.write_at(command, code, change)
