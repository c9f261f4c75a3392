"""Tables: terms, seats, sessions, and buy-ins, exchanges and tips between hands."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from casino.audit.events.cage import Counterfeits, Evidence
from casino.audit.events.fields import (
    Amount,
    JsonObject,
    Login,
    Pieces,
    Player,
    Reason,
    RevokedTerminals,
    Seat,
    TemplateFrom,
    TemplateNumber,
    TemplateSet,
)
from casino.audit.events.registry import ApprovedEvent, TableEvent, ThresholdEvent, event

CarryoverRule = Annotated[str, "what becomes of a cukassza when the table closes"]
Brought = Annotated[
    int | None,
    "what of the amount was not booked for the player but bought without a name or brought by somebody else, minor "
    "units; absent where there is nothing",
]
FeeUnit = Annotated[str, "`deal` or `hour`"]


@event("table.set_up", chain="table")
class TableSetUp(ApprovedEvent):
    """A table was set up with these terms."""

    game: Annotated[str, "name of the game"]
    options: Annotated[JsonObject, "options of the game"]
    seats: Annotated[int, "number of seats"]
    min_stack: Annotated[int, "least stack of a player who sits down, minor units"]
    max_stack: Annotated[int, "largest stack of a player who sits down, minor units"]
    carryover_on_close: CarryoverRule
    varying: Annotated[
        Mapping[str, Sequence[Any]] | None,
        "options that each deal settles by the number of its seats or by what is announced, each with every value that "
        "it may have in a deal, null for none; absent where there are none",
    ] = None
    client_seeds: Annotated[
        str | None, "whose seeds an electronic hand needs, `optional` or `all`; `optional` if absent"
    ] = None
    time_to_act: Annotated[int | None, "seconds that a seat has for its act; no limit where it is absent"] = None
    seat_fee: Annotated[int | None, "fee for a seat, minor units; 0 if absent"] = None
    seat_fee_per: Annotated[FeeUnit | None, "what the fee is for: every `deal` or `hour`"] = None
    area: Annotated[str | None, "the part of the room in which the table stands; none if absent"] = None


@event("table.terms_changed", chain="table")
class TermsChanged(TableEvent, ApprovedEvent):
    """Other terms were agreed on, which the table's next opening brings; where they are those in force, nothing waits
    any more."""

    before: Annotated[JsonObject, "terms in force: options, seats, min_stack, max_stack, carryover_on_close"]
    after: Annotated[JsonObject, "terms from the next opening on, the same members"]
    varying: Annotated[
        Mapping[str, Sequence[Any]] | None, "options that each deal settles, as in `table.set_up`; none if absent"
    ] = None
    reason: Reason


@event("table.retired", chain="table")
class TableRetired(TableEvent):
    """The table was ended for ever: it is never opened again. Its terminals are revoked with it."""

    terminals: RevokedTerminals = None
    reason: Reason


@event("table.client_seeds_changed", chain="table")
class ClientSeedsChanged(TableEvent):
    """The table's demand for client seeds was changed: `optional`, or `all` for one of every seat that is dealt in."""

    before: Annotated[str, "demand until now"]
    after: Annotated[str, "demand from now on"]
    reason: Reason


@event("table.time_to_act_changed", chain="table")
class TimeToActChanged(TableEvent):
    """The time that a seat has for its act was changed."""

    before: Annotated[int | None, "seconds until now; no limit where it is absent"] = None
    after: Annotated[int | None, "seconds from now on; no limit where it is absent"] = None
    reason: Reason


@event("table.device_play_changed", chain="table")
class DevicePlayChanged(TableEvent):
    """It was changed whether players may act from their own devices in electronic hands. They may not before this
    event."""

    before: Annotated[bool, "whether they might until now"]
    after: Annotated[bool, "whether they may from now on"]
    reason: Reason


@event("table.seat_fee_changed", chain="table")
class SeatFeeChanged(TableEvent, ApprovedEvent):
    """The fee of a seat was changed, from the next deal on."""

    before: Annotated[int, "fee until now, minor units, 0 for none"]
    before_per: FeeUnit
    after: Annotated[int, "fee from the next deal on, minor units, 0 for none"]
    after_per: FeeUnit
    reason: Reason


@event("table.tray_stocked", chain="table")
class TrayStocked(ApprovedEvent):
    """Chips were brought from the vault to the table's tray when it was set up."""

    amount: Amount
    chips: Pieces


@event("table.template_set", chain="table")
class TrayTemplateSet(ApprovedEvent):
    """What the table's tray should hold, from a moment on."""

    template: TemplateNumber
    valid_from: TemplateFrom
    chip_set: TemplateSet
    pieces: Pieces
    reason: Reason


@event("table.opened", chain="table")
class TableOpened(TableEvent):
    """A session began."""

    session: Annotated[int, "number of the session at this table, from 1"]
    opener: Annotated[
        int | None,
        "number of the tray count, confirmed by two, with which it began; absent if the tray was not counted",
    ] = None
    resumed: Annotated[
        Mapping[str, int] | None,
        "minor units kept from the last session, by kind; this session continues with them and with its series",
    ] = None


@event("table.closed", chain="table")
class TableClosed(TableEvent, ApprovedEvent):
    """The session ended. That something is held for the next one, a manager has approved."""

    carryover_on_close: CarryoverRule
    shares: Annotated[Mapping[str, int], "what became of the cukassza: minor units by account"]
    held: Annotated[Mapping[str, int] | None, "minor units held for the next session, by kind"] = None
    broken_off: Annotated[
        Mapping[str, int] | None, "what a session that was broken off came to: minor units by player"
    ] = None
    left_with: Annotated[Mapping[str, int], "what each player left with: minor units by player"]
    closer: Annotated[
        int | None,
        "number of the count of the tray with which it closed, if the newest one was a closer that is still right",
    ] = None


@event("dealer.took_over", chain="table")
class DealerTookOver(TableEvent):
    """A dealer took the table over and deals there from now on. The actor is that dealer."""

    turn: Annotated[int, "number of the dealer's turn at this table, from 1"]
    dealer: Annotated[Login, "login of the dealer from now on"]
    relieved: Annotated[Login | None, "login of the dealer until now; absent where the table had none"] = None
    ended_with: Annotated[str | None, "where the relieved dealer goes: `break` or `done`"] = None


@event("dealer.left", chain="table")
class DealerLeft(TableEvent):
    """A dealer left the table, and no other one took it over."""

    turn: Annotated[int, "number of the turn that ended"]
    dealer: Annotated[Login, "login of the dealer until now"]
    ended_with: Annotated[str, "where that dealer goes: `break` or `done`"]


@event("table.sat_down", chain="table")
class SatDown(TableEvent):
    """A player sat down with chips from the player's hands."""

    seat: Seat
    player: Player
    amount: Annotated[Amount, "minor units, 0 where the table is played at without money"]
    brought: Brought = None
    ticket: Annotated[int | None, "number of the player on the waiting list; absent if the player did not wait"] = None


@event("table.chips_added", chain="table")
class ChipsAdded(TableEvent):
    """A player added chips to the stack."""

    seat: Seat
    player: Player
    amount: Amount
    brought: Brought = None


@event("table.left", chain="table")
class SeatLeft(TableEvent):
    """A player left with all of the stack."""

    seat: Seat
    player: Player
    amount: Amount


@event("table.seat_changed", chain="table")
class SeatChanged(TableEvent):
    """A player took another seat of the table, with the same stack."""

    seat: Annotated[int, "number of the seat until now"]
    to_seat: Annotated[int, "number of the seat from now on"]
    player: Player


@event("table.moved_in", chain="table")
class MovedIn(TableEvent):
    """A player came from another table with all of the stack. It is recorded together with `table.moved_out` there,
    which has the posting."""

    seat: Seat
    player: Player
    amount: Amount
    from_table: Annotated[str, "code of the table that the player left"]
    ticket: Annotated[int | None, "number of the player on the waiting list; absent if the player did not wait"] = None


@event("table.moved_out", chain="table")
class MovedOut(TableEvent):
    """A player went to another table with all of the stack."""

    seat: Seat
    player: Player
    amount: Amount
    to_table: Annotated[str, "code of the table where the player sits now"]
    to_seat: Annotated[int, "number of the seat there"]


@event("table.buy_in", chain="table")
class TableBuyIn(TableEvent, ApprovedEvent, ThresholdEvent):
    """A player put cash into the drop box and got chips of the tray; large amounts are approved as at the cage."""

    seat: Seat
    player: Player
    amount: Amount
    exchanged: Annotated[Pieces, "chips the player got: number of pieces by denomination in minor units"]
    ticket: Annotated[int | None, "number of the player on the waiting list; absent if the player did not wait"] = None


@event("table.counterfeits_found", chain="table")
class TableCounterfeitsFound(TableEvent, ApprovedEvent):
    """Counterfeit chips were taken out of the tray, and kept as evidence."""

    counterfeits: Counterfeits
    evidence: Evidence
    reason: Reason


@event("table.exchange", chain="table")
class TableExchange(TableEvent):
    """Chips of the public were changed at the tray into others of the same worth."""

    amount: Amount
    given: Annotated[Pieces, "chips the public gave: number of pieces by denomination in minor units"]
    change: Annotated[Pieces, "chips the public got: number of pieces by denomination in minor units"]


@event("table.tip", chain="table")
class TableTip(TableEvent):
    """A player put chips into the tip box."""

    seat: Seat
    player: Player
    amount: Amount
    chips: Pieces
