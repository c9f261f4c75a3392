"""The cage: vault, drawers, and what players exchange there."""

from typing import Annotated

from casino.audit.events.fields import Amount, JsonObject, Pieces, Player
from casino.audit.events.registry import ApprovedEvent, AuditEvent, DrawerEvent, event

PlayerChips = Annotated[int, "the player's chips away from the tables after this, minor units"]


@event("vault.opened", chain="house")
class VaultOpened(AuditEvent):
    """The owners' capital in cash and the commissioned chips came into the vault."""

    capital: Annotated[int, "cash, minor units"]
    chips: Pieces


@event("drawer.set_up", chain="drawer")
class DrawerSetUp(AuditEvent):
    """A drawer was set up, closed and empty."""


@event("drawer.opened", chain="drawer")
class DrawerOpened(DrawerEvent, ApprovedEvent):
    """A drawer was opened with a float from the vault."""

    float_cash: Annotated[int, "cash of the float, minor units"]
    float_chips: Annotated[int, "worth of the chips of the float, minor units"]
    float_pieces: Pieces


@event("drawer.closed", chain="drawer")
class DrawerClosed(DrawerEvent):
    """A drawer was counted and emptied into the vault."""

    reconciliation: Annotated[JsonObject, "the shift's float, and cash and chips expected, counted, over or short"]


@event("cage.buy_in", chain="drawer")
class CageBuyIn(DrawerEvent, ApprovedEvent):
    """A player gave cash for chips."""

    player: Player
    amount: Amount
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player got: number of pieces by denomination in minor units"]


@event("cage.cash_out", chain="drawer")
class CageCashOut(DrawerEvent, ApprovedEvent):
    """A player gave chips for cash."""

    player: Player
    amount: Amount
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player gave: number of pieces by denomination in minor units"]
    change: Annotated[Pieces | None, "chips the player got back, where the exact ones could not be had"] = None


@event("cage.exchange", chain="drawer")
class CageExchange(DrawerEvent):
    """Chips of the public were changed into others of the same worth."""

    exchange: Annotated[JsonObject, "`amount` (minor units), pieces `given`, pieces in `change`"]


@event("cage.foreign_chips", chain="drawer")
class ForeignChipsBought(DrawerEvent):
    """Chips of another house were bought for cash at face value."""

    foreign_chips: Annotated[JsonObject, "`amount` (minor units) and `issuer`"]


@event("tronc.shared", chain="house")
class TroncShared(AuditEvent):
    """Tips that were counted were shared among the staff."""

    pool: Annotated[
        JsonObject, "`pool` (number, from 1 by house), `amount` (minor units), `shared_by`, `shares` with points"
    ]


@event("tronc.share_paid", chain="drawer")
class TroncSharePaid(DrawerEvent):
    """A person got the share of a pool in cash."""

    share: Annotated[JsonObject, "`pool` (number), `login`, `amount` (minor units)"]
