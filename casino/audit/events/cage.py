"""The cage: vault, drawers, and what players exchange there."""

from typing import Annotated

from casino.audit.events.custody import Mirrors
from casino.audit.events.fields import Amount, Approver, JsonObject, Pieces, Player, Reason
from casino.audit.events.registry import AuditEvent, DrawerEvent, event

Shift = Annotated[int, "number of the shift at its drawer, from 1"]
Counted = Annotated[JsonObject, "`cash` and `foreign` (chips of other houses) in minor units, `pieces` of the house"]
Agrees = Annotated[bool, "whether the count is as near to the books as the house accepts without another one"]
Handover = Annotated[
    JsonObject,
    "`handover` (number at its drawer), `kind`, `state`, who has signed; `cash` and `pieces` but for a signature",
]
PlayerChips = Annotated[int, "the player's chips away from the tables after this, minor units"]


@event("vault.opened", chain="house")
class VaultOpened(AuditEvent):
    """The owners' capital in cash and the commissioned chips came into the vault."""

    capital: Annotated[int, "cash, minor units"]
    chips: Pieces


@event("drawer.set_up", chain="drawer")
class DrawerSetUp(AuditEvent):
    """A drawer was set up, closed and empty."""


@event("handover.offered", chain="drawer")
class HandoverOffered(DrawerEvent):
    """Cash and chips were counted out between the vault and a drawer; nothing has moved yet."""

    handover: Handover


@event("handover.signed", chain="drawer")
class HandoverSigned(DrawerEvent):
    """A manager has signed for a large float or replenishment."""

    handover: Handover
    approver: Approver


@event("handover.withdrawn", chain="drawer")
class HandoverWithdrawn(DrawerEvent):
    """What was counted out was not taken."""

    handover: Handover
    reason: Reason


@event("drawer.opened", chain="drawer")
class DrawerOpened(DrawerEvent):
    """A drawer was opened: its cashier has counted the float and taken it."""

    shift: Shift
    handover: Annotated[int, "number of the handover by which the float was offered"]
    float_cash: Annotated[int, "cash of the float, minor units"]
    float_chips: Annotated[int, "worth of the chips of the float, minor units"]
    float_pieces: Pieces


@event("drawer.replenished", chain="drawer")
class DrawerReplenished(DrawerEvent):
    """An open drawer has taken cash or chips from the vault."""

    handover: Handover


@event("drawer.skimmed", chain="drawer")
class DrawerSkimmed(DrawerEvent):
    """The vault has taken cash or chips of an open drawer."""

    handover: Handover


@event("drawer.counted", chain="drawer")
class DrawerCounted(DrawerEvent):
    """A drawer was counted by its cashier, who did not know what it must hold; from now on nothing moves there."""

    shift: Shift
    count: Counted
    agrees: Agrees


@event("drawer.recounted", chain="drawer")
class DrawerRecounted(DrawerEvent):
    """A drawer whose count differed was counted again, without knowing either."""

    shift: Shift
    count: Counted
    agrees: Agrees


@event("drawer.closed", chain="drawer")
class DrawerClosed(DrawerEvent):
    """A drawer was emptied into the vault, by the last count."""

    reconciliation: Annotated[
        JsonObject, "the shift: float, both counts, and cash and chips expected, accepted, over or short"
    ]
    reason: Reason | None = None
    approver: Approver | None = None


@event("drawer.x_read", chain="drawer")
class DrawerXRead(AuditEvent):
    """What an open drawer must hold was read, with everything that its shift has moved."""

    x_reading: Annotated[int, "number of the reading at its drawer, from 1"]
    shift: Shift


@event("cage.buy_in", chain="drawer")
class CageBuyIn(DrawerEvent):
    """A player gave cash for chips."""

    player: Player
    amount: Amount
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player got: number of pieces by denomination in minor units"]


@event("cage.cash_out", chain="drawer")
class CageCashOut(DrawerEvent):
    """A player gave chips for cash."""

    player: Player
    amount: Amount
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player gave: number of pieces by denomination in minor units"]
    change: Annotated[Pieces | None, "chips the player got back, where the exact ones could not be had"] = None
    attributed: Annotated[int | None, "minor units of it that were booked for nobody before"] = None


@event("cage.bearer_buy_in", chain="drawer")
class BearerBuyIn(DrawerEvent):
    """Chips were sold for cash without a name."""

    amount: Amount
    exchanged: Annotated[Pieces, "chips that were sold: number of pieces by denomination in minor units"]


@event("cage.bearer_cash_out", chain="drawer")
class BearerCashOut(DrawerEvent):
    """Chips were bought back for cash without a name."""

    amount: Amount
    exchanged: Annotated[Pieces, "chips that were brought: number of pieces by denomination in minor units"]


@event("cage.corrected", chain="drawer")
class CageCorrected(DrawerEvent):
    """An entry of the shift that was keyed wrong was taken back by its mirror, and the right one made."""

    corrects: Annotated[int, "number of the wrong entry in the drawer's chain"]
    was: Annotated[str, "kind of the wrong entry"]
    mirrors: Mirrors
    attributed: Annotated[int | None, "minor units that lacked for the mirror, booked as brought before it"] = None
    right: Annotated[JsonObject | None, "the right entry as an event of its `kind`; missing where there is none"] = None
    reason: Reason
    approver: Approver


@event("chips.attributed", chain="house")
class ChipsAttributed(AuditEvent):
    """Chips that were owed to nobody in particular became a player's."""

    player: Player
    place: Annotated[str, "table or drawer where they were booked"]
    amount: Amount
    player_chips: PlayerChips
    reason: Reason


@event("chips.unattributed", chain="house")
class ChipsUnattributed(AuditEvent):
    """A player's chips became chips that are owed to nobody in particular."""

    player: Player
    place: Annotated[str, "table or drawer where they are booked"]
    amount: Amount
    player_chips: PlayerChips
    reason: Reason


@event("cage.exchange", chain="drawer")
class CageExchange(DrawerEvent):
    """Chips of the public were changed into others of the same worth."""

    exchange: Annotated[JsonObject, "`amount` (minor units), pieces `given`, pieces in `change`"]


@event("cage.foreign_chips", chain="drawer")
class ForeignChipsBought(DrawerEvent):
    """Chips of another house were bought for cash at face value."""

    foreign_chips: Annotated[JsonObject, "`amount` (minor units) and `issuer`"]


@event("cage.tronc_paid", chain="drawer")
class TroncPaid(DrawerEvent):
    """The tip box of a table was emptied, and the staff got its worth in cash."""

    tronc: Annotated[JsonObject, "`table`, `amount` (minor units), pieces in `chips`"]
