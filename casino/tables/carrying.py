"""The carryover at the end of a session: a cukassza, the bank of the seats, or a session that is paid at its end; and
the carryover from one session to the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, posting
from casino.chips.changing import Desk
from casino.core.errors import Conflict
from casino.tables import selectors
from casino.tables.models import CarryoverOnClose, Seating, Table


@dataclass(frozen=True, slots=True)
class SessionFound:
    """The state of the game's session after the last settled hand of a table. `under_way`: it is not at its end and is
    played for as a whole; `owed`: what every player is to be paid, in minor units, if it ends now; `enough`: whether
    enough are seated to play on."""

    under_way: bool = False
    owed: Mapping[str, int] = field(default_factory=dict)
    enough: bool = True


#: Asks the game, which tables do not know.
Session = Callable[[Table, Sequence[Seating]], SessionFound]


@dataclass(frozen=True, slots=True)
class Settled:
    """How the carryover was settled: the events of the books, the shares by account code, and what is held."""

    events: Sequence[Posting] = ()
    shares: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)


def settle(table: Table, seatings: list[Seating], session: SessionFound) -> Settled:
    """Settle the carryover by the table's rule, and a session that ends here. Raises Conflict carryover_open,
    carry_without_players and no_exact_change."""
    waiting = selectors.carried(table)
    rule = table.carryover_on_close
    if rule == CarryoverOnClose.PLAY_ON and session.enough and (waiting.whole or session.under_way):
        raise Conflict(
            f"At table {table.code} {table.house.money(waiting.whole)} is carried over, or a session is under way. "
            "Enough players are seated, so it must be played to its end.",
            code="carryover_open",
            cukassza=waiting.cukassza,
            bank=waiting.bank,
            session_under_way=session.under_way,
        )
    paid = _broken_off(table, session.owed)
    if rule == CarryoverOnClose.HOLD and waiting.whole:
        held = {"cukassza": waiting.cukassza, "bank": waiting.bank}
        chips, change = _desk(table).take_in(waiting.whole)
        event = posting("carry_held", {"table": table.code}, chips=chips, change=change, **held)
        return Settled([*paid, event], {}, held)
    shares = _share_carried(table, seatings, waiting.whole)
    return Settled([*paid, *_shared_out(table, shares, waiting)], shares)


def resumed(table: Table, held: Mapping[str, int]) -> list[Posting]:
    """Return what the last session has held. Raises InsufficientFunds if the tray has too little, Conflict
    no_exact_change."""
    chips, change = _desk(table).pay_out(sum(held.values()))
    return [posting("carry_resumed", {"table": table.code}, chips=chips, change=change, **held)]


def require_settled(session: SessionFound, player: str) -> None:
    """Refuse to let a player leave during a session that is paid at its end. Raises Conflict session_under_way."""
    if session.owed.get(player):
        raise Conflict(
            f"A session that is paid at its end is under way, so {player} cannot leave yet. Play on, or close "
            "the table, which settles it.",
            code="session_under_way",
            owed=dict(session.owed),
        )


def _broken_off(table: Table, owed: Mapping[str, int]) -> list[Posting]:
    """Payments from seat to seat that settle a session: the first loser pays the first winner as far as it goes, and so
    on, in the order of their names."""
    losers = {player: -amount for player, amount in sorted(owed.items()) if amount < 0}
    winners = {player: amount for player, amount in sorted(owed.items()) if amount > 0}
    events = []
    for loser, due in losers.items():
        for winner in winners:
            paid = min(due, winners[winner])
            due, winners[winner] = due - paid, winners[winner] - paid
            if paid:
                places = {"table": table.code, "loser": loser, "winner": winner}
                events.append(posting("points_paid", places, amount=paid))
    return events


def _desk(table: Table) -> Desk:
    return Desk(table.house, table.account(Account.TRAY), table.code)


def _share_carried(table: Table, seatings: list[Seating], amount: int) -> dict[str, int]:
    """Who gets what of an unwon cukassza, and of the bank of the seats, when the table closes, by account code; both
    are one `amount` to be shared. Where it is neither the house's nor the last dealer's, the players share it."""
    if not amount:
        return {}
    if table.carryover_on_close == CarryoverOnClose.HOUSE:
        return {table.account(Account.HOUSE_TAX): amount}
    if not seatings:
        raise Conflict(
            f"There is a cukassza of {table.house.money(amount)}, and no player is seated to take it. Close the table "
            "before the last player leaves.",
            code="carry_without_players",
            cukassza=amount,
        )
    # `button` is the next dealer, so the seat that comes last in play order before it dealt last.
    ordered = in_play_order(seatings, after=table.button or 0)
    if table.carryover_on_close == CarryoverOnClose.LAST_DEALER:
        before_next = [seating for seating in ordered if seating.seat != table.button]
        last_dealer = before_next[-1] if before_next else ordered[-1]
        return {table.stack_account(last_dealer.player.ref): amount}
    share, odd = divmod(amount, len(ordered))
    shares = {table.stack_account(seating.player.ref): share for seating in ordered}
    shares[table.stack_account(ordered[0].player.ref)] += odd
    return {account: value for account, value in shares.items() if value}


def _shared_out(table: Table, shares: Mapping[str, int], waiting: selectors.Carried) -> list[Posting]:
    """The shares of `_share_carried` as events of the books, paid out of the cukassza as far as it reaches and then out
    of the bank; the house's share falls into the tax box."""
    events: list[Posting] = []
    desk = Desk(table.house, table.account(Account.TRAY), table.code)
    left = {"cukassza": waiting.cukassza, "bank": waiting.bank}
    for account, share in shares.items():
        due = share
        for source, lying in left.items():
            amount = min(lying, due)
            due -= amount
            left[source] = lying - amount
            if amount:
                events += _share_of(source, account, amount, desk, table)
    return events


def _share_of(source: str, account: str, amount: int, desk: Desk, table: Table) -> list[Posting]:
    """One share out of one of the two as events of the books."""
    if account == table.account(Account.HOUSE_TAX):
        box, before = desk.for_the_box(amount)
        return [*before, posting(f"{source}_to_house", {"table": table.code}, tax=amount, chips=box)]
    player = account.rsplit("/", 1)[-1]
    return [posting(f"{source}_shared", {"table": table.code, "player": player}, amount=amount)]


def in_play_order(seatings: list[Seating], *, after: int) -> list[Seating]:
    """Seatings in play order, beginning with the first seat after seat number `after`."""
    return sorted(seatings, key=lambda seating: (seating.seat <= after, seating.seat))
