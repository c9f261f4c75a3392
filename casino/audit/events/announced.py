"""Cash-outs that are announced at drawers, which set their cash aside."""

from typing import Annotated

from casino.audit.events.fields import Amount, Reason
from casino.audit.events.registry import DrawerEvent, event

Announcement = Annotated[int, "number among the announced cash-outs of the house, from 1"]


@event("cage.cash_out_announced", chain="drawer")
class CashOutAnnounced(DrawerEvent):
    """A large cash-out was announced; the drawer sets its cash aside, which nothing else there can take."""

    announcement: Announcement
    player: Annotated[str | None, "reference of the player; absent for for the person who brings the chips"] = None
    amount: Amount
    minutes: Annotated[int, "for how many minutes the cash is set aside"]
    until: Annotated[str, "until when it is, ISO 8601 in UTC"]


@event("cage.announcement_withdrawn", chain="drawer")
class AnnouncementWithdrawn(DrawerEvent):
    """An announced cash-out was withdrawn; its cash is free again."""

    announcement: Announcement
    amount: Amount
    reason: Reason
