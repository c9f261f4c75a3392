"""Parts of answers that several desks share. Amounts are minor units of the house's currency."""

from typing import Any

from rest_framework import serializers

from casino.api.tables import ReceiptOut
from casino.cage.models import DrawerState, HandoverKind, HandoverState
from casino.transfers.models import (
    BoxKind,
    BoxState,
    Kind,
    Purpose,
    Reservation,
    TransferState,
    TrayCountState,
    TrayException,
)


def minor_units(what: str, **kwargs: Any) -> serializers.IntegerField:
    """A field of minor units."""
    return serializers.IntegerField(help_text=f"{what}, in minor units.", **kwargs)


def number_of(of: str, **kwargs: Any) -> serializers.IntegerField:
    """A field that says how many there are."""
    return serializers.IntegerField(help_text=f"Number of {of}.", **kwargs)


def chip_pieces(what: str, **kwargs: Any) -> serializers.DictField:
    """A field of chips by denomination."""
    text = f"{what}: number of pieces by denomination in minor units."
    return serializers.DictField(child=serializers.IntegerField(), help_text=text, **kwargs)


def withdrawn_pieces(what: str, **kwargs: Any) -> serializers.DictField:
    """A field of chips of withdrawn sets by set and denomination."""
    text = f"{what}: number of pieces by code of the chip set and denomination in minor units."
    child = serializers.DictField(child=serializers.IntegerField())
    return serializers.DictField(child=child, help_text=text, **kwargs)


def login_of(who: str, **kwargs: Any) -> serializers.CharField:
    """A field that names a member of staff."""
    return serializers.CharField(help_text=f"Login of the person who {who}.", **kwargs)


class ThresholdPart(serializers.Serializer[Any]):
    """What the person of a transaction has paid in, or was paid, with it."""

    direction = serializers.CharField(help_text="`in`: paid in; `out`: was paid.")
    sums = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Minor units by window: `gaming_day`, and the control points `linked_hours`, `linked_days`, "
        "`linked_long_days`.",
    )


def threshold_reached() -> ThresholdPart:
    """A field for the sums of a transaction with which the house's threshold is reached."""
    return ThresholdPart(
        required=False,
        help_text="Where the amount, or what the same person has paid, is the house's threshold or more; absent below.",
    )


class LinkedSums(serializers.Serializer[Any]):
    """What an unknown person has paid and was paid in a gaming day, as far as the log of transactions knows."""

    day = serializers.CharField(allow_null=True, help_text="The gaming day; null where the house had none.")
    paid_in = minor_units("What was paid in")
    paid_out = minor_units("What was paid out")


def approval_used() -> serializers.IntegerField:
    """A field for the approval that a write has used, in the events of those that may need one."""
    return serializers.IntegerField(
        required=False, help_text="Number of the approval that was used; absent where none was needed."
    )


def shift_reopened() -> serializers.IntegerField:
    """A field for the shift that a shift goes on with."""
    return serializers.IntegerField(
        allow_null=True, help_text="The shift that was closed by mistake and goes on in this one; null for all others."
    )


class Rack(serializers.Serializer[Any]):
    """Chips in one place."""

    value = minor_units("Worth of the chips")
    pieces = chip_pieces("The chips")


class Sides(serializers.Serializer[Any]):
    """Debits and credits of one commodity."""

    debit = serializers.IntegerField()
    credit = serializers.IntegerField()


class TrialRow(serializers.Serializer[Any]):
    """Debits and credits of one kind of account in one commodity."""

    commodity = serializers.CharField()
    number = serializers.CharField(help_text="Number of the account in the chart of accounts.")
    kind = serializers.CharField(help_text="Name of the account in the chart of accounts.")
    account_count = number_of("accounts of this kind")
    debit = serializers.IntegerField()
    credit = serializers.IntegerField()


class TrialBalance(serializers.Serializer[Any]):
    """Debits against credits, by kind of account and commodity; chips count in pieces."""

    rows = TrialRow(many=True, help_text="By commodity and number of the account.")
    totals = serializers.DictField(child=Sides(), help_text="By commodity.")
    balanced = serializers.BooleanField(help_text="Whether debits equal credits in every commodity.")


class SnapshotFinding(serializers.Serializer[Any]):
    """One thing in which a snapshot differs from the entries."""

    subject = serializers.CharField(help_text="What differs: an account, or the snapshot itself.")
    detail = serializers.CharField(help_text="How it differs.")


class CountPart(serializers.Serializer[Any]):
    """A count of a drawer."""

    cash = minor_units("Cash")
    pieces = chip_pieces("Chips of the house")
    foreign = minor_units("Face value of chips of other houses")
    withdrawn = withdrawn_pieces("Chips of withdrawn sets; absent where there are none", required=False)


class ShiftCount(serializers.Serializer[Any]):
    """A shift at a drawer: its float, and at its end what was expected and counted. A variance is counted less
    expected. Values that need a count are null until the drawer is closed, or was counted twice: a drawer is counted
    without knowing them."""

    drawer = serializers.CharField()
    shift = serializers.IntegerField(help_text="Number of the shift at its drawer, from 1.")
    float_cash = minor_units("Cash of the float")
    float_chips = minor_units("Worth of the chips of the float")
    expected_cash = minor_units("Cash expected", allow_null=True)
    counted_cash = minor_units("Cash counted", allow_null=True)
    cash_variance = minor_units("Cash counted less cash expected", allow_null=True)
    expected_chips = minor_units("Worth of the chips expected", allow_null=True)
    counted_chips = minor_units("Worth of the chips counted", allow_null=True)
    chip_variance = minor_units("Worth of the chips counted less that of those expected", allow_null=True)
    float_pieces = chip_pieces("Chips of the float")
    expected_pieces = chip_pieces("Chips expected", allow_null=True)
    counted_pieces = chip_pieces("Chips counted", allow_null=True)
    pieces_variance = chip_pieces("Chips counted less chips expected, where they differ", allow_null=True)
    expected_foreign = minor_units("Chips of other houses expected", allow_null=True)
    counted_foreign = minor_units("Chips of other houses counted", allow_null=True)
    foreign_variance = minor_units("Chips of other houses counted less those expected", allow_null=True)
    expected_withdrawn = withdrawn_pieces("Chips of withdrawn sets expected", allow_null=True)
    counted_withdrawn = withdrawn_pieces("Chips of withdrawn sets counted", allow_null=True)
    withdrawn_variance = minor_units(
        "Worth of the chips of withdrawn sets counted less that of those expected", allow_null=True
    )
    first_count = CountPart(allow_null=True, help_text="The first count.")
    counted_by = login_of("counted first", allow_null=True)
    recount = CountPart(allow_null=True, help_text="The second count; null where the first one agreed.")
    recounted_by = login_of("counted again", allow_null=True)
    handed_to = serializers.CharField(
        allow_null=True, help_text="The drawer that it was handed over to; null where it went back to the vault."
    )
    closed = serializers.BooleanField(help_text="Whether the drawer was counted and closed.")


class ShiftPart(ShiftCount):
    """A shift with who opened and closed the drawer, and when."""

    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    opened_by = login_of("opened the drawer")
    closed_by = login_of("closed it, or signed off the difference", allow_null=True)
    state = serializers.ChoiceField(choices=DrawerState.choices)
    reason = serializers.CharField(allow_blank=True, help_text="Why a difference was signed off; empty if none was.")
    reopens = shift_reopened()


class Requested(serializers.Serializer[Any]):
    """The chips that were requested: their worth, or the pieces, or both; or what brings the tray to a template."""

    amount = minor_units("Worth of the chips", required=False)
    pieces = chip_pieces("The chips", required=False)
    template = serializers.IntegerField(
        required=False, help_text="Number of the table's template in force then; its pieces are worked out when sent."
    )


class TransferPart(serializers.Serializer[Any]):
    """A fill or credit. While the chips are in transit, people who may have to count them do not see what was requested
    and sent: those fields are then missing."""

    kind = serializers.ChoiceField(choices=Kind.choices, help_text="Which way the chips go.")
    serial = serializers.IntegerField(
        help_text="Its number among the house's transfers of its kind, from 1 without gaps, as its address has it: "
        "`fills/SERIAL` or `credits/SERIAL` at the table or the drawer."
    )
    table = serializers.CharField()
    drawer = serializers.CharField()
    state = serializers.ChoiceField(choices=TransferState.choices)
    reservation = serializers.ChoiceField(
        choices=Reservation.choices,
        allow_blank=True,
        help_text="Whether the pieces that a table asked for are set aside in the drawer, or were; empty if not.",
    )
    requested = Requested(help_text="What was requested.", required=False)
    sent = chip_pieces("Chips that were sent; null before that", allow_null=True, required=False)
    value = minor_units("Worth of what was sent; null before that", allow_null=True, required=False)
    counted = chip_pieces("Chips that were counted on arrival; null before that", allow_null=True)
    differing_counts = number_of("counts on arrival that differed from what was sent")
    opened_by = login_of("began the transfer")
    sent_by = login_of("sent the chips", allow_null=True)
    carried_by = login_of("carried the chips", allow_null=True)
    declined_by = login_of("declined the chips", allow_null=True)
    ended_by = login_of("received the chips or cancelled the transfer", allow_null=True)
    reason = serializers.CharField(
        allow_blank=True,
        help_text="Why it was declined or cancelled, or accepted with a variance; empty otherwise.",
    )


class BoxPart(serializers.Serializer[Any]):
    """A box of a table, from the moment it was put there. What was counted is present once two counts agree or a
    supervisor has decided, what was expected once a third person has received it."""

    box = serializers.IntegerField()
    table = serializers.CharField()
    kind = serializers.ChoiceField(choices=BoxKind.choices, help_text="What falls into it.")
    number = serializers.CharField(help_text="The number painted on the box.")
    state = serializers.ChoiceField(choices=BoxState.choices)
    seal = serializers.CharField(
        allow_blank=True, help_text="Number of the seal it was taken off with; empty before that."
    )
    seal_read = serializers.CharField(
        allow_blank=True, help_text="Number of the seal as it was read in the count room; empty before that."
    )
    for_day = serializers.CharField(
        allow_null=True,
        help_text="The gaming day to which its contents belong, however late they are counted; null before it is taken "
        "off, and without gaming days.",
    )
    put_by = login_of("put it on the table")
    taken_by = login_of("took it off the table", allow_null=True)
    brought_by = login_of("took it into the count room", allow_null=True)
    differing_rounds = number_of("pairs of counts that have differed")
    decided_by = login_of("decided after counts that differed", allow_null=True)
    observer = login_of("watched the decision for surveillance", allow_null=True)
    received_by = login_of("received its contents", allow_null=True)
    reason = serializers.CharField(allow_blank=True, help_text="Why the supervisor decided so; empty otherwise.")
    cash = minor_units("Cash counted", required=False)
    pieces = chip_pieces("Chips counted", required=False)
    value = minor_units("Worth of the chips counted", required=False)
    expected_cash = minor_units("Cash that the books had in the box", required=False)
    expected_pieces = chip_pieces("Chips that the books had in the box", required=False)
    cash_variance = minor_units("Cash counted less cash expected", required=False)
    chip_variance = minor_units("Worth of the chips counted less that of those expected", required=False)


class TrayCountPart(serializers.Serializer[Any]):
    """A count of a table's tray. What was counted and expected is present once the witness has counted the same."""

    tray_count = serializers.IntegerField(
        help_text="Its number among the house's counts of trays, from 1 without gaps."
    )
    table = serializers.CharField()
    purpose = serializers.ChoiceField(choices=Purpose.choices, help_text="When the tray is counted.")
    state = serializers.ChoiceField(choices=TrayCountState.choices)
    counted_by = login_of("counted first")
    witnessed_by = login_of("counted as the witness", allow_null=True)
    exception = serializers.ChoiceField(
        choices=TrayException.choices, allow_blank=True, help_text="What is wrong with an opener; empty otherwise."
    )
    counted = chip_pieces("Chips counted", required=False)
    expected = chip_pieces("Chips that the books had in the tray", required=False)
    variance = minor_units("Worth of the chips counted less that of those expected", required=False)


class HandoverPart(serializers.Serializer[Any]):
    """Cash and chips between the vault and a drawer, or all of a drawer that is handed over to another one. What was
    offered is absent where it is to be counted without knowing."""

    handover = serializers.IntegerField(help_text="Number of the handover at its drawer, from 1.")
    drawer = serializers.CharField()
    kind = serializers.ChoiceField(choices=HandoverKind.choices, help_text="What it is for, and which way it goes.")
    state = serializers.ChoiceField(choices=HandoverState.choices)
    offered_by = login_of("counted it out")
    signed_by = login_of("signed for a large one, as a manager", allow_null=True)
    ended_by = login_of("took or withdrew it", allow_null=True)
    cash = minor_units("Cash", required=False)
    pieces = chip_pieces("The chips", required=False)
    to_drawer = serializers.CharField(
        required=False, help_text="The drawer that a whole one is handed over to; absent otherwise."
    )
    foreign = minor_units("Chips of other houses, of a drawer that is handed over", required=False)
    withdrawn = withdrawn_pieces("Chips of withdrawn sets, of a drawer that is handed over", required=False)


class DrawerOut(serializers.Serializer[Any]):
    """A drawer as everybody at it sees it. What it holds is not shown: it is counted without knowing."""

    drawer = serializers.CharField()
    version = serializers.IntegerField()
    state = serializers.ChoiceField(choices=DrawerState.choices)
    shift = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField()
    skim_due = serializers.BooleanField(help_text="Whether so much cash is in the drawer that it should be skimmed.")
    handover = HandoverPart(
        allow_null=True, help_text="What is offered to the drawer or by it, and not taken yet; null if nothing is."
    )


class EventPart(serializers.Serializer[Any]):
    """An event; each kind has additional fields."""

    kind = serializers.CharField(help_text="Kind of the event, such as `drawer.opened`.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """The fields, and where an approval may be named, those who had approved before its last one did."""
        fields = super().get_fields()
        if "approval" in fields:
            fields["also_approved"] = serializers.ListField(
                child=serializers.CharField(), required=False,
                help_text="Logins of those who had approved before, where it took several people; absent otherwise.",
            )  # fmt: skip
        return fields


class DrawerChanged(DrawerOut):
    """A drawer after a write, which adds the event that it has recorded as `last_event`, and the event's receipt."""

    audit = ReceiptOut()
