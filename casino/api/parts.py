"""Parts of answers that several desks share. Amounts are minor units of the house's currency."""

from typing import Any

from rest_framework import serializers

from casino.api.tables import ReceiptOut
from casino.cage.models import DrawerState, HandoverKind, HandoverState
from casino.transfers.models import CountState, Kind, TransferState


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


def login_of(who: str, **kwargs: Any) -> serializers.CharField:
    """A field that names a member of staff."""
    return serializers.CharField(help_text=f"Login of the person who {who}.", **kwargs)


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
    first_count = CountPart(allow_null=True, help_text="The first count.")
    counted_by = login_of("counted first", allow_null=True)
    recount = CountPart(allow_null=True, help_text="The second count; null where the first one agreed.")
    recounted_by = login_of("counted again", allow_null=True)
    closed = serializers.BooleanField(help_text="Whether the drawer was counted and closed.")


class Requested(serializers.Serializer[Any]):
    """The chips that were requested: their worth, or the pieces, or both."""

    amount = minor_units("Worth of the chips", required=False)
    pieces = chip_pieces("The chips", required=False)


class TransferPart(serializers.Serializer[Any]):
    """A fill or credit as both of its ends see it."""

    transfer = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=Kind.choices, help_text="Which way the chips go.")
    table = serializers.CharField()
    drawer = serializers.CharField()
    state = serializers.ChoiceField(choices=TransferState.choices)
    requested = Requested(help_text="What was requested.")
    sent = chip_pieces("Chips that were sent; null before that", allow_null=True)
    value = minor_units("Worth of what was sent; null before that", allow_null=True)
    counted = chip_pieces("Chips that were counted on arrival; null before that", allow_null=True)
    opened_by = login_of("began the transfer")
    sent_by = login_of("sent the chips", allow_null=True)
    ended_by = login_of("received the chips or cancelled the transfer", allow_null=True)
    reason = serializers.CharField(
        allow_blank=True, help_text="Why it was cancelled, or accepted with a variance; empty otherwise."
    )


class SoftCountPart(serializers.Serializer[Any]):
    """A soft count. Expected values and variances are present only once the count has ended."""

    soft_count = serializers.IntegerField()
    table = serializers.CharField()
    drawer = serializers.CharField()
    state = serializers.ChoiceField(choices=CountState.choices)
    cash = minor_units("Cash counted in the drop box")
    pieces = chip_pieces("Chips counted in the tax box")
    value = minor_units("Worth of the chips counted")
    counted_by = login_of("counted first")
    ended_by = login_of("confirmed or voided the count", allow_null=True)
    expected_cash = minor_units("Cash that the books had in the drop box", required=False)
    expected_pieces = chip_pieces("Chips that the books had in the tax box", required=False)
    cash_variance = minor_units("Cash counted less cash expected", required=False)
    chip_variance = minor_units("Worth of the chips counted less that of those expected", required=False)


class HandoverPart(serializers.Serializer[Any]):
    """Cash and chips between the vault and a drawer. What was offered is absent where it is to be counted without
    knowing."""

    handover = serializers.IntegerField(help_text="Number of the handover at its drawer, from 1.")
    drawer = serializers.CharField()
    kind = serializers.ChoiceField(choices=HandoverKind.choices, help_text="What it is for, and which way it goes.")
    state = serializers.ChoiceField(choices=HandoverState.choices)
    offered_by = login_of("counted it out")
    signed_by = login_of("signed for a large one, as a manager", allow_null=True)
    ended_by = login_of("took or withdrew it", allow_null=True)
    cash = minor_units("Cash", required=False)
    pieces = chip_pieces("The chips", required=False)


class DrawerOut(serializers.Serializer[Any]):
    """A drawer as everybody at it sees it. What it holds is not shown: it is counted without knowing."""

    drawer = serializers.CharField()
    version = serializers.IntegerField()
    state = serializers.ChoiceField(choices=DrawerState.choices)
    shift = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField()
    skim_due = serializers.BooleanField(help_text="Whether so much cash is in the drawer that it should be skimmed.")
    handover = HandoverPart(allow_null=True, help_text="What is offered and not taken yet; null if nothing is.")


class EventPart(serializers.Serializer[Any]):
    """An event; each kind has additional fields."""

    kind = serializers.CharField(help_text="Kind of the event, such as `drawer.opened`.")


class DrawerChanged(DrawerOut):
    """A drawer after a write, which adds the event that it has recorded as `last_event`, and the event's receipt."""

    audit = ReceiptOut()
