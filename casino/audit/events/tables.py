"""Tables: terms, seats, sittings, and what is bought, changed and tipped there between hands.

Every event of a table in use carries `table_version`, the version that the table has afterwards."""

from typing import Any

from casino.audit.events.registry import Told, event, told


@event("table.set_up", chain="table")
def set_up(
    *,
    game: str,
    options: dict[str, Any],
    seats: int,
    min_stack: int,
    max_stack: int,
    carryover_on_close: str,
    client_seeds: str | None = None,
    time_to_act: int | None = None,
    seat_fee: int | None = None,
    seat_fee_per: str | None = None,
) -> Told:
    """A table was set up with these terms. `client_seeds`: whose seeds an electronic hand needs (`optional` or `all`;
    where it is missing, `optional`). `time_to_act`: seconds that a seat has for its act; where it is missing, there is
    no limit. `seat_fee`: what a seat costs for every `deal` or `hour` (`seat_fee_per`), minor units; where it is
    missing, nothing."""
    return told(
        game=game,
        options=options,
        seats=seats,
        min_stack=min_stack,
        max_stack=max_stack,
        carryover_on_close=carryover_on_close,
        client_seeds=client_seeds,
        time_to_act=time_to_act,
        seat_fee=seat_fee or None,
        seat_fee_per=seat_fee_per if seat_fee else None,
    )


@event("table.client_seeds_changed", chain="table")
def client_seeds_changed(*, before: str, after: str, reason: str) -> Told:
    """From now on an electronic hand needs no client seeds (`optional`), or one of every seat that is dealt in
    (`all`)."""
    return told(before=before, after=after, reason=reason)


@event("table.time_to_act_changed", chain="table")
def time_to_act_changed(*, before: int | None = None, after: int | None = None, reason: str) -> Told:
    """From now on a seat has so many seconds for its act (`after`); where a number is missing, there is no limit."""
    return told(before=before, after=after, reason=reason)


@event("table.seat_fee_changed", chain="table")
def seat_fee_changed(*, before: int, before_per: str, after: int, after_per: str, reason: str) -> Told:
    """From the next deal on a seat costs `after` minor units, 0 for nothing, for every `deal` or `hour`."""
    return told(before=before, before_per=before_per, after=after, after_per=after_per, reason=reason)


@event("table.tray_stocked", chain="table")
def tray_stocked(*, amount: int, chips: dict[str, int]) -> Told:
    """Chips were brought from the vault to the table's tray when it was set up."""
    return told(amount=amount, chips=chips)


@event("table.opened", chain="table")
def opened(*, sitting: int, resumed: dict[str, int] | None = None) -> Told:
    """A sitting began; `sitting` is its number at this table. `resumed`: what the last one had held, by kind; this one
    goes on with it, and with its series."""
    return told(sitting=sitting, resumed=resumed)


@event("table.closed", chain="table")
def closed(
    *,
    carryover_on_close: str,
    shares: dict[str, int],
    held: dict[str, int] | None = None,
    broken_off: dict[str, int] | None = None,
    left_with: dict[str, int],
) -> Told:
    """The sitting ended: what became of the cukassza by account (`shares`) or was `held` for the next sitting, what a
    session that was broken off came to by player (`broken_off`), and what each player left with."""
    return told(
        carryover_on_close=carryover_on_close, shares=shares, held=held, broken_off=broken_off, left_with=left_with
    )


@event("table.sat_down", chain="table")
def sat_down(*, seat: int, player: str, amount: int) -> Told:
    """A player sat down with chips from the player's hands; with none where the table is played at without money."""
    return told(seat=seat, player=player, amount=amount)


@event("table.chips_added", chain="table")
def chips_added(*, seat: int, player: str, amount: int) -> Told:
    """A player added chips to his stack."""
    return told(seat=seat, player=player, amount=amount)


@event("table.left", chain="table")
def left(*, seat: int, player: str, amount: int) -> Told:
    """A player left with all of the stack."""
    return told(seat=seat, player=player, amount=amount)


@event("table.buy_in", chain="table")
def bought_in(*, seat: int, player: str, amount: int, exchanged: dict[str, int]) -> Told:
    """A player put cash into the drop box and got chips of the tray."""
    return told(seat=seat, player=player, amount=amount, exchanged=exchanged)


@event("table.exchange", chain="table")
def exchanged(*, amount: int, given: dict[str, int], change: dict[str, int]) -> Told:
    """Chips of the public were changed at the tray into others of the same worth."""
    return told(amount=amount, given=given, change=change)


@event("table.tip", chain="table")
def tipped(*, seat: int, player: str, amount: int, chips: dict[str, int]) -> Told:
    """A player put chips into the tip box."""
    return told(seat=seat, player=player, amount=amount, chips=chips)
