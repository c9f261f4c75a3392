"""Chips, drawers and their shifts, and transfers, rebuilt from the chains of drawers, tables and house."""

from .state_columns import HOUSE, ID, Model, proved
from .state_rows import Handler, Near, Row, Rows

CHIP_SET, DENOMINATION, IMBALANCE = "chips.ChipSet", "chips.Denomination", "chips.Imbalance"
DRAWER, SHIFT = "cage.Drawer", "cage.Shift"
TRANSFER, SERIAL = "transfers.Transfer", "transfers.Serial"

_FLOAT = ("float_cash", "float_chips", "float_pieces")
_COUNT = ("expected_cash", "counted_cash", "expected_chips", "counted_chips", "expected_pieces", "counted_pieces")
_BEGUN = ("kind", "serial", "table", "drawer", "requested", "opened_by")
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
        },
    ),
    Model(
        SHIFT,
        "drawer and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("drawer", "number", "opened_by", "opened_at", *_FLOAT), proved("drawer.opened")),
            **dict.fromkeys(("closed_by", "closed_at", *_COUNT), proved("drawer.closed")),
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
            "carried_by": proved("fill.sent, credit.sent, fill.received, credit.received"),
            "miscounts": proved("fill.count_differed, credit.count_differed"),
            **dict.fromkeys(("declined_by", "declined_at"), proved("fill.declined, credit.declined")),
            "counted": proved("fill.received, credit.received"),
            **dict.fromkeys(("ended_by", "ended_at"), proved(f"fill{_ENDED}, credit{_ENDED}")),
            "reason": proved(f"fill{_ENDED}, .declined, and those of credits"),
        },
    ),
    Model(
        SERIAL,
        "series",
        {
            "id": ID,
            "house": HOUSE,
            "series": proved("the first paper of a series"),
            "last": proved("every paper of a series: each has the number after the last one's"),
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
            "drawer.closed": self._closed,
            **dict.fromkeys(moves, self._moved),
            **dict.fromkeys(("fill.count_differed", "credit.count_differed"), self._differed),
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
        code = doc["chain"].partition("/")[2]
        self._rows.add(DRAWER, code, code=code, version=1)

    def _opened(self, doc: Row) -> None:
        drawer, data = doc["chain"].partition("/")[2], doc["data"]
        number = self._shifts[drawer] = self._shifts.get(drawer, 0) + 1
        self._rows.add(
            SHIFT, f"{drawer}/{number}", drawer=drawer, number=number, opened_by=doc["actor"],
            opened_at=Near(doc["at"]), **{name: data[name] for name in _FLOAT}, closed_by=None, closed_at=None,
            **dict.fromkeys(_COUNT),
        )  # fmt: skip

    def _closed(self, doc: Row) -> None:
        drawer, count = doc["chain"].partition("/")[2], doc["data"]["reconciliation"]
        key = f"{drawer}/{self._shifts.get(drawer, 0)}"
        self._require_same(SHIFT, key, {"number": count["shift"]} | {name: count[name] for name in _FLOAT})
        self._rows.change(
            SHIFT, key, closed_by=doc["actor"], closed_at=Near(doc["at"]), **{name: count[name] for name in _COUNT}
        )

    # --- Transfers ---------------------------------------------------------------------------------------------------

    def _moved(self, doc: Row) -> None:
        data, actor = doc["data"]["transfer"], doc["actor"]
        key, state = str(data["transfer"]), data["state"]
        if self._rows.seek(TRANSFER, key) is None:
            self._begun(doc, data)
        changed: Row = {"state": state}
        if state == "sent":
            changed |= {"sent": data["sent"], "sent_by": actor, "sent_at": Near(doc["at"])}
        elif state == "declined":
            changed |= {"declined_by": actor, "declined_at": Near(doc["at"]), "reason": doc.get("reason", "")}
        elif state in ("received", "cancelled"):
            changed |= {"ended_by": actor, "ended_at": Near(doc["at"]), "reason": doc.get("reason", "")}
        if state in ("sent", "received"):
            changed["carried_by"] = data["carried_by"]
        if state == "received":
            changed["counted"] = data["counted"]
        self._judge_persons(key, state, actor, data)
        self._rows.change(TRANSFER, key, **changed)
        self._require_same(TRANSFER, key, {name: data[name] for name in data.keys() - _NOT_A_COLUMN})

    def _judge_persons(self, key: str, state: str, actor: str, data: Row) -> None:
        """Nobody does both parts of what takes two people, and a third one carries the chips."""
        row, place = self._rows.get(TRANSFER, key), f"{TRANSFER} {key}"
        if state == "received":
            if row["sent_by"] == actor:
                self._rows.find("same_person", place, f"{actor} sent it and received it")
            if data["carried_by"] in (None, actor, row["sent_by"]):
                self._rows.find("same_person", place, f"{data['carried_by']} carried it, and sent or received it")
            counts = row["miscounts"]
            if data["counted"] != row["sent"] and (len(counts) < 2 or actor in {count["by"] for count in counts}):
                self._rows.find("same_person", place, f"{actor} accepted a variance without two counts of others")
        elif state == "declined" and row["sent_by"] == actor:
            self._rows.find("same_person", place, f"{actor} sent it and declined it")
        elif state == "cancelled" and row["sent"] is not None and actor == (row["declined_by"] or row["sent_by"]):
            self._rows.find("same_person", place, f"{actor} cancelled it alone")

    def _differed(self, doc: Row) -> None:
        data, count = doc["data"]["transfer"], doc["data"]["count"]
        key = str(data["transfer"])
        row = self._rows.get(TRANSFER, key)
        if doc["actor"] in (row["sent_by"], None) or doc["actor"] != count["by"]:
            self._rows.find("same_person", f"{TRANSFER} {key}", f"{doc['actor']} counted it for {count['by']}")
        self._rows.change(TRANSFER, key, miscounts=[*row["miscounts"], count])
        self._require_same(TRANSFER, key, {name: data[name] for name in data.keys() - _NOT_A_COLUMN})

    def _begun(self, doc: Row, data: Row) -> None:
        empty = dict.fromkeys(("sent", "sent_by", "sent_at", "counted", "ended_by", "ended_at"))
        empty |= dict.fromkeys(("carried_by", "declined_by", "declined_at"))
        self._rows.add(
            TRANSFER, str(data["transfer"]), id=data["transfer"], **{name: data[name] for name in _BEGUN[:-1]},
            opened_by=doc["actor"], opened_at=Near(doc["at"]), state="requested", reason="", miscounts=[], **empty,
        )  # fmt: skip
        number(self._rows, data["kind"], data["serial"])

    def _require_same(self, model: str, key: str, recorded: Row) -> None:
        """What an event repeats of a row is what earlier events have recorded of it."""
        row = self._rows.get(model, key)
        for name, value in recorded.items():
            if row[name] != value:
                problem = f"an event says {value!r}, events before it {row[name]!r}"
                self._rows.find("state_event_differs", f"{model} {key}, {name}", problem)


def number(rows: Rows, series: str, serial: int) -> None:
    """A paper got the next number of its series."""
    if (row := rows.seek(SERIAL, series)) is None:
        rows.add(SERIAL, series, series=series, last=0)
        row = rows.get(SERIAL, series)
    if serial != row["last"] + 1:
        rows.find("serial_gap", f"{SERIAL} {series}", f"a paper has number {serial}, the one before it {row['last']}")
    row["last"] = serial


_MOVES = ("requested", "sent", "declined", "received", "cancelled")
#: What an event says of a transfer besides its columns.
_NOT_A_COLUMN = frozenset({"transfer", "value", "differing_counts"})
