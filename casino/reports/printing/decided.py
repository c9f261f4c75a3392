"""What the slip of a hand says that was voided or ruled on: what was decided, and both readings, seat by seat.

A player's slip has the row of that player alone; that of the house has every seat. Lines are those of the claim, which
names cards only as everybody has seen them.
"""

from collections.abc import Mapping
from typing import Any

from casino.core import sql
from casino.core.errors import Unprocessable
from casino.hands.models import Hand
from casino.houses.models import House
from casino.reports.catalogue import a16_player_statement as a16
from casino.reports.frame.columns import Row

#: By player, what transactions have moved on accounts of players, minor units.
_RETURNED = """
SELECT split_part(account.code, '/', -1), sum(entry.amount * account.normal_side)::bigint
FROM ledger_entry entry JOIN ledger_account account ON account.id = entry.account_id
WHERE account.book = %s AND entry.transaction_id = ANY(%s) AND split_part(account.code, '/', 1) = ANY(%s) GROUP BY 1
"""
_Data = Mapping[str, Any]


def place_of(hand: Hand, player: str | None) -> int:
    """The place of a player in the order of play, from 0. Raises Unprocessable player_of_hand."""
    found = next((at for at, seat in enumerate(hand.seats) if seat["player"] == player), None)
    if found is None:
        raise Unprocessable(
            f"A receipt of hand {hand.name} is of one of its players.", code="player_of_hand", hand=hand.name
        )
    return found


def data_of(house: House, doc: _Data, player: str | None) -> dict[str, Any]:
    """What stands on the slip of an event that ended a hand, or ruled on it later: of one player, or of the house.
    Raises Unprocessable player_of_hand."""
    data = doc["data"]
    hand = Hand.objects.get(house=house, name=data["hand"])
    seats = range(len(hand.seats)) if player is None else [place_of(hand, player)]
    columns = _COLUMNS[doc["kind"]](hand, data)
    rows: list[Row] = [
        (hand.seats[at]["seat"], f"p{at + 1}", hand.seats[at]["player"], *(one.get(f"p{at + 1}") for one in columns))
        for at in seats
    ]
    read = data.get("readings", {})
    return {
        **data, "game": hand.game, "reason": doc.get("reason"), "by": doc["actor"], "approver": doc.get("approver"),
        "seats": rows, "all_awarded": sum(data.get("awards", {}).values()),
        "mirrors": [] if player else list(data.get("mirrors", {}).items()),
        "lines": [(one["line"], one["text"]) for one in read.get("claimed", {}).get("lines", ())],
        **{f"{name}_refused": _refused(one) for name, one in read.items()},
    }  # fmt: skip


#: Amounts of a column, by actor (`p1`).
_Amounts = Mapping[str, int]


def _voided(hand: Hand, data: _Data) -> list[_Amounts]:
    """What each player got back."""
    moved = [hand.house_id, list(data["mirrors"].values()), [str(number) for number in a16.OWN]]
    returned = dict(sql.rows(_RETURNED, moved))
    return [{f"p{at}": returned[seat["player"]] for at, seat in enumerate(hand.seats, 1) if seat["player"] in returned}]


def _ruled(hand: Hand, data: _Data) -> list[_Amounts]:
    return [data["awards"], *_readings(data)]


def _ruled_later(hand: Hand, data: _Data) -> list[_Amounts]:
    received: dict[str, int] = {}
    given: dict[str, int] = {}
    for one in data["collected"]:
        received[one["winner"]] = received.get(one["winner"], 0) + one["amount"]
        given[one["loser"]] = given.get(one["loser"], 0) + one["amount"]
    refunded = (data["tax_refunded"], data.get("fee_refunded") or {}, data["made_good"])
    return [*refunded, received, given, *_readings(data)]


_COLUMNS = {"hand.voided": _voided, "hand.ruled": _ruled, "hand.ruled_later": _ruled_later}


def _readings(data: _Data) -> list[_Amounts]:
    """What each seat had won or lost by the record, and as claimed; nothing where a reading comes to no result."""
    return [_net(data["readings"].get(name)) for name in ("recorded", "claimed")]


def _net(reading: _Data | None) -> _Amounts:
    result = None if reading is None else reading["result"]
    return {} if result is None else {f"p{at}": amount for at, amount in enumerate(result["net"], 1)}


def _refused(reading: _Data) -> str | None:
    """The line at which a reading ends, and the code of why."""
    refused = reading["refused"]
    return None if refused is None else f"{refused['line']}: {refused['code']}"
