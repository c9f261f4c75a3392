"""Chip sets, and chips that come into the vault or leave it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from casino.audit.events.fields import Amount, JsonObject, Pieces, Player, Reason
from casino.audit.events.registry import ApprovedEvent, AuditEvent, DrawerEvent, ThresholdEvent, event

MovePart = Annotated[
    JsonObject,
    "`move` (number, from 1 by house), `kind`, `chip_set`, `drawer` (from which withdrawn chips come), "
    "`paper` (number of the delivery note, or why the chips go), `state`, who did it (`noted_by`, `observer`, "
    "`decided_by`), `differing_rounds`, `reason`; once done also what was `noted` and "
    "`counted`, worth `value` (minor units)",
]
OwnCount = Annotated[JsonObject, "`round` and `pieces`, as this person has counted them"]


@event("chips.introduced", chain="house")
class ChipsIntroduced(AuditEvent):
    """The house got a chip set. Its first one is in use at once."""

    chip_set: Annotated[str, "code of the chip set"]
    denominations: Annotated[Mapping[str, str], "colour by denomination in minor units"]


@event("chips.put_in_use", chain="house")
class ChipsPutInUse(ApprovedEvent):
    """Another chip set took the place of the one in use, which is withdrawn."""

    chip_set: Annotated[str, "code of the chip set that is in use now"]
    withdrawn: Annotated[str, "code of the chip set that was in use"]
    redeem_until: Annotated[str, "last day (ISO date) on which the house has promised to take that back"]
    reason: Reason


@event("chips.lapsed", chain="house")
class ChipsLapsed(ApprovedEvent):
    """The notice of a withdrawn chip set was over: what was still out is worth nothing any more."""

    chip_set: Annotated[str, "code of the chip set"]
    amount: Amount
    pieces: Annotated[Mapping[str, int], "chips that were out: number of pieces by denomination in minor units"]
    reason: Reason


@event("chips.retired", chain="house")
class ChipsRetired(AuditEvent):
    """No chip of a set was left anywhere, and it is never used again."""

    chip_set: Annotated[str, "code of the chip set"]
    reason: Reason


@event("cage.chips_redeemed", chain="drawer")
class ChipsRedeemed(DrawerEvent):
    """Chips of a withdrawn set were taken back for chips of the set in use."""

    redeemed: Annotated[
        JsonObject, "`chip_set` (the withdrawn one), `amount` (minor units), pieces `given`, pieces in `change`"
    ]


@event("cage.late_claim_paid", chain="drawer")
class LateClaimPaid(DrawerEvent, ApprovedEvent, ThresholdEvent):
    """Chips of a set that has lapsed were brought late, and the house paid them in cash, by grace."""

    claim: Annotated[int, "number among the late claims of the house, from 1"]
    player: Player
    chip_set: Annotated[str, "code of the set that has lapsed"]
    amount: Amount
    exchanged: Annotated[Pieces, "chips that were brought: number of pieces by denomination in minor units"]
    left: Annotated[int, "what lapsed of the set and nobody has claimed yet, after this, minor units"]
    reason: Reason


@dataclass(frozen=True, kw_only=True)
class ChipMoveEvent(AuditEvent):
    """Something about chips that come into the vault or leave it for ever."""

    move: MovePart


@dataclass(frozen=True, kw_only=True)
class ChipsMoved(ChipMoveEvent):
    """The end of a movement, which was posted."""

    count: Annotated[OwnCount | None, "the last count; absent where a manager decided"] = None
    reason: Annotated[Reason | None, "why chips were taken in that are not what the note says"] = None


@event("chips.noted", chain="house")
class ChipsNoted(ChipMoveEvent):
    """A person wrote down what a delivery note says, or what was counted out to be set aside or destroyed."""

    pieces: Pieces


@event("chips.counted", chain="house")
class ChipsCounted(ChipMoveEvent):
    """The first of two people counted a delivery, without knowing what its note says."""

    count: OwnCount


@event("chips.counts_differed", chain="house")
class ChipCountsDiffered(ChipMoveEvent):
    """The last person counted something else than the others. Nothing moved."""

    count: OwnCount


@event("chips.delivered", chain="house")
class ChipsDelivered(ChipsMoved):
    """Chips from the maker came into the vault: all have counted what the note says, or a manager decided."""


@event("chips.set_aside", chain="house")
class ChipsSetAside(ChipsMoved):
    """Two people counted the same, and the chips were put aside in the vault."""


@event("chips.withdrawn_set_aside", chain="house")
class WithdrawnSetAside(ChipsMoved):
    """Two people counted the withdrawn chips that a drawer had taken back, and they were put aside in the vault. What
    was over or short was posted."""


@event("chips.destroyed", chain="house")
class ChipsDestroyed(ChipsMoved):
    """Two people counted the same before surveillance, and the chips are gone."""
