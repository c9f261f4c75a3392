"""Announced cash-outs, rebuilt from the chains of drawers, with the holds of the ledger that set their cash aside; and
whether each is paid or let go once, in its time, for whom it was announced."""

from datetime import datetime, timedelta

from .state_columns import HOUSE, ID, Model, proved
from .state_ledger import HOLD
from .state_people import PLAYER
from .state_rows import TOLERANCE, Find, Handler, Near, Row, Rows, seconds_between

ANNOUNCED = "cage.AnnouncedCashOut"
#: What keys of their holds begin with.
_KEY = "cash_out"
_PAID, _WITHDRAWN, _EXPIRED = "cage.cash_out, cage.bearer_cash_out", "cage.announcement_withdrawn", "holds.expired"
_SAID = ("number", "drawer", "player", "amount", "minutes", "until", "announced_by", "announced_at")
MODELS = (
    Model(
        ANNOUNCED,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(_SAID, proved("cage.cash_out_announced")),
            "paid": proved(_PAID),
            "reason": proved(_WITHDRAWN),
            "ended_by": proved(f"{_PAID}, {_WITHDRAWN}"),
            **dict.fromkeys(("state", "ended_at"), proved(f"{_PAID}, {_WITHDRAWN}, {_EXPIRED}")),
        },
    ),
)


class Announcements:
    """Rows of announced cash-outs, and of their holds."""

    def __init__(self, rows: Rows, find: Find) -> None:
        self._rows, self._find = rows, find
        self.handlers: dict[str, Handler] = {
            "cage.cash_out_announced": self._announced,
            "cage.cash_out": self._paid,
            "cage.bearer_cash_out": self._paid,
            "cage.announcement_withdrawn": self._withdrawn,
            "holds.expired": self._expired,
            "drawer.counted": self._counted,
        }

    def _announced(self, doc: Row) -> None:
        data, last = doc["data"], len(self._rows.of(ANNOUNCED))
        number, until = data["announcement"], data["until"]
        key = str(number)
        if number != last + 1:
            self._find("serial_gap", f"{ANNOUNCED} {key}", f"it comes after {last}")
        if "player" in data:
            self._rows.get(PLAYER, data["player"])
        due = datetime.fromisoformat(doc["at"]) + timedelta(minutes=data["minutes"])
        if seconds_between(until, due.isoformat(timespec="microseconds").replace("+00:00", "Z")) > TOLERANCE:
            problem = f"it was announced at {doc['at']} for {data['minutes']} minutes, and until {until}"
            self._find("state_event_differs", f"{ANNOUNCED} {key}, until", problem)
        self._rows.add(
            ANNOUNCED, key, number=number, drawer=_drawer(doc), player=data.get("player"), amount=data["amount"],
            minutes=data["minutes"], until=until, state="announced", announced_by=doc["actor"],
            announced_at=Near(doc["at"]), paid=None, ended_by=None, ended_at=None, reason="",
        )  # fmt: skip
        self._rows.add(
            HOLD, f"{_KEY}:{key}", created_at=Near(doc["at"]), expires_at=until, state="pending", ended_at=None
        )

    def _paid(self, doc: Row) -> None:
        """The cash went to whom it was announced for, and not more of it."""
        data = doc["data"]
        if "announcement" not in data:
            return
        row = self._end(doc, data["announcement"], "paid", paid=data["amount"])
        if row["player"] != data.get("player"):
            self._wrong(row, f"announced for {row['player']}, paid to {data.get('player')}")
        if data["amount"] > row["amount"]:
            self._wrong(row, f"{row['amount']} was announced, {data['amount']} was paid")

    def _withdrawn(self, doc: Row) -> None:
        row = self._end(doc, doc["data"]["announcement"], "withdrawn", reason=doc.get("reason", ""))
        if row["amount"] != doc["data"]["amount"]:
            self._wrong(row, f"{row['amount']} was announced, {doc['data']['amount']} was withdrawn")

    def _end(self, doc: Row, number: int, state: str, **columns: object) -> Row:
        """What was set aside for it is let go while its time runs, at its drawer. Raises NotRecorded."""
        row = self._rows.get(ANNOUNCED, str(number))
        late = doc["at"] > row["until"] and seconds_between(doc["at"], row["until"]) > TOLERANCE
        if row["state"] != "announced" or late or row["drawer"] != _drawer(doc):
            problem = f"it was {row['state']} at {row['drawer']} until {row['until']}"
            self._wrong(row, f"{problem}, and is {state} by {doc['chain']} at {doc['at']}")
        ended_at = Near(doc["at"])
        row.update(columns, state=state, ended_by=doc["actor"], ended_at=ended_at)
        self._rows.change(HOLD, f"{_KEY}:{number}", state="voided", ended_at=ended_at)
        return row

    def _expired(self, doc: Row) -> None:
        for key in doc["data"].get("holds", ()):
            kind, _, number = key.partition(":")
            if kind == _KEY:
                row = self._rows.get(ANNOUNCED, number)
                if row["state"] != "announced":
                    self._wrong(row, f"it was {row['state']}, and expired at {doc['at']}")
                row.update(state="expired", ended_at=Near(doc["at"]))

    def _counted(self, doc: Row) -> None:
        """A drawer is counted, and then closed, only when nothing is set aside in it."""
        for row in self._rows.of(ANNOUNCED).values():
            mine = row["drawer"] == _drawer(doc) and row["state"] == "announced"
            if mine and doc["at"] < row["until"] and seconds_between(doc["at"], row["until"]) > TOLERANCE:
                self._wrong(row, f"its drawer was counted at {doc['at']}, and it was open until {row['until']}")

    def _wrong(self, row: Row, problem: str) -> None:
        self._find("announcement_differs", f"{ANNOUNCED} {row['number']}", problem)


def _drawer(doc: Row) -> str:
    return str(doc["chain"].partition("/")[2])
