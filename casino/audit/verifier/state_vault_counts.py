"""Counts of the vault, and bags of cash between it and the bank, rebuilt from the house's chain."""

from typing import Any

from .state_boxes import MOST_ROUNDS
from .state_cage import SHIFT
from .state_columns import HOUSE, ID, Model, proved
from .state_rows import UNKNOWN, Handler, Near, Row, Rows

COUNT, ENTRY, BAG = "cage.VaultCount", "cage.VaultCountEntry", "cage.BankBag"
_ENTERED = "vault.counted, vault.counts_differed"
_COUNTED = "vault.counted of the second of two that agree, vault.count_decided"
MODELS = (
    Model(
        COUNT,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "begun_at"), proved("vault.counted of the first person")),
            "state": proved("every event of the count"),
            "differing_rounds": proved("vault.counts_differed"),
            **dict.fromkeys(("count", "over"), proved(_COUNTED)),
            **dict.fromkeys(("decided_by", "decision"), proved("vault.count_decided")),
            **dict.fromkeys(("signed_by", "reason", "corrects"), proved("vault.count_signed_off")),
            "ended_at": proved("vault.count_signed_off, or what counted it where it agrees with the books"),
        },
    ),
    Model(
        ENTRY,
        "count, round and person",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("vault_count", "round", "count", "counted_by", "counted_at"), proved(_ENTERED)),
            "over": proved(f"{_COUNTED}; not of counts before that, since a count is made without knowing it"),
        },
    ),
    Model(
        BAG,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "way", "bag", "amount", "sent_by", "sent_at"), proved("bank.sent, bank.drawn")),
            **dict.fromkeys(("counted", "note", "ended_by", "ended_at"), proved("bank.confirmed, bank.received")),
            "state": proved("every event of the bag"),
        },
    ),
)
_SENT = ("number", "way", "bag", "amount")
_WAYS = {"bank.sent": "to_bank", "bank.confirmed": "to_bank", "bank.drawn": "from_bank", "bank.received": "from_bank"}
_NOTHING: Row = {"cash": 0, "pieces": {}, "foreign": 0}


class VaultCounts:
    """Rows of counts of the vault, and of bags."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.handlers: dict[str, Handler] = {
            "vault.counted": self._entered,
            "vault.counts_differed": self._entered,
            "vault.count_decided": self._decided,
            "vault.count_signed_off": self._signed_off,
            **dict.fromkeys(("bank.sent", "bank.drawn"), self._sent),
            **dict.fromkeys(("bank.confirmed", "bank.received"), self._arrived),
        }

    def _entered(self, doc: Row) -> None:
        data, actor, at = doc["data"]["vault_count"], doc["actor"], Near(doc["at"])
        key = str(data["vault_count"])
        if self._rows.seek(COUNT, key) is None:
            self._begun(data["vault_count"], at)
        row = self._rows.get(COUNT, key)
        count = dict(doc["data"]["count"])
        round_ = count.pop("round")
        before = [one for one in self._entries(key) if one["round"] == round_]
        differs = doc["kind"] == "vault.counts_differed"
        if row["state"] != "counting" or round_ != row["differing_rounds"] + 1 or len(before) > 1:
            problem = f"a count of round {round_} after {row['differing_rounds']} rounds that differed, {row['state']}"
            self._rows.find("state_event_differs", f"{COUNT} {key}", problem)
        if actor in {one["counted_by"] for one in before}:
            self._same(key, f"{actor} counted it twice")
        self._rows.add(
            ENTRY, f"{key}/{round_}/{actor}", vault_count=key, round=round_, count=count, over=UNKNOWN,
            counted_by=actor, counted_at=at,
        )  # fmt: skip
        if differs:
            row["differing_rounds"] += 1
        elif before:
            self._is_counted(doc, key, count)
        self._require_same(key, data)

    def _begun(self, number: int, at: Near) -> None:
        if number != len(self._rows.of(COUNT)) + 1:
            problem = f"count {number} after {len(self._rows.of(COUNT))}"
            self._rows.find("serial_gap", f"{COUNT} {number}", problem)
        self._rows.add(
            COUNT, str(number), number=number, begun_at=at, state="counting", differing_rounds=0,
            **dict.fromkeys(("count", "over", "decided_by", "signed_by", "corrects", "ended_at")),
            decision="", reason="",
        )  # fmt: skip

    def _is_counted(self, doc: Row, key: str, count: Row) -> None:
        """Two agree, or a supervisor has decided: the event says how far each count is from the books."""
        data = doc["data"]["vault_count"]
        over = data["over"]
        found: Row = {"count": count, "over": over, "state": "counted"}
        if over == _NOTHING:
            found |= {"state": "accepted", "ended_at": Near(doc["at"])}
        self._rows.change(COUNT, key, **found)
        overs: dict[int, list[Any]] = {}
        for one in data["counts"]:
            self._rows.change(ENTRY, f"{key}/{one['round']}/{one['by']}", over=one["over"])
            overs.setdefault(one["round"], []).append(one["over"])
        rounds = self._rows.get(COUNT, key)["differing_rounds"]
        for round_, (first, *others) in overs.items():
            if others != [first] if round_ > rounds else others == [first]:
                self._differs(key, f"round {round_}", f"counts over by {first!r} and {others!r}")
            if round_ > rounds and first != over:
                self._differs(key, "over", f"{over!r} where two have counted {first!r}")

    def _decided(self, doc: Row) -> None:
        data, actor = doc["data"]["vault_count"], doc["actor"]
        key = str(data["vault_count"])
        self._by_another(key, actor, "counting")
        if (rounds := self._rows.get(COUNT, key)["differing_rounds"]) < MOST_ROUNDS:
            self._differs(key, "differing_rounds", f"it was decided on after {rounds} pairs of counts that differed")
        self._is_counted(doc, key, data["count"])
        self._rows.change(COUNT, key, decided_by=actor, decision=doc["reason"])
        self._require_same(key, data)

    def _signed_off(self, doc: Row) -> None:
        data, actor = doc["data"]["vault_count"], doc["actor"]
        key = str(data["vault_count"])
        self._by_another(key, actor, "counted")
        self._corrects(key, data.get("corrects"))
        self._rows.change(
            COUNT, key, state="accepted", signed_by=actor, reason=doc["reason"], ended_at=Near(doc["at"]),
            corrects=data.get("corrects"),
        )  # fmt: skip
        self._require_same(key, data)

    def _corrects(self, key: str, corrects: Row | None) -> None:
        """An earlier count that was wrong is named once: a shift that went back to the vault, or a count of it. Raises
        NotRecorded."""
        if corrects is None:
            return
        drawer, number = corrects["drawer"], corrects["count"]
        model, name = (COUNT, str(number)) if drawer is None else (SHIFT, f"{drawer}/{number}")
        row = self._rows.get(model, name)
        ended = row["ended_at"] if drawer is None else row["closed_at"]
        if ended is None or row.get("handed_to") is not None:
            self._differs(key, "corrects", f"{model} {name} has not ended in the vault")
        if any(other["corrects"] == corrects for other in self._rows.of(COUNT).values()):
            self._differs(key, "corrects", f"{model} {name} was corrected before")

    # --- Bags --------------------------------------------------------------------------------------------------------

    def _sent(self, doc: Row) -> None:
        data = doc["data"]["bag"]
        key, number = str(data["number"]), data["number"]
        if number != len(self._rows.of(BAG)) + 1:
            self._rows.find("serial_gap", f"{BAG} {key}", f"it comes after {len(self._rows.of(BAG))} bags")
        self._rows.add(
            BAG, key, **{name: data[name] for name in _SENT}, state="in_transit", sent_by=doc["actor"],
            sent_at=Near(doc["at"]), counted=None, note="", ended_by=None, ended_at=None,
        )  # fmt: skip
        self._require_bag(doc, key, data)

    def _arrived(self, doc: Row) -> None:
        data, actor = doc["data"]["bag"], doc["actor"]
        key = str(data["number"])
        row = self._rows.get(BAG, key)
        if row["state"] != "in_transit":
            self._rows.find("state_event_differs", f"{BAG} {key}, state", "it arrives twice")
        if row["sent_by"] == actor:
            self._rows.find("same_person", f"{BAG} {key}", f"{actor} sent it and counted it at its other end")
        found = {"counted": doc["data"]["amount"], "note": data["note"], "ended_by": actor, "ended_at": Near(doc["at"])}
        self._rows.change(BAG, key, state="arrived", **found)
        self._require_bag(doc, key, data)

    def _require_bag(self, doc: Row, key: str, data: Row) -> None:
        """What an event repeats of a bag is what it is then."""
        row = self._rows.get(BAG, key)
        counted = row["counted"]
        repeated = {name: row[name] for name in (*_SENT, "state", "sent_by", "counted", "note", "ended_by")}
        repeated |= {"difference": None if counted is None else counted - row["amount"], "way": _WAYS[doc["kind"]]}
        for name, value in repeated.items():
            if data[name] != value:
                problem = f"an event says {data[name]!r}, events before it {value!r}"
                self._rows.find("state_event_differs", f"{BAG} {key}, {name}", problem)

    # --- Parts -------------------------------------------------------------------------------------------------------

    def _by_another(self, key: str, actor: str, state: str) -> None:
        row = self._rows.get(COUNT, key)
        if row["state"] != state:
            self._differs(key, "state", f"an event that needs {state!r} where it is {row['state']!r}")
        if actor in {row["decided_by"], *(one["counted_by"] for one in self._entries(key))}:
            self._same(key, f"{actor} signed for what this person had counted or decided")

    def _require_same(self, key: str, data: Row) -> None:
        """What an event repeats of a count is what it is then."""
        row = self._rows.get(COUNT, key)
        for name in ("state", "differing_rounds", "decided_by", "signed_by"):
            if row[name] != data[name]:
                self._differs(key, name, f"an event says {data[name]!r}, events before it {row[name]!r}")
        for name in {"count", "over"} & data.keys():
            if row[name] != data[name]:
                self._differs(key, name, f"an event says {data[name]!r}, events before it {row[name]!r}")

    def _entries(self, key: str) -> list[Row]:
        return [row for row in self._rows.of(ENTRY).values() if row["vault_count"] == key]

    def _differs(self, key: str, name: str, problem: str) -> None:
        self._rows.find("state_event_differs", f"{COUNT} {key}, {name}", problem)

    def _same(self, key: str, problem: str) -> None:
        self._rows.find("same_person", f"{COUNT} {key}", problem)
