"""Minors: who was recorded as one, that nothing is paid to them but stakes that are given back, and what a settlement
comes to: by the payments that events have recorded, and by what was posted. What was kept is remitted once, to whom the
law names."""

from .state_approvals import Approvals, moved
from .state_columns import HOUSE, ID, Model, hashed, proved
from .state_flows import Flows
from .state_identity import IDENTITY
from .state_money import Money
from .state_rows import TOLERANCE, Handler, Near, Row, Rows, seconds_between
from .state_safeguards import EXCLUSION

MINOR, REMITTANCE = "safeguards.Minor", "safeguards.Remittance"
_RECORDED, _SETTLED, _CLEARED = "minor.recorded", "minor.settled", "minor.cleared"
_REMITTED = "winnings.remitted"
_ENDED = f"{_SETTLED}, {_CLEARED}"
_FIGURES = ("stakes", "deposit", "held", "refund", "kept", "borne")
MODELS = (
    Model(
        MINOR,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "player", "exclusion", "least_age", "recorded_by", "recorded_at"), proved(_RECORDED)
            ),
            "note": hashed(_RECORDED),
            **dict.fromkeys((*_FIGURES, "payout", "remit_by"), proved(_SETTLED)),
            "state": proved(f"{_RECORDED}, {_ENDED}"),
            **dict.fromkeys(("ended_by", "ended_at"), proved(_ENDED)),
            "remittance": proved(_REMITTED),
        },
    ),
    Model(
        REMITTANCE,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "amount", "beneficiary", "payee", "note", "remitted_by", "remitted_at"), proved(_REMITTED)
            ),
        },
    ),
)
#: Who gets what is kept, by the legal profile of the house.
_BENEFICIARIES = {
    **dict.fromkeys(("HU", "AT", "US-CA"), frozenset(("state",))),
    "UK": frozenset(("charity",)),
    "custom": frozenset(("state", "charity")),
}
#: What pays a player.
_PAYS = (
    *("cage.cash_out", "cage.noncash_paid", "cage.deposit_returned", "cage.chips_claimed", "cage.late_claim_paid"),
    *("cage.payout_released", "payout.paid_by_bank"),
)
#: Within how many days winnings are to be remitted: the control point, and what counts where none is set.
_REMITTED_WITHIN = ("remittance_days", 30)
#: Who records that a player is a minor.
_RECORDS = ("compliance", "manager")


class Minors:
    """Judges what is recorded of minors, and what is paid to them. A payment may have read what was so a moment before:
    for so long it is let pass."""

    def __init__(self, rows: Rows, flows: Flows, money: Money, approvals: Approvals) -> None:
        self._rows, self._flows, self._money, self._approvals = rows, flows, money, approvals
        #: Numbers by player, and of the held payouts that are given back.
        self._of: dict[str, list[str]] = {}
        self._payouts: set[int] = set()
        self.handlers: dict[str, Handler] = {
            _RECORDED: self._recorded,
            _SETTLED: self._settled,
            _CLEARED: self._cleared,
            _REMITTED: self._remitted,
            "exclusion.lifted": self._lifted,
            "cage.corrected": self._corrected,
            **dict.fromkeys(_PAYS, lambda doc: self._paid(doc, doc["data"])),
        }

    def _recorded(self, doc: Row) -> None:
        data, player = doc["data"], doc["data"]["player"]
        key, last = str(data["minor"]), len(self._rows.of(MINOR))
        if data["minor"] != last + 1:
            self._rows.find("serial_gap", f"{MINOR} {key}", f"it comes after {last}")
        if doc["role"] not in _RECORDS:
            self._wrong(doc, f"{doc['actor']}, as {doc['role']}, records that {player} is a minor")
        if any(self._row(one)["state"] == "recorded" for one in self._of.get(player, ())):
            self._wrong(doc, f"that {player} is a minor is recorded twice")
        bar = self._rows.get(EXCLUSION, str(data["exclusion"]))
        said = {name: bar[name] for name in ("player", "kind", "scope", "until", "lifted_at")}
        if said != {"player": player, "kind": "house", "scope": "house", "until": None, "lifted_at": None}:
            self._wrong(doc, f"exclusion {data['exclusion']} does not keep {player} out without an end: {said}")
        self._rows.add(
            MINOR, key, number=data["minor"], player=player, exclusion=str(data["exclusion"]),
            least_age=data["least_age"], recorded_by=doc["actor"], recorded_at=Near(doc["at"]),
            note=data["note_sha256"], state="recorded", payout=None, ended_by=None, ended_at=None, remittance=None,
            remit_by=None, **dict.fromkeys(_FIGURES),
        )  # fmt: skip
        self._of.setdefault(player, []).append(key)

    def _cleared(self, doc: Row) -> None:
        row = self._open(doc)
        row.update(state="cleared", ended_by=doc["actor"], ended_at=Near(doc["at"]))

    def _settled(self, doc: Row) -> None:
        data, row, player = doc["data"], self._open(doc), doc["data"]["player"]
        open_ = self._money.held(player)
        deposit, held = self._money.deposit(player), sum(open_.values())
        stakes = self._flows.net(player) - deposit
        refund, there = deposit + max(stakes, 0), deposit + held
        due = {
            "stakes": stakes, "deposit": deposit, "held": held, "refund": refund, "kept": max(there - refund, 0),
            "borne": max(refund - there, 0),
        }  # fmt: skip
        said = {name: data[name] for name in _FIGURES}
        if said != due:
            self._wrong(doc, f"by the events before it, minor {data['minor']} comes to {due}, it says {said}")
        if data["ended"] != sorted(open_):
            self._wrong(doc, f"held for {player} are {sorted(open_)}, it ends {data['ended']}")
        self._require_posted(doc)
        payout = data.get("payout")
        if (payout["amount"] if payout else 0) != data["refund"]:
            self._wrong(doc, f"given back are {data['refund']}, held {payout}")
        if payout:
            self._payouts.add(payout["payout"])
        row.update(said, state="settled", payout=payout["payout"] if payout else None, ended_by=doc["actor"])
        row.update(ended_at=Near(doc["at"]), remit_by=data.get("remit_by"))
        self._require_deadline(doc)

    def _require_deadline(self, doc: Row) -> None:
        """What is kept has a day until which it is to be remitted, as the house has set it."""
        until, kept = doc["data"].get("remit_by"), doc["data"]["kept"]
        name, default = _REMITTED_WITHIN
        days = {points.get(name, default) for points in self._approvals.in_force_about(doc["at"])}
        ends = [moved(doc["at"], 86_400 * one) for one in days]
        if (until is not None) != (kept > 0):
            self._wrong(doc, f"{kept} are kept, to be remitted by {until}")
        elif until is not None and not any(abs(seconds_between(one, until)) <= TOLERANCE for one in ends):
            self._wrong(doc, f"winnings are to be remitted by {until}, not {sorted(days)} days after {doc['at']}")

    def _require_posted(self, doc: Row) -> None:
        """What was posted is what the event says."""
        data, held = doc["data"], f"2085/{doc['data']['player']}"
        wanted = {
            f"2090/{data['player']}": data["deposit"], "5250": data["borne"], "2087": -data["kept"],
            held: data["kept"] - data["borne"] - data["deposit"],
        }  # fmt: skip
        self._compare_posted(doc, wanted)

    def _compare_posted(self, doc: Row, wanted: dict[str, int]) -> None:
        posted: dict[str, int] = {}
        for posting in doc.get("postings", ()):
            for code, _, amount in posting.get("legs", ()):
                posted[code] = posted.get(code, 0) + amount
        if {code: amount for code, amount in posted.items() if amount} != {
            code: amount for code, amount in wanted.items() if amount
        }:
            self._wrong(doc, f"it was posted as {posted}, it comes to {wanted}")

    def _remitted(self, doc: Row) -> None:
        data, last = doc["data"], len(self._rows.of(REMITTANCE))
        key, parts = str(data["remittance"]), data["minors"]
        if data["remittance"] != last + 1:
            self._rows.find("serial_gap", f"{REMITTANCE} {key}", f"it comes after {last}")
        if doc["role"] != "compliance":
            self._wrong(doc, f"{doc['actor']}, as {doc['role']}, remits winnings")
        if data["beneficiary"] not in self._beneficiaries(doc["at"]):
            self._wrong(doc, f"the law of the house names somebody else than {data['beneficiary']}")
        self._rows.add(
            REMITTANCE, key, number=data["remittance"], remitted_by=doc["actor"], remitted_at=Near(doc["at"]),
            **{name: data[name] for name in ("amount", "beneficiary", "payee", "note")},
        )  # fmt: skip
        for part in parts:
            row = self._row(str(part["minor"]))
            if (part["player"], part["kept"], row["state"]) != (row["player"], row["kept"], "settled"):
                self._wrong(doc, f"of minor {row['number']}, {row['state']}, {row['kept']} was kept, it says {part}")
            if row["remittance"] is not None:
                self._wrong(doc, f"the winnings of minor {row['number']} are in remittance {row['remittance']}")
            row["remittance"] = key
        if sum(part["kept"] for part in parts) != data["amount"]:
            self._wrong(doc, f"{data['amount']} is not what was kept from {parts}")
        self._compare_posted(doc, {"2087": data["amount"], "1090": -data["amount"]})

    def _beneficiaries(self, moment: str) -> frozenset[str]:
        """Who may be paid by the newest identity; and by the one before, where the newest has only just been there."""
        found = frozenset[str]()
        for row in sorted(self._rows.of(IDENTITY).values(), key=lambda row: -int(row["number"])):
            found |= _BENEFICIARIES.get(row["parts"].get("legal_profile", ""), frozenset())
            if seconds_between(row["set_at"], moment) > TOLERANCE:
                break
        return found

    def _lifted(self, doc: Row) -> None:
        for row in self._rows.of(MINOR).values():
            if row["exclusion"] == str(doc["data"]["exclusion"]) and row["state"] == "recorded":
                self._wrong(doc, f"minor {row['number']} is let in before the stakes are given back")

    def _corrected(self, doc: Row) -> None:
        right = doc["data"].get("right") or {}
        if right.get("kind") in _PAYS:
            self._paid(doc, right)

    def _paid(self, doc: Row, data: Row) -> None:
        """Nothing is paid to a minor but what is given back."""
        if isinstance(payout := data.get("payout"), dict) and payout["payout"] in self._payouts:
            return
        for key in self._of.get(data.get("player", ""), ()):
            row = self._row(key)
            lifted = self._rows.get(EXCLUSION, row["exclusion"])["lifted_at"]
            counts = row["state"] == "recorded" or (row["state"] == "settled" and lifted is None)
            if counts and seconds_between(row["recorded_at"], doc["at"]) > TOLERANCE:
                problem = f"{doc['kind']} to {row['player']}, who is a minor ({key})"
                self._rows.find("minor_paid", f"{doc['chain']}#{doc['seq']}", problem)
                return

    def _open(self, doc: Row) -> Row:
        """The minor that compliance ends. Raises NotRecorded."""
        row = self._row(str(doc["data"]["minor"]))
        if row["state"] != "recorded" or row["player"] != doc["data"]["player"] or doc["role"] != "compliance":
            self._wrong(doc, f"{doc['actor']}, as {doc['role']}, ends minor {row['number']}, which is {row['state']}")
        return row

    def _row(self, key: str) -> Row:
        return self._rows.get(MINOR, key)

    def _wrong(self, doc: Row, problem: str) -> None:
        self._rows.find("safeguard_differs", f"{doc['chain']}#{doc['seq']}", problem)
