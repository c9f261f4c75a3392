"""Boxes of tables, their counts, and the tronc, rebuilt from the chains of tables, house and drawers."""

from typing import Any

from .state_cage import number
from .state_columns import HOUSE, ID, Model, proved
from .state_ledger import PERIOD
from .state_people import STAFF
from .state_rows import UNKNOWN, Handler, Near, Row, Rows

BOX, BOX_COUNT = "transfers.Box", "transfers.BoxCount"
TRAY_COUNT = "transfers.TrayCount"
POOL, SHARE = "transfers.TroncPool", "transfers.TroncShare"

#: After how many pairs of counts that differ somebody decides.
MOST_ROUNDS = 3
_PUT = ("table", "kind", "number", "put_by")
_COUNTED = "box.counted of the second of two that agree, box.count_decided"
_TRAY_COUNTED = "tray.counted, or box.swapped that takes it along"
MODELS = (
    Model(
        BOX,
        "number of its series",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("serial", *_PUT, "put_at"), proved("box.swapped, of the box that was put")),
            **dict.fromkeys(
                ("seal", "taken_by", "taken_at", "for_day"), proved("box.swapped, of the box that was taken")
            ),
            **dict.fromkeys(
                ("expected_cash", "expected_pieces"),
                proved("box.received; not of boxes before that, since a count is made without knowing them"),
            ),
            **dict.fromkeys(("seal_read", "brought_by", "brought_at"), proved("box.brought")),
            "differing_rounds": proved("box.counts_differed"),
            **dict.fromkeys(("counted_cash", "counted_pieces"), proved(_COUNTED)),
            **dict.fromkeys(("decided_by", "observer", "reason"), proved("box.count_decided")),
            **dict.fromkeys(("received_by", "received_at"), proved("box.received")),
            "state": proved("every event of the box"),
        },
    ),
    Model(
        BOX_COUNT,
        "box, round and person",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("box", "round", "cash", "pieces", "counted_by", "counted_at"),
                proved("box.counted, box.counts_differed"),
            ),
        },
    ),
    Model(
        TRAY_COUNT,
        "number of its series",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("serial", "table", "purpose", "pieces", "counted_by", "counted_at"), proved(_TRAY_COUNTED)
            ),
            "expected": proved("tray.confirmed; not of other counts, since a count is made without knowing it"),
            **dict.fromkeys(("witnessed", "witnessed_by"), proved("tray.confirmed, tray.counts_differed")),
            "exception": proved("tray.confirmed"),
            **dict.fromkeys(
                ("state", "ended_at"),
                proved("tray.confirmed, tray.counts_differed, and tray.counted or box.swapped of the next one"),
            ),
        },
    ),
    Model(
        POOL,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("serial", "amount", "shared_by", "shared_at"), proved("tronc.shared")),
        },
    ),
    Model(
        SHARE,
        "pool and login",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("pool", "staff", "points", "amount"), proved("tronc.shared")),
            **dict.fromkeys(("drawer", "paid_by", "paid_at"), proved("tronc.share_paid")),
        },
    ),
)


class Boxes:
    """Rows of boxes, their counts, and the tronc."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        #: By table: the tray's newest confirmed count if that is an opener with which no session has begun.
        self._openers: dict[str, int | None] = {}
        #: The same of closers.
        self._closers: dict[str, int | None] = {}
        self.handlers: dict[str, Handler] = {
            "box.swapped": self._swapped,
            "box.brought": self._brought,
            "box.counted": self._counted,
            "box.counts_differed": self._differed,
            "box.count_decided": self._decided,
            "box.received": self._received,
            "tray.counted": self._tray_counted,
            "tray.counts_differed": self._tray_witnessed,
            "tray.confirmed": self._tray_witnessed,
            "table.opened": self._opened,
            "table.closed": self._table_closed,
            "tronc.shared": self._shared,
            "tronc.share_paid": self._paid,
        }

    # --- Boxes -------------------------------------------------------------------------------------------------------

    def _swapped(self, doc: Row) -> None:
        data, at = doc["data"]["box"], Near(doc["at"])
        if (taken := doc["data"].get("taken")) is not None:
            found = {"state": "taken", "seal": taken["seal"], "taken_by": doc["actor"], "taken_at": at}
            found["for_day"] = self._day_of(taken)
            self._change(taken, **found, expected_cash=UNKNOWN, expected_pieces=UNKNOWN)
        columns = dict.fromkeys(name for name in MODELS[0].columns if name not in ("id", "house", *_PUT))
        columns |= {"serial": data["box"], "put_at": at, "state": "at_table", "differing_rounds": 0}
        columns |= dict.fromkeys(("seal", "seal_read", "for_day", "reason"), "")
        columns |= {name: data[name] for name in _PUT[:-1]} | {"put_by": doc["actor"]}
        self._rows.add(BOX, str(data["box"]), **columns)
        number(self._rows, "box", data["box"])
        self._with_tray(doc, data["table"])

    def _with_tray(self, doc: Row, table: str) -> None:
        """The dealer's count of the tray that came with a change of boxes, or the one before it that still serves."""
        data, place = doc["data"], f"{doc['chain']}#{doc['seq']}"
        if data.get("tray_count") is not None:
            if data["tray_count"]["purpose"] != "box_change" or doc["role"] != "dealer":
                problem = f"{doc['role']} counted the tray for {data['tray_count']['purpose']}"
                self._rows.find("state_event_differs", place, problem)
            self._tray_counted(doc)
        elif (named := data.get("counted")) is not None:
            newest = max((row for row in self._rows.of(TRAY_COUNT).values() if row["table"] == table),
                         key=lambda row: row["serial"], default=None)  # fmt: skip
            if newest is None or newest["serial"] != named or newest["purpose"] != "box_change" or (
                newest["state"] not in ("waiting", "confirmed")
            ):  # fmt: skip
                problem = f"it names the count {named}, which is not one of the change of boxes, or was ended"
                self._rows.find("tray_count_missing", place, problem)

    def _day_of(self, taken: Row) -> str:
        """The gaming day of a box that is taken off: one that was opened."""
        day: str = taken["for_day"] or ""
        if day and self._rows.seek(PERIOD, day) is None:
            self._rows.find("state_event_differs", f"{BOX} {taken['box']}, for_day", f"there is no gaming day {day}")
        return day

    def _brought(self, doc: Row) -> None:
        data, actor = doc["data"]["box"], doc["actor"]
        if self._row(data)["taken_by"] == actor:
            self._same(data, f"{actor} took it off its table and brought it")
        found = {"seal_read": data["seal_read"], "brought_by": actor, "brought_at": Near(doc["at"])}
        self._change(data, state="brought", **found)

    def _count(self, doc: Row) -> tuple[Row, list[Row]]:
        """Add a person's count; the box as it was, and the counts of the same round before."""
        data, count, actor = doc["data"]["box"], doc["data"]["count"], doc["actor"]
        row, before = self._row(data), self._counts_of(data["box"], count["round"])
        if count["round"] != row["differing_rounds"] + 1 or len(before) > 1:
            problem = f"a count of round {count['round']} after {row['differing_rounds']} rounds that differed"
            self._rows.find("state_event_differs", f"{BOX} {data['box']}", problem)
        if actor in {one["counted_by"] for one in before}:
            self._same(data, f"{actor} counted it twice")
        self._rows.add(
            BOX_COUNT, f"{data['box']}/{count['round']}/{actor}", box=str(data["box"]), round=count["round"],
            cash=count["cash"], pieces=count["pieces"], counted_by=actor, counted_at=Near(doc["at"]),
        )  # fmt: skip
        return row, before

    def _counted(self, doc: Row) -> None:
        data, count = doc["data"]["box"], doc["data"]["count"]
        _, before = self._count(doc)
        if not before:
            return
        if (before[0]["cash"], before[0]["pieces"]) != (count["cash"], count["pieces"]):
            self._rows.find("state_event_differs", f"{BOX} {data['box']}", "two counts that agree are not the same")
        self._change(data, state="counted", counted_cash=count["cash"], counted_pieces=count["pieces"])

    def _differed(self, doc: Row) -> None:
        row, _ = self._count(doc)
        self._change(doc["data"]["box"], differing_rounds=row["differing_rounds"] + 1)

    def _decided(self, doc: Row) -> None:
        data, count, actor = doc["data"]["box"], doc["data"]["count"], doc["actor"]
        if (rounds := self._row(data)["differing_rounds"]) < MOST_ROUNDS:
            problem = f"it was decided on after {rounds} pairs of counts that differed"
            self._rows.find("state_event_differs", f"{BOX} {data['box']}", problem)
        if actor in self._counters(data["box"]):
            self._same(data, f"{actor} counted it and decided on it")
        observer = data.get("observer")
        watching = None if observer is None else self._rows.seek(STAFF, observer)
        if observer == actor or watching is None or "surveillance" not in watching["roles"]:
            self._same(data, f"{actor} decided on it, and nobody of surveillance watched")
        found = {"counted_cash": count["cash"], "counted_pieces": count["pieces"], "observer": observer}
        self._change(data, state="counted", decided_by=actor, reason=doc["reason"], **found)

    def _received(self, doc: Row) -> None:
        data, actor = doc["data"]["box"], doc["actor"]
        row = self._row(data)
        if actor in {row["taken_by"], row["decided_by"], *self._counters(data["box"])}:
            self._same(data, f"{actor} received what this person had signed for")
        found = {name: data[name] for name in ("expected_cash", "expected_pieces")}
        self._change(data, state="received", received_by=actor, received_at=Near(doc["at"]), **found)
        for name, value in (("counted_cash", data["cash"]), ("counted_pieces", data["pieces"])):
            if row[name] != value:
                problem = f"an event says {value!r}, events before it {row[name]!r}"
                self._rows.find("state_event_differs", f"{BOX} {data['box']}, {name}", problem)

    def _row(self, data: Row) -> Row:
        return self._rows.get(BOX, str(data["box"]))

    def _change(self, data: Row, **columns: Any) -> None:
        """Change a box; what the event repeats of it is what it is then."""
        self._rows.change(BOX, str(data["box"]), **columns)
        row = self._row(data)
        for name in (*_PUT, "state", "seal", "seal_read", "differing_rounds"):
            if row[name] != data[name]:
                problem = f"an event says {data[name]!r}, events before it {row[name]!r}"
                self._rows.find("state_event_differs", f"{BOX} {data['box']}, {name}", problem)
        if row["for_day"] != (data["for_day"] or ""):
            problem = f"an event says {data['for_day']!r}, events before it {row['for_day']!r}"
            self._rows.find("state_event_differs", f"{BOX} {data['box']}, for_day", problem)

    def _counts_of(self, box: int, round_: int) -> list[Row]:
        return [row for row in self._rows.of(BOX_COUNT).values() if row["box"] == str(box) and row["round"] == round_]

    def _counters(self, box: int) -> set[str]:
        return {row["counted_by"] for row in self._rows.of(BOX_COUNT).values() if row["box"] == str(box)}

    def _same(self, data: Row, problem: str) -> None:
        self._rows.find("same_person", f"{BOX} {data['box']}", problem)

    # --- Trays -------------------------------------------------------------------------------------------------------

    def _tray_counted(self, doc: Row) -> None:
        data, at = doc["data"]["tray_count"], Near(doc["at"])
        if (replaced := doc["data"].get("replaced")) is not None:
            self._rows.change(TRAY_COUNT, str(replaced), state="replaced", ended_at=at)
        self._rows.add(
            TRAY_COUNT, str(data["tray_count"]), serial=data["tray_count"], table=data["table"],
            purpose=data["purpose"], pieces=doc["data"]["pieces"], counted_by=doc["actor"], counted_at=at,
            expected=UNKNOWN, witnessed=None, witnessed_by=None, exception="", state="waiting", ended_at=None,
        )  # fmt: skip
        number(self._rows, "tray", data["tray_count"])

    def _tray_witnessed(self, doc: Row) -> None:
        data, actor, pieces = doc["data"]["tray_count"], doc["actor"], doc["data"]["pieces"]
        key = str(data["tray_count"])
        row, confirmed = self._rows.get(TRAY_COUNT, key), doc["kind"] == "tray.confirmed"
        if row["counted_by"] == actor:
            self._rows.find("same_person", f"{TRAY_COUNT} {key}", f"{actor} counted it and was its witness")
        if (row["pieces"] == pieces) != confirmed or row["state"] != "waiting":
            problem = f"{doc['kind']} of {pieces} after a count of {row['pieces']} that is {row['state']}"
            self._rows.find("state_event_differs", f"{TRAY_COUNT} {key}", problem)
        found: Row = {"state": "confirmed" if confirmed else "differed", "exception": data["exception"]}
        found |= {"expected": data["expected"]} if confirmed else {}
        self._rows.change(TRAY_COUNT, key, witnessed=pieces, witnessed_by=actor, ended_at=Near(doc["at"]), **found)
        if confirmed and row["purpose"] in ("opener", "closer"):
            self._openers[row["table"]] = int(key) if row["purpose"] == "opener" else None
            self._closers[row["table"]] = int(key) if row["purpose"] == "closer" else None

    def _opened(self, doc: Row) -> None:
        """A session begins with the table's newest opener, if no closer came after it and no session began with it."""
        opener = self._openers.pop(doc["chain"].partition("/")[2], None)
        if doc["data"].get("opener") != opener:
            problem = f"it names the count {doc['data'].get('opener')}, the opener of the tray was {opener}"
            self._rows.find("tray_opener_differs", f"{doc['chain']}#{doc['seq']}", problem)

    def _table_closed(self, doc: Row) -> None:
        """A session that ends with a count of the tray ends with the table's newest one, a closer."""
        named, closer = doc["data"].get("closer"), self._closers.get(doc["chain"].partition("/")[2])
        if named is not None and named != closer:
            problem = f"it names the count {named}, the closer of the tray was {closer}"
            self._rows.find("tray_closer_differs", f"{doc['chain']}#{doc['seq']}", problem)

    # --- Tronc -------------------------------------------------------------------------------------------------------

    def _shared(self, doc: Row) -> None:
        pool = doc["data"]["pool"]
        key = str(pool["pool"])
        self._rows.add(
            POOL, key, serial=pool["pool"], amount=pool["amount"], shared_by=doc["actor"], shared_at=Near(doc["at"])
        )
        number(self._rows, "tronc", pool["pool"])
        if sum(one["amount"] for one in pool["shares"]) != pool["amount"]:
            self._rows.find("state_event_differs", f"{POOL} {key}", "the shares are not the pool")
        for one in pool["shares"]:
            self._rows.add(
                SHARE, f"{key}/{one['login']}", pool=key, staff=one["login"], points=one["points"],
                amount=one["amount"], drawer=None, paid_by=None, paid_at=None,
            )  # fmt: skip

    def _paid(self, doc: Row) -> None:
        share, drawer = doc["data"]["share"], doc["chain"].partition("/")[2]
        key = f"{share['pool']}/{share['login']}"
        row = self._rows.get(SHARE, key)
        if row["paid_by"] is not None or row["amount"] != share["amount"]:
            self._rows.find("state_event_differs", f"{SHARE} {key}", "it was paid before, or is another amount")
        if doc["actor"] == share["login"]:
            self._rows.find("same_person", f"{SHARE} {key}", f"{doc['actor']} paid the own share")
        self._rows.change(SHARE, key, drawer=drawer, paid_by=doc["actor"], paid_at=Near(doc["at"]))
