"""The cage: vault, drawers, and what players exchange there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from casino.audit.events.custody import Mirrors
from casino.audit.events.fields import (
    Amount,
    Approver,
    JsonObject,
    LedgerTransaction,
    Pieces,
    Player,
    Reason,
    RevokedTerminals,
    TemplateFrom,
    TemplateNumber,
    TemplateSet,
)
from casino.audit.events.registry import ApprovedEvent, AuditEvent, DrawerEvent, ThresholdEvent, event

Shift = Annotated[int, "number of the shift at its drawer, from 1"]
Counted = Annotated[
    JsonObject,
    "`cash` and `foreign` (chips of other houses) in minor units, `pieces` of the house; where there were any also "
    "pieces of `withdrawn` sets by set",
]
Agrees = Annotated[bool, "whether the count is as near to the books as the house accepts without another one"]
Handover = Annotated[
    JsonObject,
    "`handover` (number at its drawer), `kind`, `state`, who has signed; `cash` and `pieces` but for a signature; of a "
    "drawer that is handed over `to_drawer` and `foreign` (chips of other houses, minor units), and pieces of "
    "`withdrawn` sets by set where there are any",
]
Announced = Annotated[
    int | None, "number of the announced cash-out that was paid with it; absent where it was not announced"
]
PlayerChips = Annotated[int, "the player's chips away from the tables after this, minor units"]


@event("vault.opened", chain="house")
class VaultOpened(AuditEvent):
    """The owners' capital in cash and the commissioned chips came into the vault."""

    capital: Annotated[int, "cash, minor units"]
    chips: Pieces


VaultCountPart = Annotated[
    JsonObject,
    "`vault_count` (from 1 by house), `state`, `differing_rounds`, `decided_by`, `signed_by`, and once it was counted "
    "the `count`, what it is `over` (below zero: short), and the `counts` of every `round` with `by` (login)",
]
OwnVaultCount = Annotated[
    JsonObject,
    "`cash` and `foreign` (chips of other houses) in minor units, `pieces`; `round`, as this person has counted them",
]


@event("vault.counted", chain="house")
class VaultCounted(AuditEvent):
    """A person counted the vault: the first of two, or the second with the same difference from the books."""

    vault_count: VaultCountPart
    count: OwnVaultCount


@event("vault.counts_differed", chain="house")
class VaultCountsDiffered(AuditEvent):
    """The second person counted something else in the vault than the first; both count again."""

    vault_count: VaultCountPart
    count: OwnVaultCount


@event("vault.count_decided", chain="house")
class VaultCountDecided(AuditEvent):
    """Counts of the vault have differed three times, and a supervisor decided what is in it."""

    vault_count: VaultCountPart
    reason: Reason


@event("vault.count_signed_off", chain="house")
class VaultCountSignedOff(AuditEvent):
    """A manager accepted a count of the vault that differs from the books; the difference was posted."""

    vault_count: VaultCountPart
    reason: Reason


Bag = Annotated[
    JsonObject,
    "`number` (from 1 by house), `way`, `bag` (number of the sealed bag), `amount`, `state`, `sent_by`; once it has "
    "arrived `counted` and `difference` (minor units), `note` (number of the bank's note), `ended_by`",
]


@event("bank.sent", chain="house")
class BankSent(ApprovedEvent):
    """Cash left the vault for the bank, in a sealed bag."""

    bag: Bag
    amount: Amount


@event("bank.confirmed", chain="house")
class BankConfirmed(ApprovedEvent):
    """The bank confirmed a bag by its note; approved where it has counted another amount."""

    bag: Bag
    amount: Annotated[int, "what the bank has counted, minor units"]


@event("bank.drawn", chain="house")
class BankDrawn(ApprovedEvent):
    """Cash left the bank for the vault, in a sealed bag."""

    bag: Bag
    amount: Amount


@event("bank.received", chain="house")
class BankReceived(ApprovedEvent):
    """A bag from the bank was counted into the vault; approved where its amount is another one."""

    bag: Bag
    amount: Annotated[int, "what was counted, minor units"]


@event("foreign.redeemed", chain="house")
class ForeignRedeemed(ApprovedEvent):
    """Another house has paid for chips of its own, which left the vault."""

    issuer: Annotated[str, "the other house"]
    amount: Annotated[int, "face value of the chips, minor units"]
    paid: Annotated[int, "what the other house has paid, minor units; the rest is lost"]
    note: Annotated[str, "number of the bank's note"]


@event("variance.offset", chain="house")
class VarianceWasOffset(ApprovedEvent):
    """Cash over and chips short of one count, or the reverse, were one wrong entry, and were offset as far as they
    cancel."""

    number: Annotated[int, "from 1 by house"]
    drawer: Annotated[str | None, "code of the drawer; absent for the vault"] = None
    count: Annotated[int, "number of the shift at its drawer, or of the vault's count"]
    amount: Amount
    cash_over: Annotated[bool, "whether cash was over and chips were short; else the reverse"]
    posting: LedgerTransaction
    reason: Reason


Evidence = Annotated[str, "number under which the evidence is kept"]
Counterfeits = Annotated[JsonObject, "`cash` (face value of notes, minor units), `pieces`, `amount` (of both together)"]


@event("cage.counterfeits_found", chain="drawer")
class CageCounterfeitsFound(DrawerEvent, ApprovedEvent):
    """Counterfeit notes or chips were taken out of a drawer, and kept as evidence."""

    counterfeits: Counterfeits
    evidence: Evidence
    reason: Reason


@event("vault.counterfeits_found", chain="house")
class VaultCounterfeitsFound(ApprovedEvent):
    """Counterfeit notes or chips were taken out of the vault, and kept as evidence."""

    counterfeits: Counterfeits
    evidence: Evidence
    reason: Reason


@event("drawer.set_up", chain="drawer")
class DrawerSetUp(ApprovedEvent):
    """A drawer was set up, closed and empty."""


@event("drawer.retired", chain="drawer")
class DrawerRetired(DrawerEvent):
    """The drawer was ended for ever: it is never opened again. Its terminals are revoked with it."""

    terminals: RevokedTerminals = None
    reason: Reason


@event("drawer.template_set", chain="drawer")
class FloatTemplateSet(ApprovedEvent):
    """What the drawer begins with, from a moment on, and what it keeps for change."""

    template: TemplateNumber
    valid_from: TemplateFrom
    chip_set: TemplateSet
    cash: Annotated[int, "cash of the float, minor units"]
    pieces: Pieces
    least: Annotated[Pieces, "chips that a fill leaves in the drawer: pieces by denomination in minor units"]
    ceiling: Annotated[
        int | None, "cash above which the drawer is to be skimmed, minor units; the control point if absent"
    ] = None
    reason: Reason


@event("handover.offered", chain="drawer")
class HandoverOffered(DrawerEvent):
    """Cash and chips were counted out between the vault and a drawer, or a counted drawer was offered to another one;
    nothing has moved yet."""

    handover: Handover
    reason: Reason | None = None


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
    handover: Annotated[int, "number of the handover by which the float was offered, at the drawer that offered it"]
    float_cash: Annotated[int, "cash of the float, minor units"]
    float_chips: Annotated[int, "worth of the chips of the float, minor units"]
    float_pieces: Pieces
    taken_from: Annotated[
        JsonObject | None,
        "where another cashier's drawer was taken over, recorded with its `drawer.closed`: that `drawer`, its chips of "
        "other houses (`foreign`), pieces of withdrawn sets by set where there were any (`withdrawn`), and `posting` "
        "(ledger transaction)",
    ] = None


@event("drawer.reopened", chain="drawer")
class DrawerReopened(DrawerEvent, ApprovedEvent):
    """A drawer that was closed by mistake was opened again, with what was counted as its float."""

    shift: Shift
    reopens: Annotated[int, "number of the shift, and so of the Z slip, that was closed"]
    float_cash: Annotated[int, "cash of the float, minor units"]
    float_chips: Annotated[int, "worth of the chips of the float, minor units"]
    float_pieces: Pieces
    reason: Reason


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
    """A drawer was emptied into the vault, by the last count, or handed over to another one."""

    reconciliation: Annotated[
        JsonObject,
        "the shift: float, both counts, cash and chips expected, accepted, over or short (those of withdrawn "
        "sets by themselves), and the drawer it was "
        "`handed_to`",
    ]
    handover: Annotated[int | None, "number of the handover by which another drawer has taken it over"] = None
    reason: Reason | None = None
    approver: Approver | None = None


@event("drawer.x_read", chain="drawer")
class DrawerXRead(AuditEvent):
    """What an open drawer must hold was read, with everything that its shift has moved."""

    x_reading: Annotated[int, "number of the reading at its drawer, from 1"]
    shift: Shift


@event("cage.buy_in", chain="drawer")
class CageBuyIn(DrawerEvent, ApprovedEvent, ThresholdEvent):
    """A player gave cash for chips."""

    player: Player
    amount: Amount
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player got: number of pieces by denomination in minor units"]


@event("cage.cash_out", chain="drawer")
class CageCashOut(DrawerEvent, ApprovedEvent, ThresholdEvent):
    """A player gave chips for cash."""

    player: Player
    amount: Amount
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player gave: number of pieces by denomination in minor units"]
    change: Annotated[Pieces | None, "chips the player got back, where the exact ones could not be had"] = None
    attributed: Annotated[int | None, "minor units of it that were booked for nobody before"] = None
    announcement: Announced = None


@dataclass(frozen=True, kw_only=True)
class _UnknownPersonEvent(AuditEvent):
    """An event of a trade without a name, with somebody of whom there is a description or not."""

    unknown_person: Annotated[int | None, "number of the unknown person; absent where nobody is named"] = None
    log_line: Annotated[int | None, "number of the line of the log that it made; absent where nobody is named"] = None
    linked: Annotated[
        Mapping[str, Any] | None,
        "what that person has paid (`paid_in`) and was paid (`paid_out`) in the gaming day `day` (null where the house "
        "had none), this included, in minor units; absent where nobody is named",
    ] = None


@event("cage.bearer_buy_in", chain="drawer")
class BearerBuyIn(DrawerEvent, ApprovedEvent, ThresholdEvent, _UnknownPersonEvent):
    """Chips were sold for cash without a name."""

    amount: Amount
    exchanged: Annotated[Pieces, "chips that were sold: number of pieces by denomination in minor units"]


@event("cage.bearer_cash_out", chain="drawer")
class BearerCashOut(DrawerEvent, ApprovedEvent, ThresholdEvent, _UnknownPersonEvent):
    """Chips were bought back for cash without a name."""

    amount: Amount
    exchanged: Annotated[Pieces, "chips that were brought: number of pieces by denomination in minor units"]
    announcement: Announced = None


@event("cage.table_fee", chain="drawer")
class TableFeePaid(DrawerEvent):
    """A player paid in cash for the time at a table."""

    player: Player
    amount: Amount
    table: Annotated[str, "code of the table"]
    minutes: Annotated[int, "for how long the player has paid"]


Deposit = Annotated[int, "what lies in the player's deposit after this, minor units"]


@event("cage.deposit_taken", chain="drawer")
class DepositTaken(DrawerEvent, ApprovedEvent, ThresholdEvent):
    """A player left cash with the house for safe keeping."""

    player: Player
    amount: Amount
    deposit: Deposit


@event("cage.deposit_drawn", chain="drawer")
class DepositDrawn(DrawerEvent):
    """A player got chips for what lay in the deposit."""

    player: Player
    amount: Amount
    deposit: Deposit
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player got: number of pieces by denomination in minor units"]


@event("cage.deposit_returned", chain="drawer")
class DepositReturned(DrawerEvent, ApprovedEvent, ThresholdEvent):
    """A player got cash of the deposit back."""

    player: Player
    amount: Amount
    deposit: Deposit


HeldPayout = Annotated[
    JsonObject,
    "`payout` (number, from 1 by house), `player`, `amount`, `cause`, `state`, `drawer` where it was brought, "
    "`held_by`, and once it was paid `paid_by`, `paid_at_drawer` or the `note` of the bank",
]


@event("cage.payout_held", chain="drawer")
class PayoutHeld(DrawerEvent, ApprovedEvent):
    """A player brought chips and was not paid yet; compliance has decided so."""

    player: Player
    amount: Amount
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player gave: number of pieces by denomination in minor units"]
    attributed: Annotated[int | None, "minor units of it that were booked for nobody before"] = None
    payout: HeldPayout


@event("cage.payout_released", chain="drawer")
class PayoutReleased(DrawerEvent, ApprovedEvent, ThresholdEvent):
    """A player got a held payout in cash."""

    player: Player
    amount: Amount
    payout: HeldPayout


@event("payout.paid_by_bank", chain="house")
class PayoutPaidByBank(ApprovedEvent, ThresholdEvent):
    """A player got a held payout by the bank."""

    player: Player
    amount: Amount
    payout: HeldPayout


FoundChips = Annotated[
    JsonObject,
    "`found` (number, from 1 by house), `drawer`, `finder`, `found_where`, `amount`, `pieces`, `state`, `noted_by`, "
    "and once they left the register `player` or the `note` of the bank, `ended_by`",
]
WaitedDays = Annotated[int, "for how many days the house must have waited for an owner"]


@event("cage.chips_found", chain="drawer")
class ChipsFound(DrawerEvent):
    """Chips without an owner were found and came to a drawer."""

    found: FoundChips
    amount: Amount
    exchanged: Annotated[Pieces, "chips that were found: number of pieces by denomination in minor units"]


@event("cage.chips_claimed", chain="drawer")
class ChipsClaimed(DrawerEvent, ApprovedEvent):
    """The owner of found chips got them back, or others worth the same."""

    player: Player
    found: FoundChips
    amount: Amount
    exchanged: Annotated[Pieces, "chips the player got: number of pieces by denomination in minor units"]


@event("unclaimed.remitted", chain="house")
class UnclaimedRemitted(ApprovedEvent):
    """The worth of found chips that nobody has claimed was remitted by the bank."""

    found: FoundChips
    amount: Amount
    waited_days: WaitedDays


@event("unclaimed.kept", chain="house")
class UnclaimedKept(ApprovedEvent):
    """The worth of found chips that nobody has claimed became income of the house."""

    found: FoundChips
    amount: Amount
    waited_days: WaitedDays
    reason: Reason


@event("cage.noncash_buy_in", chain="drawer")
class NonCashBought(DrawerEvent, ApprovedEvent, ThresholdEvent):
    """A player got chips that were paid for by card or transfer."""

    player: Player
    amount: Amount
    buy_in: Annotated[int, "number among the house's buy-ins by card or transfer, from 1"]
    means: Annotated[str, "`card` or `transfer`"]
    reference: Annotated[str, "reference of the terminal or the bank"]
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player got: number of pieces by denomination in minor units"]


@event("clearing.settled", chain="house")
class ClearingSettled(AuditEvent):
    """A line of the bank's statement has brought the money of buy-ins by card or transfer."""

    statement: Annotated[str, "line of the bank's statement"]
    amount: Amount
    buy_ins: Annotated[Sequence[int], "numbers of the buy-ins"]


@event("cage.noncash_paid", chain="drawer")
class NonCashPaid(DrawerEvent, ApprovedEvent, ThresholdEvent):
    """A player gave chips and was paid by the bank, to the own account."""

    player: Player
    amount: Amount
    account: Annotated[str, "the account, covered but for its last digits"]
    player_chips: PlayerChips
    exchanged: Annotated[Pieces, "chips the player gave: number of pieces by denomination in minor units"]
    attributed: Annotated[int | None, "minor units of it that were booked for nobody before"] = None


@event("cage.corrected", chain="drawer")
class CageCorrected(DrawerEvent, ApprovedEvent):
    """An entry of the shift that was keyed wrong was taken back by its mirror, and the right one made."""

    corrects: Annotated[int, "number of the wrong entry in the drawer's chain"]
    was: Annotated[str, "kind of the wrong entry"]
    mirrors: Mirrors
    attributed: Annotated[int | None, "minor units that lacked for the mirror, booked as brought before it"] = None
    right: Annotated[JsonObject | None, "the right entry as an event of its `kind`; missing where there is none"] = None
    reason: Reason


@event("chips.attributed", chain="house")
class ChipsAttributed(ThresholdEvent):
    """Chips that were owed to nobody in particular became a player's."""

    player: Player
    place: Annotated[str, "table or drawer where they were booked"]
    amount: Amount
    player_chips: PlayerChips
    for_day: Annotated[str | None, "gaming day to which this belongs, where it was named"] = None
    direction: Annotated[
        str | None, "`out` where it corrects what the player was paid; absent where it corrects what was paid in"
    ] = None
    reason: Reason


@event("chips.unattributed", chain="house")
class ChipsUnattributed(ThresholdEvent):
    """A player's chips became chips that are owed to nobody in particular."""

    player: Player
    place: Annotated[str, "table or drawer where they are booked"]
    amount: Amount
    player_chips: PlayerChips
    for_day: Annotated[str | None, "gaming day to which this belongs, where it was named"] = None
    direction: Annotated[
        str | None, "`out` where it corrects what the player was paid; absent where it corrects what was paid in"
    ] = None
    reason: Reason


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
