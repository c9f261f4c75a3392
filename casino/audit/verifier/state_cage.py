"""Chips, drawers and their shifts, and transfers, rebuilt from the chains of drawers, tables and house."""

from .state_columns import HOUSE, ID, Model, proved
from .state_rows import TOLERANCE, Handler, Near, Row, Rows, seconds_between

CHIP_SET, DENOMINATION, IMBALANCE = "chips.ChipSet", "chips.Denomination", "chips.Imbalance"
DRAWER, SHIFT, HANDOVER = "cage.Drawer", "cage.Shift", "cage.Handover"
TRANSFER, SERIAL = "transfers.Transfer", "transfers.Serial"

#: Seconds after which what was offered from the vault is not taken any more.
HANDOVER_LASTS = 600.0
#: What only the person who has opened a drawer does there.
_TRADES = (
    *("cage.buy_in", "cage.cash_out", "cage.bearer_buy_in", "cage.bearer_cash_out", "cage.exchange"),
    *("cage.foreign_chips", "cage.deposit_taken", "cage.deposit_drawn", "cage.deposit_returned"),
    *("cage.noncash_buy_in", "cage.noncash_paid", "cage.payout_held", "cage.payout_released"),
    *("cage.chips_claimed", "cage.table_fee", "cage.chips_redeemed", "cage.late_claim_paid"),
)
_FLOAT = ("float_cash", "float_chips", "float_pieces")
_COUNTED = ("cash", "chips", "pieces", "foreign", "withdrawn")
_COUNT = tuple(f"{side}_{what}" for side in ("expected", "counted") for what in _COUNTED)
_FIRST, _SECOND = ("first_count", "counted_by", "counted_at"), ("recount", "recounted_by", "recounted_at")
_HANDED = "drawer.opened, drawer.closed, drawer.replenished, drawer.skimmed, handover.withdrawn"
_SET_ENDS = ("withdrawn_at", "redeem_until", "lapsed_at", "lapsed_pieces", "retired_at")
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
            "in_use": proved("chips.introduced, chips.put_in_use"),
            "introduced_at": proved("chips.introduced"),
            "withdrawn_at": proved("chips.put_in_use, of the set whose place was taken"),
            "redeem_until": proved("chips.put_in_use, of the set whose place was taken"),
            **dict.fromkeys(("lapsed_at", "lapsed_pieces"), proved("chips.lapsed")),
            "retired_at": proved("chips.retired"),
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
            "retired_at": proved("drawer.retired"),
        },
    ),
    Model(
        HANDOVER,
        "drawer and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("drawer", "number", "kind", "cash", "pieces", "foreign", "withdrawn", "to_drawer"),
                proved("handover.offered"),
            ),
            **dict.fromkeys(
                ("offered_by", "offered_as", "offered_at"),
                proved("handover.offered"),
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
            **dict.fromkeys(
                ("drawer", "number", "opened_by", "opened_at", *_FLOAT), proved("drawer.opened, drawer.reopened")
            ),
            "reopens": proved("drawer.reopened"),
            **dict.fromkeys(_FIRST, proved("drawer.counted")),
            **dict.fromkeys(_SECOND, proved("drawer.recounted")),
            **dict.fromkeys(("closed_by", "closed_at", "handed_to", "reason", *_COUNT), proved("drawer.closed")),
        },
    ),
    Model(
        TRANSFER,
        "kind and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys((*_BEGUN, "opened_at"), proved(_ASKED)),
            "state": proved("every event of the transfer"),
            "reservation": proved("fill.requested, fill.sent, fill.cancelled"),
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
        #: What a closing has handed over and no opening taken yet: both drawers and the handover's number.
        self._passed: set[tuple[str, str, int]] = set()
        moves = {f"{kind}.{state}" for kind in ("fill", "credit") for state in _MOVES}
        self.handlers: dict[str, Handler] = {
            "chips.introduced": self._introduced,
            "chips.put_in_use": self._put_in_use,
            "chips.lapsed": self._lapsed,
            "chips.retired": self._retired,
            "imbalance.found": self._imbalance,
            "imbalance.cleared": self._cleared,
            "drawer.set_up": self._drawer,
            "drawer.retired": lambda doc: self._rows.change(DRAWER, _place(doc), retired_at=Near(doc["at"])),
            "drawer.opened": self._opened,
            "drawer.reopened": self._reopened,
            "drawer.counted": lambda doc: self._drawer_counted(doc, _FIRST),
            "drawer.recounted": lambda doc: self._drawer_counted(doc, _SECOND),
            "drawer.closed": self._closed,
            "drawer.x_read": self._x_read,
            "handover.offered": self._offered,
            "handover.signed": self._signed,
            "handover.withdrawn": lambda doc: self._handed(doc, doc["data"]["handover"]["handover"], "withdrawn"),
            **dict.fromkeys(_TRADES, self._traded),
            "drawer.replenished": lambda doc: self._handed(doc, doc["data"]["handover"]["handover"], "taken"),
            "drawer.skimmed": lambda doc: self._handed(doc, doc["data"]["handover"]["handover"], "taken"),
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
        in_use = not any(row["in_use"] for row in self._rows.of(CHIP_SET).values())
        self._rows.add(
            CHIP_SET, code, code=code, in_use=in_use, introduced_at=Near(doc["at"]), **dict.fromkeys(_SET_ENDS)
        )
        for value, colour in doc["data"]["denominations"].items():
            self._rows.add(DENOMINATION, f"{code}/{value}", chip_set=code, value=int(value), colour=colour)

    def _put_in_use(self, doc: Row) -> None:
        data, at = doc["data"], Near(doc["at"])
        new, old = (self._rows.get(CHIP_SET, data[name]) for name in ("chip_set", "withdrawn"))
        if not old["in_use"] or new["in_use"] or new["withdrawn_at"] is not None or new["retired_at"] is not None:
            self._wrong(data["chip_set"], f"it takes the place of {data['withdrawn']} and cannot")
        old.update(in_use=False, withdrawn_at=at, redeem_until=data["redeem_until"])
        new["in_use"] = True

    def _lapsed(self, doc: Row) -> None:
        code = doc["data"]["chip_set"]
        row = self._rows.get(CHIP_SET, code)
        # In the house's time zone it may be a day later than in the event.
        if row["redeem_until"] is None or row["lapsed_at"] is not None or doc["at"][:10] < row["redeem_until"]:
            self._wrong(code, f"it lapsed at {doc['at']}, and was promised until {row['redeem_until']}")
        row.update(lapsed_at=Near(doc["at"]), lapsed_pieces=doc["data"]["pieces"])

    def _retired(self, doc: Row) -> None:
        code = doc["data"]["chip_set"]
        row = self._rows.get(CHIP_SET, code)
        if row["in_use"] or row["retired_at"] is not None:
            self._wrong(code, "it was retired while it was in use, or twice")
        row["retired_at"] = Near(doc["at"])

    def _wrong(self, code: str, problem: str) -> None:
        self._rows.find("state_event_differs", f"{CHIP_SET} {code}", problem)

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
        self._rows.add(DRAWER, code, code=code, version=1, x_readings=0, retired_at=None)

    def _begin_shift(self, doc: Row, reopens: int | None) -> None:
        drawer, data = _place(doc), doc["data"]
        number = self._shifts[drawer] = self._shifts.get(drawer, 0) + 1
        self._rows.add(
            SHIFT, f"{drawer}/{number}", drawer=drawer, number=number, opened_by=doc["actor"],
            opened_at=Near(doc["at"]), **{name: data[name] for name in _FLOAT},
            **dict.fromkeys((*_FIRST, *_SECOND, "closed_by", "closed_at", "handed_to", *_COUNT)), reason="",
            reopens=reopens,
        )  # fmt: skip
        self._require_same(SHIFT, f"{drawer}/{number}", {"number": data["shift"]})

    def _reopened(self, doc: Row) -> None:
        """The cashier of a shift that went back to the vault goes on, with what was counted."""
        data, before = doc["data"], self._shift(doc)
        self._begin_shift(doc, data["reopens"])
        counted = {"counted_cash": data["float_cash"], "counted_pieces": data["float_pieces"]}
        counted |= {"number": data["reopens"], "opened_by": doc["actor"], "handed_to": None}
        self._require_same(SHIFT, before, counted)

    def _opened(self, doc: Row) -> None:
        drawer, data = _place(doc), doc["data"]
        self._begin_shift(doc, None)
        taken = {"cash": data["float_cash"], "pieces": data["float_pieces"]}
        if (passed := data.get("taken_from")) is not None:
            self._took_over(doc, passed, taken)
            return
        self._handed(doc, data["handover"], "taken")
        self._require_same(HANDOVER, f"{drawer}/{data['handover']}", taken | {"kind": "float"})

    def _took_over(self, doc: Row, passed: Row, taken: Row) -> None:
        """A drawer that another one's closing has handed over is opened with all of it, once, by the same person."""
        left, number = passed["drawer"], doc["data"]["handover"]
        key = f"{left}/{number}"
        if (left, _place(doc), number) not in self._passed:
            self._rows.find(
                "state_event_differs", f"{HANDOVER} {key}", "it was taken over, and no closing passed it on"
            )
        self._passed -= {(left, _place(doc), number)}
        taken = taken | {"foreign": passed["foreign"], "kind": "hand_over", "to_drawer": _place(doc)}
        taken["withdrawn"] = passed.get("withdrawn", {})
        self._require_same(HANDOVER, key, taken | {"ended_by": doc["actor"]})

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
        counted = (row["counted_by"], row["recounted_by"])
        if row["recount"] is not None and count["handed_to"] is None and doc["actor"] in counted:
            self._rows.find("same_person", f"{SHIFT} {key}", f"{doc['actor']} counted it and signed it off")
        closed_by = doc["actor"] if count["handed_to"] is None else self._passed_on(doc, row, count)
        self._rows.change(
            SHIFT, key, closed_by=closed_by, closed_at=Near(doc["at"]), reason=doc.get("reason", ""),
            handed_to=count["handed_to"], **{name: count[name] for name in _COUNT},
        )  # fmt: skip

    def _passed_on(self, doc: Row, shift: Row, count: Row) -> str:
        """A closing by which another cashier took the drawer over: returns who had offered it, and so closed it."""
        left, number, to = _place(doc), doc["data"].get("handover", 0), count["handed_to"]
        key = f"{left}/{number}"
        passed = {"cash": count["counted_cash"], "pieces": count["counted_pieces"], "foreign": count["counted_foreign"]}
        passed["withdrawn"] = count["counted_withdrawn"]
        self._require_same(HANDOVER, key, passed | {"kind": "hand_over", "to_drawer": to, "state": "offered"})
        row = self._rows.get(HANDOVER, key)
        offered_by: str = row["offered_by"]
        counted = {shift["counted_by"], shift["recounted_by"], shift["opened_by"]}
        if doc["actor"] in counted:
            self._rows.find(
                "same_person", f"{SHIFT} {self._shift(doc)}", f"{doc['actor']} handed it over to themselves"
            )
        if shift["recount"] is not None and offered_by in counted:
            self._rows.find("same_person", f"{HANDOVER} {key}", f"{offered_by} counted it and signed it off")
        self._handed(doc, number, "taken", reason=row["reason"])
        self._passed.add((left, to, number))
        return offered_by

    def _traded(self, doc: Row) -> None:
        """Only the person who has opened the drawer trades there."""
        row = self._rows.seek(SHIFT, self._shift(doc))
        if row is not None and row["opened_by"] != doc["actor"]:
            problem = f"{doc['actor']} records {doc['kind']} in the shift of {row['opened_by']}"
            self._rows.find("not_your_drawer", f"{doc['chain']}#{doc['seq']}", problem)

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
            kind=data["kind"], cash=data["cash"], pieces=data["pieces"], foreign=data.get("foreign", 0),
            withdrawn=data.get("withdrawn", {}),
            to_drawer=data.get("to_drawer"), offered_by=doc["actor"], offered_as=doc["role"],
            offered_at=Near(doc["at"]), signed_by=None, state="offered", ended_by=None, ended_at=None,
            reason=doc.get("reason", ""),
        )  # fmt: skip

    def _signed(self, doc: Row) -> None:
        key = f"{_place(doc)}/{doc['data']['handover']['handover']}"
        self._rows.change(HANDOVER, key, signed_by=doc["actor"])
        self._by_another(doc, key, "signed it")

    def _handed(self, doc: Row, number: int, state: str, reason: str | None = None) -> None:
        key = f"{_place(doc)}/{number}"
        self._rows.change(
            HANDOVER, key, state=state, ended_by=doc["actor"], ended_at=Near(doc["at"]),
            reason=doc.get("reason", "") if reason is None else reason,
        )  # fmt: skip
        if state == "taken":
            self._by_another(doc, key, "took it")
            self._in_time(doc, key)

    def _in_time(self, doc: Row, key: str) -> None:
        row = self._rows.get(HANDOVER, key)
        from_vault = row["kind"] in ("float", "replenishment")
        if from_vault and seconds_between(row["offered_at"], doc["at"]) > HANDOVER_LASTS + TOLERANCE:
            problem = f"it was offered at {row['offered_at']} and taken at {doc['at']}, too late"
            self._rows.find("handover_expired", f"{HANDOVER} {key}", problem)

    def _by_another(self, doc: Row, key: str, what: str) -> None:
        if self._rows.get(HANDOVER, key)["offered_by"] == doc["actor"]:
            self._rows.find("same_person", f"{HANDOVER} {key}", f"{doc['actor']} counted it out and {what}")

    # --- Transfers ---------------------------------------------------------------------------------------------------

    def _moved(self, doc: Row) -> None:
        data, actor = doc["data"]["transfer"], doc["actor"]
        key, state = transfer_key(data), data["state"]
        if self._rows.seek(TRANSFER, key) is None:
            self._begun(doc, data)
        changed: Row = {"state": state, **self._reservation(key, state, data)}
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

    def _reservation(self, key: str, state: str, data: Row) -> Row:
        """What was set aside for a fill when it was asked for is let go when it is sent or cancelled, and only then."""
        row, now = self._rows.get(TRANSFER, key), data.get("reservation", "")
        before = row["reservation"]
        ends = state in ("sent", "cancelled") and before == "pending"
        if now not in (("voided", "expired") if ends else (before,)):
            problem = f"it is {state}, and its reservation was {before!r} and is {now!r}"
            self._rows.find("state_event_differs", f"{TRANSFER} {key}, reservation", problem)
        return {"reservation": now}

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
        key = transfer_key(data)
        row = self._rows.get(TRANSFER, key)
        if doc["actor"] in (row["sent_by"], None) or doc["actor"] != count["by"]:
            self._rows.find("same_person", f"{TRANSFER} {key}", f"{doc['actor']} counted it for {count['by']}")
        self._rows.change(TRANSFER, key, miscounts=[*row["miscounts"], count])
        self._require_same(TRANSFER, key, {name: data[name] for name in data.keys() - _NOT_A_COLUMN})

    def _begun(self, doc: Row, data: Row) -> None:
        empty = dict.fromkeys(("sent", "sent_by", "sent_at", "counted", "ended_by", "ended_at"))
        empty |= dict.fromkeys(("carried_by", "declined_by", "declined_at"))
        reservation = data.get("reservation", "")
        if reservation not in ("", "pending") or (reservation and data["state"] != "requested"):
            problem = f"it is begun as {data['state']} with the reservation {reservation!r}"
            self._rows.find("state_event_differs", f"{TRANSFER} {transfer_key(data)}, reservation", problem)
        self._rows.add(
            TRANSFER, transfer_key(data), **{name: data[name] for name in _BEGUN[:-1]},
            opened_by=doc["actor"], opened_at=Near(doc["at"]), state="requested", reason="", miscounts=[],
            reservation=reservation, **empty,
        )  # fmt: skip
        number(self._rows, data["kind"], data["serial"])

    def _require_same(self, model: str, key: str, recorded: Row) -> None:
        """What an event repeats of a row is what earlier events have recorded of it."""
        row = self._rows.get(model, key)
        for name, value in recorded.items():
            if row[name] != value:
                problem = f"an event says {value!r}, events before it {row[name]!r}"
                self._rows.find("state_event_differs", f"{model} {key}, {name}", problem)


def transfer_key(data: Row) -> str:
    """By what a transfer is known: its kind and its number."""
    return f"{data['kind']} {data['serial']}"


def number(rows: Rows, series: str, serial: int) -> None:
    """A paper got the next number of its series."""
    if (row := rows.seek(SERIAL, series)) is None:
        rows.add(SERIAL, series, series=series, last=0)
        row = rows.get(SERIAL, series)
    if serial != row["last"] + 1:
        rows.find("serial_gap", f"{SERIAL} {series}", f"a paper has number {serial}, the one before it {row['last']}")
    row["last"] = serial


def _place(doc: Row) -> str:
    return str(doc["chain"].partition("/")[2])


_MOVES = ("requested", "sent", "declined", "received", "cancelled")
#: What an event says of a transfer besides its columns.
_NOT_A_COLUMN = frozenset({"value", "differing_counts"})
