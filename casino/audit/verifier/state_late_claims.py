"""What the house has paid for chips of lapsed sets: never more than lapsed of the set and nobody had claimed before, to
somebody of whom it was recorded who that is, and posted as it was paid."""

from collections import Counter

from .state_cage import CHIP_SET
from .state_columns import HOUSE, ID, Model, proved
from .state_people import PERSON_KEY, PLAYER
from .state_rows import Handler, Near, Row, Rows

LATE_CLAIM = "transfers.LateClaim"
_COLUMNS = ("number", "drawer", "chip_set", "player", "amount", "pieces", "reason", "paid_by", "paid_at")
MODELS = (
    Model(
        LATE_CLAIM,
        "number",
        {"id": ID, "house": HOUSE, **dict.fromkeys(_COLUMNS, proved("cage.late_claim_paid"))},
    ),
)


class LateClaims:
    """Rows of late claims, and what is left of every lapsed set."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        #: By code of the set: what has lapsed and was not claimed yet, in minor units and in pieces by denomination.
        self._left: dict[str, int] = {}
        self._unclaimed: dict[str, Counter[str]] = {}
        self.handlers: dict[str, Handler] = {"chips.lapsed": self._lapsed, "cage.late_claim_paid": self._paid}

    def _lapsed(self, doc: Row) -> None:
        data = doc["data"]
        self._left[data["chip_set"]] = data["amount"]
        self._unclaimed[data["chip_set"]] = Counter(data["pieces"])
        if _worth(data["pieces"]) != data["amount"]:
            self._wrong(doc, f"chips worth {_worth(data['pieces'])} lapsed as {data['amount']}")

    def _paid(self, doc: Row) -> None:
        data, last = doc["data"], len(self._rows.of(LATE_CLAIM))
        key, code, drawer = str(data["claim"]), data["chip_set"], doc["chain"].partition("/")[2]
        if data["claim"] != last + 1:
            self._rows.find("serial_gap", f"{LATE_CLAIM} {key}", f"it comes after {last}")
        self._rows.get(PLAYER, data["player"])
        if self._rows.seek(PERSON_KEY, data["player"]) is None:
            problem = f"it was paid to {data['player']}, of whom nobody has recorded who that is"
            self._rows.find("identity_missing", f"{LATE_CLAIM} {key}", problem)
        self._judge_left(doc, code)
        self._judge_postings(doc, drawer)
        self._rows.add(
            LATE_CLAIM, key, number=data["claim"], drawer=drawer, chip_set=code, player=data["player"],
            amount=data["amount"], pieces=data["exchanged"], reason=doc.get("reason", ""), paid_by=doc["actor"],
            paid_at=Near(doc["at"]),
        )  # fmt: skip

    def _judge_left(self, doc: Row, code: str) -> None:
        """The set has lapsed and is not retired, and so much of it was left."""
        data, row = doc["data"], self._rows.get(CHIP_SET, code)
        if row["lapsed_at"] is None or row["retired_at"] is not None or code not in self._unclaimed:
            self._wrong(doc, f"chip set {code} has not lapsed, or is retired")
            return
        pieces = data["exchanged"]
        if any(count < 1 for count in pieces.values()) or _worth(pieces) != data["amount"] or data["amount"] < 1:
            self._wrong(doc, f"chips {pieces} were paid with {data['amount']}")
        self._left[code] -= data["amount"]
        self._unclaimed[code].subtract(pieces)
        over = sorted(value for value in pieces if self._unclaimed[code][value] < 0)
        if over or self._left[code] < 0:
            problem = f"more was paid than lapsed: of {code} {self._left[code]} are left, too many of {over}"
            self._rows.find("lapsed_overpaid", f"{LATE_CLAIM} {data['claim']}", problem)
        if self._left[code] != data["left"]:
            self._wrong(doc, f"of {code} {self._left[code]} are left, the event has {data['left']}")

    def _judge_postings(self, doc: Row, drawer: str) -> None:
        """What was posted is what was paid and brought, and nothing else."""
        data = doc["data"]
        legs = [leg for posting in doc.get("postings", ()) for leg in posting.get("legs", ())]
        posted: Counter[tuple[str, str]] = Counter()
        for account, commodity, amount in legs:
            posted[account, commodity.partition(".")[2]] += amount
        paid = {("2095", ""): data["amount"], (f"1020/{drawer}", ""): -data["amount"]}
        for value, count in data["exchanged"].items():
            chip = f"{data['chip_set']}.{value}"
            paid |= {(f"9115/{drawer}", chip): count, ("9199", chip): -count}
        if posted != paid:
            self._wrong(doc, f"posted was {dict(posted)}, paid {paid}")

    def _wrong(self, doc: Row, problem: str) -> None:
        self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", problem)


def _worth(pieces: dict[str, int]) -> int:
    return sum(int(value) * count for value, count in pieces.items())
