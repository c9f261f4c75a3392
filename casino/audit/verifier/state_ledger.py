"""The ledger's accounts with their floors and weights, its days, snapshots and counts, rebuilt from events.

What accounts a place has, and what each account is, is the chart of accounts: a fact of the software, kept here once
more because the verifier has nothing of the house. A test compares the two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from .state_columns import Model, derived, proved, transient
from .state_rows import TOLERANCE, Handler, Near, Row, Rows, seconds_between

ACCOUNT, PERIOD, SNAPSHOT, ASSERTION = "ledger.Account", "ledger.Period", "ledger.Snapshot", "ledger.Assertion"
HOLD = "ledger.Hold"

#: By number: name, normal side, floor (None for none), whether it holds chips, and whether it weighs in the invariant
#: between chips and what is owed for them.
CHART: dict[str, tuple[str, int, int | None, bool, bool]] = {
    "1010": ("vault cash", 1, 0, False, False),
    "1015": ("cash in transit", 1, 0, False, False),
    "1020": ("drawer cash", 1, 0, False, False),
    "1030": ("card and transfer clearing", 1, 0, False, False),
    "1050": ("drop cash", 1, 0, False, False),
    "1090": ("bank", 1, 0, False, False),
    "1160": ("foreign chips", 1, 0, False, False),
    "1300": ("player receivable", 1, 0, False, False),
    "2010": ("chips outstanding", -1, 0, False, True),
    "2015": ("chips unattributed", -1, None, False, True),
    "2020": ("seat stack", -1, 0, False, True),
    "2030": ("pot", -1, 0, False, True),
    "2040": ("cukassza", -1, 0, False, True),
    "2050": ("bank of the seats", -1, 0, False, True),
    "2060": ("tronc", -1, 0, False, True),
    "2065": ("tronc pool", -1, 0, False, False),
    "2070": ("disputed pot", -1, 0, False, True),
    "2080": ("carry held", -1, 0, False, False),
    "2085": ("held payouts", -1, 0, False, False),
    "2087": ("winnings withheld", -1, 0, False, False),
    "2090": ("player deposits", -1, 0, False, False),
    "2095": ("unclaimed property", -1, 0, False, False),
    "2200": ("duty payable", -1, 0, False, False),
    "3010": ("house capital", -1, 0, False, False),
    "4010": ("house tax", -1, None, False, False),
    "4020": ("table fees", -1, None, False, False),
    "4030": ("other income", -1, None, False, False),
    "5100": ("bonus", 1, None, False, False),
    "5200": ("cash over/short", 1, None, False, False),
    "5210": ("chip over/short", 1, None, False, False),
    "5220": ("foreign chip loss", 1, None, False, False),
    "5230": ("goodwill and rulings", 1, None, False, False),
    "5240": ("counterfeits", 1, None, False, False),
    "5250": ("stakes given back", 1, None, False, False),
    "5300": ("gaming duty", 1, None, False, False),
    "9110": ("vault chips", 1, 0, True, False),
    "9115": ("set aside", 1, 0, True, False),
    "9120": ("cage chips", 1, 0, True, False),
    "9130": ("table tray", 1, 0, True, False),
    "9140": ("transit", 1, 0, True, False),
    "9150": ("tax box", 1, 0, True, False),
    "9160": ("tronc box", 1, 0, True, True),
    "9170": ("public", 1, None, True, True),
    "9199": ("commissioned", -1, 0, True, False),
}
#: What the vault, a table and a drawer have for themselves.
OF_VAULT = (
    *("1010", "1015", "1030", "1090", "5220", "5240", "5200/bank", "2065", "2095", "2200", "3010", "4030", "5300"),
    *("2087", "5250"),
    *("9110", "9115", "9199", "1160/vault", "2015/vault", "5200/vault", "5210/vault", "9170/vault"),
)
#: Its racks, which it has for every chip set.
VAULT_RACKS = ("9110", "9115", "9199")
OF_TABLE = (
    *("1050", "2015", "2030", "2040", "2050", "2060", "2070", "2080", "4010", "4020", "5100", "5200", "5210"),
    "5230",
    *("9130", "9140", "9150", "9160", "9170"),
)
OF_DRAWER = ("1020", "1160", "2015", "5200", "5210", "9120", "9170")
WALLET, HELD, DEPOSIT, STACK = "2010", "2085", "2090", "2020"
DRAWER_CASH, FOREIGN_CHIPS, CAGE_CHIPS, SET_ASIDE = "1020", "1160", "9120", "9115"

_OPENING = (
    "vault.opened, table.set_up, drawer.set_up, player.registered, cage.deposit_taken, cage.payout_held, "
    "minor.settled, table.sat_down, table.buy_in, table.moved_in, by the chart"
)
_IN_LEDGER = replace(proved("postings of every event; compared with the ledger's own file"), read=False)
_NUMBERED = transient("a number that PostgreSQL gives; entries name the account by it, and the account names its code")
_BOOK = replace(proved("rows are read by book and key"), read=False)
_HELD = transient("what a hold sets aside cannot be spent, and nothing else; its event names the pieces")
_HOLDS = (
    "fill.requested, fill.sent, fill.cancelled, cage.cash_out_announced, cage.cash_out, cage.bearer_cash_out, "
    "cage.announcement_withdrawn"
)
#: Seconds for which the pieces of a fill are set aside.
_RESERVED = 3600
MODELS = (
    Model(
        ACCOUNT,
        "code and commodity",
        {
            "id": _NUMBERED,
            "book": _BOOK,
            **dict.fromkeys(
                ("code", "commodity", "kind", "normal_side", "min_balance", "lock_rank", "weight", "lanes", "parent"),
                proved(_OPENING),
            ),
            "balance": _IN_LEDGER,
            "version": _IN_LEDGER,
            "posted_at": derived("the time of its newest entry's transaction"),
            "held": derived("the pending holds, which the ledger's own checks add up"),
            "opened_at": proved(_OPENING),
            "closed_at": proved("no event closes an account"),
        },
    ),
    Model(
        "ledger.Transaction",
        "id",
        {
            "id": _IN_LEDGER,
            "book": _BOOK,
            **dict.fromkeys(
                ("idempotency_key", "kind", "metadata", "reverses", "posted_at", "occurred_at"), _IN_LEDGER
            ),
            "period": derived("the day that was open when it was posted; the ledger's own checks compare the two"),
        },
    ),
    Model(
        "ledger.Entry",
        "account and version",
        dict.fromkeys(("account", "version", "transaction", "amount", "balance_after"), _IN_LEDGER),
    ),
    Model(
        PERIOD,
        "name",
        {
            "id": _NUMBERED,
            "book": _BOOK,
            "name": proved("day.opened"),
            "opened_at": proved("day.opened"),
            "closed_at": proved("day.closed"),
        },
    ),
    Model(
        SNAPSHOT,
        "name",
        {
            "id": _NUMBERED,
            "book": _BOOK,
            "name": proved("snapshot.taken, day.closed"),
            "taken_at": proved("snapshot.taken, day.closed"),
        },
    ),
    Model(
        "ledger.SnapshotLine",
        "snapshot and account",
        dict.fromkeys(
            ("snapshot", "account", "version", "balance"),
            derived("the account's entry of that version, with which the ledger's own checks compare it"),
        ),
    ),
    Model(
        ASSERTION,
        "account, and how many of it there were",
        {
            "id": _NUMBERED,
            "book": _BOOK,
            "account": proved("drawer.closed"),
            "version": derived("balance: the ledger's own checks compare it with the account's entry of that version"),
            "balance": proved("drawer.closed"),
            "asserted_at": proved("drawer.closed"),
            "metadata": proved("drawer.closed"),
        },
    ),
    Model(
        HOLD,
        "key",
        {
            "id": _NUMBERED,
            "book": _BOOK,
            "key": _BOOK,
            **dict.fromkeys(("created_at", "expires_at"), proved("fill.requested, cage.cash_out_announced")),
            "postings": _HELD,
            **dict.fromkeys(("state", "ended_at"), proved(f"{_HOLDS}, holds.expired")),
        },
    ),
    Model(
        "ledger.Reserve",
        "hold and account",
        dict.fromkeys(("hold", "account", "amount", "expires_at", "released_at"), _HELD),
    ),
    Model("ledger.Claim", "digest", dict.fromkeys(("digest", "hold"), _HELD)),
)


class LedgerRows:
    """Rows of the ledger that postings do not make."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._currency = ""
        #: Commodity and face value of the chips in use, and of those of every set.
        self._chips: list[tuple[str, int]] = []
        self._sets: dict[str, list[tuple[str, int]]] = {}
        self._counts: dict[str, int] = {}
        self.handlers: dict[str, Handler] = {
            "house.founded": self._founded,
            "chips.introduced": self._introduced,
            "chips.put_in_use": self._put_in_use,
            "cage.chips_redeemed": lambda doc: self._came_back(doc, doc["data"]["redeemed"]["chip_set"]),
            "cage.late_claim_paid": lambda doc: self._came_back(doc, doc["data"]["chip_set"]),
            "vault.opened": lambda doc: self._open(doc, OF_VAULT),
            "table.set_up": lambda doc: self._open(doc, _at(OF_TABLE, doc)),
            "drawer.set_up": lambda doc: self._open(doc, _at(OF_DRAWER, doc)),
            "player.registered": lambda doc: self._open(doc, [f"{WALLET}/{doc['data']['player']}"]),
            "cage.deposit_taken": lambda doc: self._open(doc, [f"{DEPOSIT}/{doc['data']['player']}"]),
            "cage.payout_held": lambda doc: self._open(doc, [f"{HELD}/{doc['data']['player']}"]),
            "minor.settled": lambda doc: self._open(doc, [f"{HELD}/{doc['data']['player']}"]),
            "table.sat_down": lambda doc: self._open(doc, _at([STACK], doc, doc["data"]["player"])),
            "table.buy_in": lambda doc: self._open(doc, _at([STACK], doc, doc["data"]["player"])),
            "table.moved_in": lambda doc: self._open(doc, _at([STACK], doc, doc["data"]["player"])),
            "house.identity_changed": self._identity_changed,
            "day.opened": self._day_opened,
            "day.closed": self._day_closed,
            "snapshot.taken": lambda doc: self._snapshot(doc, doc["data"]["snapshot"]),
            "drawer.closed": self._counted,
            "fill.requested": self._fill_asked,
            "fill.sent": self._fill_ended,
            "fill.cancelled": self._fill_ended,
            "holds.expired": self._expired,
        }

    def _founded(self, doc: Row) -> None:
        self._currency = doc["data"]["currency"]

    def _identity_changed(self, doc: Row) -> None:
        self._currency = doc["data"]["identity"].get("currency", self._currency)

    def _introduced(self, doc: Row) -> None:
        code = doc["data"]["chip_set"]
        values = sorted(int(value) for value in doc["data"]["denominations"])
        found = self._sets[code] = [(f"{self._currency}.{code}.{value}", value) for value in values]
        if self._chips:
            self._open(doc, VAULT_RACKS, found)
        else:
            self._chips = found

    def _put_in_use(self, doc: Row) -> None:
        self._chips = self._sets[doc["data"]["chip_set"]]
        codes = {row["code"] for row in self._rows.of(ACCOUNT).values()}
        self._open(doc, [code for code in codes if CHART[code.partition("/")[0]][3]])

    def _came_back(self, doc: Row, chip_set: str) -> None:
        self._open(doc, _at(("9115", "9170"), doc), self._sets.get(chip_set, []))

    def _open(self, doc: Row, codes: Iterable[str], chips: list[tuple[str, int]] | None = None) -> None:
        held = self._chips if chips is None else chips
        for code in codes:
            name, side, floor, custody, joined = CHART[code.partition("/")[0]]
            for commodity, value in held if custody else [(self._currency, 1)]:
                if self._rows.seek(ACCOUNT, f"{code} {commodity}") is None:
                    self._rows.add(
                        ACCOUNT, f"{code} {commodity}", code=code, commodity=commodity, kind=name, normal_side=side,
                        min_balance=floor, lock_rank=0 if "/" in code else 1, weight=value if joined else 0, lanes=0,
                        parent=None, opened_at=Near(doc["at"]), closed_at=None,
                    )  # fmt: skip

    def _day_opened(self, doc: Row) -> None:
        day = doc["data"]["day"]
        self._rows.add(PERIOD, day, name=day, opened_at=Near(doc["at"]), closed_at=None)

    def _day_closed(self, doc: Row) -> None:
        day, snapshot = doc["data"]["day"], doc["data"].get("snapshot")
        self._rows.change(PERIOD, day, closed_at=Near(doc["at"]))
        if snapshot is not None:
            if snapshot != closing_snapshot(day):
                problem = f"{day} was closed with the snapshot {snapshot}"
                self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", problem)
            self._snapshot(doc, snapshot)

    def _snapshot(self, doc: Row, name: str) -> None:
        self._rows.add(SNAPSHOT, name, name=name, taken_at=Near(doc["at"]))

    def _fill_asked(self, doc: Row) -> None:
        fill = doc["data"]["transfer"]
        if fill.get("reservation"):
            until = datetime.fromisoformat(doc["at"]) + timedelta(seconds=_RESERVED)
            self._rows.add(
                HOLD, _key_of(fill), created_at=Near(doc["at"]), state="pending", ended_at=None,
                expires_at=Near(until.isoformat(timespec="microseconds").replace("+00:00", "Z")),
            )  # fmt: skip

    def _fill_ended(self, doc: Row) -> None:
        """What was set aside for a fill is let go, if its time was not over before."""
        fill = doc["data"]["transfer"]
        row = self._rows.seek(HOLD, _key_of(fill))
        if row is not None and row["state"] == "pending":
            row.update(state=fill["reservation"], ended_at=Near(doc["at"]))

    def _expired(self, doc: Row) -> None:
        """Holds end in this way when their time is over, not before, and once."""
        data, at = doc["data"], Near(doc["at"])
        named = data.get("holds", ())
        if "holds" in data and len(named) != data["hold_count"]:
            problem = f"{data['hold_count']} holds have expired, it names {len(named)}"
            self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", problem)
        for key in named:
            row = self._rows.get(HOLD, key)
            early = doc["at"] < row["expires_at"] and seconds_between(doc["at"], row["expires_at"]) > TOLERANCE
            if row["state"] != "pending" or early:
                problem = f"it was {row['state']} until {row['expires_at']}, and expired at {doc['at']}"
                self._rows.find("state_event_differs", f"{HOLD} {key}", problem)
            row.update(state="expired", ended_at=at)

    def _counted(self, doc: Row) -> None:
        count, drawer = doc["data"]["reconciliation"], doc["chain"].partition("/")[2]
        counted, to = count["counted_withdrawn"], count["handed_to"]
        for code in counted:
            places = [drawer] if to is None else [drawer, to]
            self._open(doc, [f"{number}/{place}" for place in places for number in ("9115", "9170")], self._sets[code])
        metadata = {"drawer": drawer, "shift": count["shift"]}
        self._attest(doc, f"{DRAWER_CASH}/{drawer} {self._currency}", count["counted_cash"], metadata)
        self._attest(doc, f"{FOREIGN_CHIPS}/{drawer} {self._currency}", count["counted_foreign"], metadata)
        pieces = count["counted_pieces"]
        for commodity, value in self._chips:
            self._attest(doc, f"{CAGE_CHIPS}/{drawer} {commodity}", pieces.get(str(value), 0), metadata)
        for code in sorted(counted.keys() | count["expected_withdrawn"].keys()):
            pieces = counted.get(code, {})
            for commodity, value in self._sets[code]:
                self._attest(doc, f"{SET_ASIDE}/{drawer} {commodity}", pieces.get(str(value), 0), metadata)

    def _attest(self, doc: Row, account: str, balance: int, metadata: Mapping[str, object]) -> None:
        number = self._counts[account] = self._counts.get(account, 0) + 1
        self._rows.add(
            ASSERTION, f"{account} {number}", account=account, balance=balance, asserted_at=Near(doc["at"]),
            metadata=metadata,
        )  # fmt: skip


def closing_snapshot(day: str) -> str:
    """The name of the snapshot with which a gaming day is closed."""
    return f"period {day}"


def _key_of(fill: Row) -> str:
    return f"{fill['kind']}:{fill['serial']}"


def _at(numbers: Iterable[str], doc: Row, *who: str) -> list[str]:
    place = doc["chain"].partition("/")[2]
    return ["/".join((number, place, *who)) for number in numbers]
