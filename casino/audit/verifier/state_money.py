"""What the house keeps for players besides chips: deposits, payouts that are held, found chips; and buy-ins by card or
transfer."""

from datetime import datetime, timedelta

from .state_columns import HOUSE, ID, Model, proved
from .state_people import PERSON, PLAYER, STAFF
from .state_rows import TOLERANCE, Find, Handler, Near, Row, Rows
from .state_tables import TABLE

PAYOUT, FOUND, NONCASH = "cage.HeldPayout", "cage.FoundChips", "cage.NonCashBuyIn"
_HELD = ("number", "player", "drawer", "amount", "cause")
_ENDED = "cage.payout_released, payout.paid_by_bank"
#: Ends what is held for a minor, and holds what is given back.
_MINOR = "minor.settled"
_NOTED = ("number", "drawer", "finder", "found_where", "amount", "pieces", "noted_by")
_LEFT = "cage.chips_claimed, unclaimed.remitted, unclaimed.kept"
#: In which state found chips are after what took them out of the register.
_STATES = {"cage.chips_claimed": "claimed", "unclaimed.remitted": "remitted", "unclaimed.kept": "kept"}
_SOLD = ("number", "drawer", "player", "means", "reference", "amount", "sold_by", "sold_at")
MODELS = (
    Model(
        NONCASH,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(_SOLD, proved("cage.noncash_buy_in")),
            **dict.fromkeys(("statement", "settled_by", "ended_at"), proved("clearing.settled")),
            "state": proved("cage.noncash_buy_in, clearing.settled"),
        },
    ),
    Model(
        FOUND,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys((*_NOTED, "noted_at"), proved("cage.chips_found")),
            "player": proved("cage.chips_claimed"),
            "note": proved("unclaimed.remitted"),
            **dict.fromkeys(("ended_by", "ended_at"), proved(_LEFT)),
            "state": proved(f"cage.chips_found, {_LEFT}"),
        },
    ),
    Model(
        PAYOUT,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys((*_HELD, "held_by", "held_at"), proved(f"cage.payout_held, {_MINOR}")),
            **dict.fromkeys(("paid_by", "paid_at_drawer", "note", "ended_at"), proved(f"{_ENDED}, {_MINOR}")),
            "state": proved(f"cage.payout_held, {_ENDED}, {_MINOR}"),
        },
    ),
)


class Money:
    """Rows of held payouts, found chips, and buy-ins by card or transfer. Of deposits: whose they are, and that every
    event has what lies there after it."""

    def __init__(self, rows: Rows, find: Find) -> None:
        self._rows, self._find = rows, find
        self._deposits: dict[str, int] = {}
        #: When chips were found, by their number.
        self._known_at: dict[str, str] = {}
        self.handlers: dict[str, Handler] = {
            "cage.deposit_taken": self._taken,
            "cage.deposit_drawn": lambda doc: self._moved(doc, -doc["data"]["amount"]),
            "cage.deposit_returned": lambda doc: self._moved(doc, -doc["data"]["amount"]),
            "cage.payout_held": lambda doc: self._held(doc, doc["chain"].partition("/")[2], doc["data"]["amount"]),
            "cage.payout_released": self._released,
            "payout.paid_by_bank": self._released,
            _MINOR: self._minor_settled,
            "cage.chips_found": self._found,
            "cage.noncash_buy_in": self._bought,
            "clearing.settled": self._settled,
            "cage.table_fee": self._fee,
            **dict.fromkeys(_STATES, self._left),
        }

    def _taken(self, doc: Row) -> None:
        self._moved(doc, doc["data"]["amount"])
        player = doc["data"]["player"]
        if not any(row["player"] == player for row in self._rows.of(PERSON).values()):
            self._find("state_event_differs", _place(doc), f"nobody has recorded who {player} is")

    def _fee(self, doc: Row) -> None:
        """What was posted of a table fee is what the player paid, for a table of the house."""
        data, drawer = doc["data"], doc["chain"].partition("/")[2]
        self._rows.get(PLAYER, data["player"])
        self._rows.get(TABLE, data["table"])
        legs = [leg for posting in doc.get("postings", ()) for leg in posting.get("legs", ())]
        posted = {code: amount for code, _, amount in legs}
        paid = {f"1020/{drawer}": data["amount"], f"4020/{data['table']}": -data["amount"]}
        if len(legs) != len(paid) or posted != paid:
            self._find("state_event_differs", _place(doc), f"a table fee was posted as {posted}, paid was {paid}")

    def _moved(self, doc: Row, by: int) -> None:
        player, known = doc["data"]["player"], self._deposits
        self._rows.get(PLAYER, player)
        known[player] = known.get(player, 0) + by
        if known[player] != doc["data"]["deposit"] or known[player] < 0:
            problem = f"the deposit of {player} is {known[player]}, the event has {doc['data']['deposit']}"
            self._find("state_event_differs", _place(doc), problem)

    # --- Held payouts ------------------------------------------------------------------------------------------------

    def deposit(self, player: str) -> int:
        """What lies in a player's deposit, in minor units."""
        return self._deposits.get(player, 0)

    def held(self, player: str) -> dict[int, int]:
        """What is held for a player, in minor units by the number of the payout."""
        rows = self._rows.of(PAYOUT).values()
        return {row["number"]: row["amount"] for row in rows if row["player"] == player and row["state"] == "held"}

    def _minor_settled(self, doc: Row) -> None:
        data = doc["data"]
        for number in data["ended"]:
            self._rows.change(
                PAYOUT, str(number), state="settled", paid_by=doc["actor"], ended_at=Near(doc["at"]),
                paid_at_drawer=None, note="",
            )  # fmt: skip
        self._deposits[data["player"]] = 0
        if "payout" in data:
            self._held(doc, None, data["refund"])
            if data["payout"]["cause"] != "minor":
                self._find("state_event_differs", _place(doc), "what is given back is held for another cause")

    def _held(self, doc: Row, drawer: str | None, amount: int) -> None:
        data, last = doc["data"]["payout"], len(self._rows.of(PAYOUT))
        key, number = str(data["payout"]), data["payout"]
        if number != last + 1:
            self._find("serial_gap", f"{PAYOUT} {key}", f"it comes after {last}")
        self._rows.add(
            PAYOUT, key, number=number, player=doc["data"]["player"], drawer=drawer, amount=amount,
            cause=data["cause"], state="held", held_by=doc["actor"], held_at=Near(doc["at"]), paid_by=None,
            paid_at_drawer=None, note="", ended_at=None,
        )  # fmt: skip
        self._require_same(key, doc, amount)

    def _released(self, doc: Row) -> None:
        key, by_bank = str(doc["data"]["payout"]["payout"]), doc["kind"] == "payout.paid_by_bank"
        row = self._rows.get(PAYOUT, key)
        if row["state"] != "held":
            self._find("state_event_differs", f"{PAYOUT} {key}, state", "it is paid twice")
        self._rows.change(
            PAYOUT, key, state="released", paid_by=doc["actor"], ended_at=Near(doc["at"]),
            paid_at_drawer=None if by_bank else doc["chain"].partition("/")[2],
            note=doc["data"]["payout"]["note"] if by_bank else "",
        )  # fmt: skip
        self._require_same(key, doc, doc["data"]["amount"])

    def _require_same(self, key: str, doc: Row, amount: int) -> None:
        """What an event repeats of a payout is what it is then."""
        data, row = doc["data"]["payout"], self._rows.get(PAYOUT, key)
        repeated = {name: row[name] for name in (*_HELD, "state", "held_by", "paid_by", "paid_at_drawer", "note")}
        said = data | {"number": data["payout"]}
        if (row["player"], row["amount"]) != (doc["data"]["player"], amount):
            self._find("state_event_differs", f"{PAYOUT} {key}", "an event is of another player or amount")
        for name, value in repeated.items():
            if said.get(name) != value:
                problem = f"an event says {said.get(name)!r}, events before it {value!r}"
                self._find("state_event_differs", f"{PAYOUT} {key}, {name}", problem)

    # --- Found chips -------------------------------------------------------------------------------------------------

    def _found(self, doc: Row) -> None:
        data, last = doc["data"]["found"], len(self._rows.of(FOUND))
        key = str(data["found"])
        if data["found"] != last + 1:
            self._find("serial_gap", f"{FOUND} {key}", f"it comes after {last}")
        self._rows.get(STAFF, data["finder"])
        self._rows.add(
            FOUND, key, number=data["found"], drawer=doc["chain"].partition("/")[2], finder=data["finder"],
            found_where=data["found_where"], amount=doc["data"]["amount"], pieces=doc["data"]["exchanged"],
            state="registered", noted_by=doc["actor"], noted_at=Near(doc["at"]), player=None, note="", ended_by=None,
            ended_at=None,
        )  # fmt: skip
        self._known_at[key] = doc["at"]
        self._require_found(key, doc)

    def _left(self, doc: Row) -> None:
        data = doc["data"]["found"]
        key = str(data["found"])
        row = self._rows.get(FOUND, key)
        if row["state"] != "registered":
            self._find("state_event_differs", f"{FOUND} {key}, state", "they leave the register twice")
        changed: Row = {"state": _STATES[doc["kind"]], "ended_by": doc["actor"], "ended_at": Near(doc["at"])}
        if doc["kind"] == "cage.chips_claimed":
            changed["player"] = doc["data"]["player"]
        else:
            self._require_waited(key, doc)
        if doc["kind"] == "unclaimed.remitted":
            changed["note"] = data["note"]
        self._rows.change(FOUND, key, **changed)
        self._require_found(key, doc)

    def _require_waited(self, key: str, doc: Row) -> None:
        waited = timedelta(days=doc["data"]["waited_days"], seconds=-TOLERANCE)
        if datetime.fromisoformat(doc["at"]) - datetime.fromisoformat(self._known_at[key]) < waited:
            problem = f"they were found at {self._known_at[key]}, which is less than the days that the event names"
            self._find("state_event_differs", f"{FOUND} {key}, ended_at", problem)

    def _require_found(self, key: str, doc: Row) -> None:
        """What an event repeats of found chips is what they are then."""
        data, row = doc["data"]["found"], self._rows.get(FOUND, key)
        said = data | {"number": data["found"]}
        if row["amount"] != doc["data"]["amount"]:
            self._find("state_event_differs", f"{FOUND} {key}", "an event is of another amount")
        for name in (*_NOTED, "state", "player", "note", "ended_by"):
            if said.get(name) != row[name]:
                problem = f"an event says {said.get(name)!r}, events before it {row[name]!r}"
                self._find("state_event_differs", f"{FOUND} {key}, {name}", problem)

    # --- Buy-ins by card or transfer ---------------------------------------------------------------------------------

    def _bought(self, doc: Row) -> None:
        data, known = doc["data"], self._rows.of(NONCASH)
        key, number = str(data["buy_in"]), data["buy_in"]
        if number != len(known) + 1:
            self._find("serial_gap", f"{NONCASH} {key}", f"it comes after {len(known)}")
        if any(row["reference"] == data["reference"] for row in known.values()):
            self._find("state_event_differs", f"{NONCASH} {key}, reference", "another buy-in has it")
        self._rows.add(
            NONCASH, key, number=number, drawer=doc["chain"].partition("/")[2], sold_by=doc["actor"],
            sold_at=Near(doc["at"]), state="open", statement="", settled_by=None, ended_at=None,
            **{name: data[name] for name in ("player", "means", "reference", "amount")},
        )  # fmt: skip

    def _settled(self, doc: Row) -> None:
        data, worth = doc["data"], 0
        for number in data["buy_ins"]:
            key = str(number)
            row = self._rows.get(NONCASH, key)
            worth += row["amount"]
            if row["state"] != "open":
                self._find("state_event_differs", f"{NONCASH} {key}, state", "its money comes twice")
            self._rows.change(
                NONCASH, key, state="settled", statement=data["statement"], settled_by=doc["actor"],
                ended_at=Near(doc["at"]),
            )  # fmt: skip
        if worth != data["amount"]:
            self._find("state_event_differs", _place(doc), f"the buy-ins are worth {worth}, not {data['amount']}")


def _place(doc: Row) -> str:
    return f"{doc['chain']}#{doc['seq']}"
