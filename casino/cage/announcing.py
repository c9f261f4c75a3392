"""Announcing large cash-outs: a drawer sets the cash aside until the player comes with the chips.

A seated player has the chips at the table, and the wallet is empty: only the drawer's cash is on hold, not the whole
posting of the cash-out. Whatever else takes cash of the drawer has what is left.
"""

from django.db.models import Max

from casino.audit.events.announced import AnnouncementWithdrawn, CashOutAnnounced
from casino.bookkeeping.flows import Direction
from casino.bookkeeping.postings import posting
from casino.cage import announced, selectors
from casino.cage.announced_models import AnnouncedCashOut, AnnouncedState
from casino.cage.models import Drawer
from casino.cage.services import require_open, write_at
from casino.core import locks, moments
from casino.core.commands import Answer, Command
from casino.core.work import Outcome, Work
from casino.players import persons, thresholds
from casino.players.models import Player


def announce(*, command: Command, code: str, player_ref: str | None, amount: int, minutes: int) -> Answer:
    """Set `amount` minor units of the drawer's cash aside for so many minutes, for a player or (None) for the bearer
    brings the chips. The answer and the event have its number, by which it is paid.

    Raises NotFound, Gone for a player who was forgotten, Conflict drawer_closed, drawer_counted, drawer_short,
    staff_as_player; identity_required for a bearer, who could not be paid so much without a name.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        require_open(drawer)
        player = _guest(drawer, player_ref)
        if player is None:
            thresholds.check(drawer.house, amount, Direction.OUT)
        locks.lock_announced(drawer.house.id)
        selectors.require_cash(drawer, amount)
        last = AnnouncedCashOut.objects.filter(house=drawer.house).aggregate(last=Max("number"))["last"] or 0
        found = AnnouncedCashOut(
            house=drawer.house, number=last + 1, drawer=drawer, player=player, amount=amount, minutes=minutes,
            announced_by=command.context.staff,
        )  # fmt: skip
        found.until = work.hold(
            key=found.hold_key,
            kind="cage.cash_out_announced",
            # Cash that goes out and nothing else: the chips are not there yet, and a hold must balance by itself.
            postings=[posting("drawer_skimmed", {"drawer": code}, cash=amount)],
            metadata={"drawer": code, "announcement": found.number},
            seconds=60 * minutes,
        )
        found.save(force_insert=True)
        event = CashOutAnnounced(
            announcement=found.number, player=player_ref, amount=amount, minutes=minutes,
            until=moments.utc(found.until),
        )  # fmt: skip
        return Outcome(event, status=201)

    return write_at(command, code, change)


def withdraw(*, command: Command, code: str, number: int, reason: str) -> Answer:
    """Let the cash of an announced cash-out go. Raises NotFound, Conflict announcement_paid, announcement_withdrawn,
    announcement_expired."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        found = announced.open_one(drawer, number)
        announced.end(work, found, AnnouncedState.WITHDRAWN, reason=reason)
        return Outcome(AnnouncementWithdrawn(announcement=number, amount=found.amount, reason=reason))

    return write_at(command, code, change)


def _guest(drawer: Drawer, ref: str | None) -> Player | None:
    """The player who is to be paid, locked; None without a name. Raises NotFound, Gone, Conflict staff_as_player."""
    if ref is None:
        return None
    player = persons.lock(drawer.house, ref)
    persons.require_not_forgotten(player)
    persons.require_guest(player)
    return player
