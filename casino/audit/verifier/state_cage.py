"""Chips, drawers and their shifts, transfers and soft counts, rebuilt from the chains of drawers, tables and house."""

from typing import Any

from .state_columns import HOUSE, ID, Model, proved
from .state_rows import Handler, Near, Row, Rows

CHIP_SET, DENOMINATION, IMBALANCE = "chips.ChipSet", "chips.Denomination", "chips.Imbalance"
DRAWER, SHIFT, HANDOVER = "cage.Drawer", "cage.Shift", "cage.Handover"
TRANSFER, SOFT_COUNT = "transfers.Transfer", "transfers.SoftCount"

_FLOAT = ("float_cash", "float_chips", "float_pieces")
_COUNT = tuple(f"{side}_{what}" for side in ("expected", "counted") for what in ("cash", "chips", "pieces", "foreign"))
_FIRST, _SECOND = ("first_count", "counted_by", "counted_at"), ("recount", "recounted_by", "recounted_at")
_HANDED = "drawer.opened, drawer.replenished, drawer.skimmed, handover.withdrawn"
_BEGUN = ("kind", "table", "drawer", "requested", "opened_by")
_ASKED = "fill.requested, credit.requested, or the .sent of what was sent at once"
_ENDED = ".received, .cancelled"
MODELS = (
    Model(
        CHIP_SET,
        "code",
        {
            "id": ID,
            "house": HOUSE,
            "code": proved("chips.introduced"),
            "in_use": proved("chips.introduced"),
            "introduced_at": proved("chips.introduced"),
        },
    ),
    Model(
        DENOMINATION,
        "chip set and value",
        {
            "id": ID,
            "house": HOUSE,
            "chip_set": proved("chips.introduced"),
            "value": proved("chips.introduced"),
            "colour": proved("chips.introduced"),
        },
    ),
    Model(
        IMBALANCE,
        "kind, and how many of it there were",
        {
            "id": ID,
            "house": HOUSE,
            "kind": proved("imbalance.found"),
            "found_at": proved("imbalance.found"),
            "found": proved("imbalance.found"),
            "cleared_at": proved("imbalance.cleared"),
        },
    ),
    Model(
        DRAWER,
        "code",
        {
            "id": ID,
            "house": HOUSE,
            "code": proved("drawer.set_up"),
            "version": proved("every event of the drawer's chain that has `drawer_version`"),
            "x_readings": proved("drawer.x_read"),
        },
    ),
    Model(
        HANDOVER,
        "drawer and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("drawer", "number", "kind", "cash", "pieces", "offered_by", "offered_at"), proved("handover.offered")
            ),
            "signed_by": proved("handover.signed"),
            **dict.fromkeys(("state", "ended_by", "ended_at", "reason"), proved(_HANDED)),
        },
    ),
    Model(
        SHIFT,
        "drawer and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("drawer", "number", "opened_by", "opened_at", *_FLOAT), proved("drawer.opened")),
            **dict.fromkeys(_FIRST, proved("drawer.counted")),
            **dict.fromkeys(_SECOND, proved("drawer.recounted")),
            **dict.fromkeys(("closed_by", "closed_at", "reason", *_COUNT), proved("drawer.closed")),
        },
    ),
    Model(
        TRANSFER,
        "id",
        {
            "id": proved(_ASKED),
            "house": HOUSE,
            **dict.fromkeys((*_BEGUN, "opened_at"), proved(_ASKED)),
            "state": proved("every event of the transfer"),
            **dict.fromkeys(("sent", "sent_by", "sent_at"), proved("fill.sent, credit.sent")),
            "counted": proved("fill.received, credit.received"),
            **dict.fromkeys(("ended_by", "ended_at", "reason"), proved(f"fill{_ENDED}, credit{_ENDED}")),
        },
    ),
    Model(
        SOFT_COUNT,
        "id",
        {
            "id": proved("soft_count.counted"),
            "house": HOUSE,
            **dict.fromkeys(
                ("table", "drawer", "counted_cash", "counted_pieces", "counted_by", "counted_at"),
                proved("soft_count.counted"),
            ),
            **dict.fromkeys(
                ("expected_cash", "expected_pieces"),
                proved("soft_count.confirmed; not of other counts, since a count is made without knowing them"),
            ),
            **dict.fromkeys(("state", "ended_by", "ended_at"), proved("soft_count.confirmed, soft_count.voided")),
        },
    ),
)


class Cage:
    """Rows of chips and of everything between cage and tables."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._shifts: dict[str, int] = {}
        self._imbalances: dict[str, int] = {}
        moves = {f"{kind}.{state}" for kind in ("fill", "credit") for state in _MOVES}
        self.handlers: dict[str, Handler] = {
            "chips.introduced": self._introduced,
            "imbalance.found": self._imbalance,
            "imbalance.cleared": self._cleared,
            "drawer.set_up": self._drawer,
            "drawer.opened": self._opened,
            "drawer.counted": lambda doc: self._drawer_counted(doc, _FIRST),
            "drawer.recounted": lambda doc: self._drawer_counted(doc, _SECOND),
            "drawer.closed": self._closed,
            "drawer.x_read": self._x_read,
            "handover.offered": self._offered,
            "handover.signed": self._signed,
            "handover.withdrawn": lambda doc: self._handed(doc, doc["data"]["handover"]["handover"], "withdrawn"),
            "drawer.replenished": lambda doc: self._handed(doc, doc["data"]["handover"]["handover"], "taken"),
            "drawer.skimmed": lambda doc: self._handed(doc, doc["data"]["handover"]["handover"], "taken"),
            "soft_count.counted": self._counted,
            "soft_count.confirmed": self._confirmed,
            "soft_count.voided": self._voided,
            **dict.fromkeys(moves, self._moved),
        }

    def advance(self, drawer: str, version: int) -> None:
        """An event records the drawer's next version. Raises NotRecorded."""
        row = self._rows.get(DRAWER, drawer)
        if version != row["version"] + 1:
            problem = f"an event records version {version}, it was at {row['version']}"
            self._rows.find("drawer_version_differs", f"{DRAWER} {drawer}", problem)
        row["version"] = version

    # --- Chips -------------------------------------------------------------------------------------------------------

    def _introduced(self, doc: Row) -> None:
        code = doc["data"]["chip_set"]
        self._rows.add(CHIP_SET, code, code=code, in_use=True, introduced_at=Near(doc["at"]))
        for value, colour in doc["data"]["denominations"].items():
            self._rows.add(DENOMINATION, f"{code}/{value}", chip_set=code, value=int(value), colour=colour)

    def _imbalance(self, doc: Row) -> None:
        kind, found = doc["data"]["check"], doc["data"]["after"]
        if "before" in doc["data"]:
            self._rows.change(IMBALANCE, f"{kind}/{self._imbalances.get(kind, 0)}", found=found)
            return
        number = self._imbalances[kind] = self._imbalances.get(kind, 0) + 1
        self._rows.add(IMBALANCE, f"{kind}/{number}", kind=kind, found=found, found_at=Near(doc["at"]), cleared_at=None)

    def _cleared(self, doc: Row) -> None:
        kind = doc["data"]["check"]
        self._rows.change(IMBALANCE, f"{kind}/{self._imbalances.get(kind, 0)}", cleared_at=Near(doc["at"]))

    # --- Drawers -----------------------------------------------------------------------------------------------------

    def _drawer(self, doc: Row) -> None:
        code = _place(doc)
        self._rows.add(DRAWER, code, code=code, version=1, x_readings=0)

    def _opened(self, doc: Row) -> None:
        drawer, data = _place(doc), doc["data"]
        number = self._shifts[drawer] = self._shifts.get(drawer, 0) + 1
        self._rows.add(
            SHIFT, f"{drawer}/{number}", drawer=drawer, number=number, opened_by=doc["actor"],
            opened_at=Near(doc["at"]), **{name: data[name] for name in _FLOAT},
            **dict.fromkeys((*_FIRST, *_SECOND, "closed_by", "closed_at", *_COUNT)), reason="",
        )  # fmt: skip
        self._require_same(SHIFT, f"{drawer}/{number}", {"number": data["shift"]})
        self._handed(doc, data["handover"], "taken")
        taken = {"cash": data["float_cash"], "pieces": data["float_pieces"], "kind": "float"}
        self._require_same(HANDOVER, f"{drawer}/{data['handover']}", taken)

    def _drawer_counted(self, doc: Row, columns: tuple[str, ...]) -> None:
        key = self._shift(doc)
        self._require_same(SHIFT, key, {"number": doc["data"]["shift"]})
        values = (doc["data"]["count"], doc["actor"], Near(doc["at"]))
        self._rows.change(SHIFT, key, **dict(zip(columns, values, strict=True)))
        row = self._rows.get(SHIFT, key)
        if columns is _SECOND and row["counted_by"] == doc["actor"]:
            self._rows.find("same_person", f"{SHIFT} {key}", f"{doc['actor']} counted it twice")

    def _closed(self, doc: Row) -> None:
        key, count = self._shift(doc), doc["data"]["reconciliation"]
        recorded = {name: count[name] for name in (*_FLOAT, *_FIRST[:2], *_SECOND[:2])}
        self._require_same(SHIFT, key, {"number": count["shift"]} | recorded)
        row = self._rows.get(SHIFT, key)
        if row["recount"] is not None and doc["actor"] in (row["counted_by"], row["recounted_by"]):
            self._rows.find("same_person", f"{SHIFT} {key}", f"{doc['actor']} counted it and signed it off")
        self._rows.change(
            SHIFT, key, closed_by=doc["actor"], closed_at=Near(doc["at"]), reason=doc.get("reason", ""),
            **{name: count[name] for name in _COUNT},
        )  # fmt: skip

    def _shift(self, doc: Row) -> str:
        drawer = _place(doc)
        return f"{drawer}/{self._shifts.get(drawer, 0)}"

    def _x_read(self, doc: Row) -> None:
        row = self._rows.get(DRAWER, _place(doc))
        row["x_readings"] += 1
        self._require_same(DRAWER, _place(doc), {"x_readings": doc["data"]["x_reading"]})
        self._require_same(SHIFT, self._shift(doc), {"number": doc["data"]["shift"]})

    def _offered(self, doc: Row) -> None:
        data = doc["data"]["handover"]
        self._rows.add(
            HANDOVER, f"{_place(doc)}/{data['handover']}", drawer=_place(doc), number=data["handover"],
            kind=data["kind"], cash=data["cash"], pieces=data["pieces"], offered_by=doc["actor"],
            offered_at=Near(doc["at"]), signed_by=None, state="offered", ended_by=None, ended_at=None, reason="",
        )  # fmt: skip

    def _signed(self, doc: Row) -> None:
        key = f"{_place(doc)}/{doc['data']['handover']['handover']}"
        self._rows.change(HANDOVER, key, signed_by=doc["actor"])
        self._by_another(doc, key, "signed it")

    def _handed(self, doc: Row, number: int, state: str) -> None:
        key = f"{_place(doc)}/{number}"
        self._rows.change(
            HANDOVER, key, state=state, ended_by=doc["actor"], ended_at=Near(doc["at"]), reason=doc.get("reason", "")
        )
        if state == "taken":
            self._by_another(doc, key, "took it")

    def _by_another(self, doc: Row, key: str, what: str) -> None:
        if self._rows.get(HANDOVER, key)["offered_by"] == doc["actor"]:
            self._rows.find("same_person", f"{HANDOVER} {key}", f"{doc['actor']} counted it out and {what}")

    # --- Transfers and counts ----------------------------------------------------------------------------------------

    def _moved(self, doc: Row) -> None:
        data, actor = doc["data"]["transfer"], doc["actor"]
        key, state = str(data["transfer"]), data["state"]
        if self._rows.seek(TRANSFER, key) is None:
            self._begun(doc, data)
        changed: Row = {"state": state}
        if state == "sent":
            changed |= {"sent": data["sent"], "sent_by": actor, "sent_at": Near(doc["at"])}
        elif state in ("received", "cancelled"):
            changed |= {"ended_by": actor, "ended_at": Near(doc["at"]), "reason": doc.get("reason", "")}
        if state == "received":
            changed["counted"] = data["counted"]
            if self._rows.get(TRANSFER, key)["sent_by"] == actor:
                self._rows.find("same_person", f"{TRANSFER} {key}", f"{actor} sent it and received it")
        self._rows.change(TRANSFER, key, **changed)
        self._require_same(TRANSFER, key, {name: data[name] for name in data.keys() - {"transfer", "value"}})

    def _begun(self, doc: Row, data: Row) -> None:
        empty = dict.fromkeys(("sent", "sent_by", "sent_at", "counted", "ended_by", "ended_at"))
        self._rows.add(
            TRANSFER, str(data["transfer"]), id=data["transfer"], **{name: data[name] for name in _BEGUN[:-1]},
            opened_by=doc["actor"], opened_at=Near(doc["at"]), state="requested", reason="", **empty,
        )  # fmt: skip

    def _counted(self, doc: Row) -> None:
        data = doc["data"]["soft_count"]
        self._rows.add(
            SOFT_COUNT, str(data["soft_count"]), id=data["soft_count"], table=data["table"], drawer=data["drawer"],
            counted_cash=data["cash"], counted_pieces=data["pieces"], counted_by=doc["actor"],
            counted_at=Near(doc["at"]), state="counted", ended_by=None, ended_at=None, expected_cash=UNKNOWN,
            expected_pieces=UNKNOWN,
        )  # fmt: skip

    def _confirmed(self, doc: Row) -> None:
        data = doc["data"]["soft_count"]
        if data["counted_by"] == doc["actor"]:
            self._rows.find("same_person", f"{SOFT_COUNT} {data['soft_count']}", f"{doc['actor']} counted it twice")
        self._end_count(doc, "confirmed", {name: data[name] for name in ("expected_cash", "expected_pieces")})

    def _voided(self, doc: Row) -> None:
        self._end_count(doc, "voided", {})

    def _end_count(self, doc: Row, state: str, found: Row) -> None:
        data = doc["data"]["soft_count"]
        key = str(data["soft_count"])
        self._rows.change(SOFT_COUNT, key, state=state, ended_by=doc["actor"], ended_at=Near(doc["at"]), **found)
        recorded = {"table": data["table"], "drawer": data["drawer"], "counted_cash": data["cash"]}
        recorded |= {"counted_pieces": data["pieces"], "counted_by": data["counted_by"], "state": data["state"]}
        self._require_same(SOFT_COUNT, key, recorded)

    def _require_same(self, model: str, key: str, recorded: Row) -> None:
        """What an event repeats of a row is what earlier events have recorded of it."""
        row = self._rows.get(model, key)
        for name, value in recorded.items():
            if row[name] != value:
                problem = f"an event says {value!r}, events before it {row[name]!r}"
                self._rows.find("state_event_differs", f"{model} {key}, {name}", problem)


def _place(doc: Row) -> str:
    return str(doc["chain"].partition("/")[2])


class _Unknown:
    """What no event has recorded yet: any value is right."""

    def __eq__(self, other: Any) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "anything"


UNKNOWN = _Unknown()
_MOVES = ("requested", "sent", "received", "cancelled")
