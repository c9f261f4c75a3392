"""The ledger: what events record of it, against its own transactions and balances."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from .canonical import hash_of, is_made_of, json_text, value_of
from .events import COUNT, TEXT, Event, Parts, Row, place_of, row_of
from .files import LEDGER
from .findings import LAST, Report, Unusable


class _Account:
    """An account on its way through its entries: the version and balance reached, and entries that came early."""

    __slots__ = ("balance", "early", "end", "name", "side", "version")

    def __init__(self, row: Row) -> None:
        self.name: tuple[str, str] = (row["code"], row["commodity"])
        self.side: int = row["normal_side"]
        self.end: tuple[int, int] = (row["version"], row["balance"])
        self.version = self.balance = 0
        self.early: dict[int, tuple[int, int, int]] = {}

    def follows(self, version: int, amount: int, after: int) -> bool:
        """Whether this is simply the next entry."""
        return version == self.version + 1 and after == self.balance + amount * self.side and not self.early


_REMEMBERED = 50_000
WAITING = 10_000
"""So many transactions may be committed while an earlier one is not yet."""
_TAKEN_APART: Row = {}


class Books:
    """What events record of the ledger, against the ledger: each transaction recorded once, leg by leg; balances add
    up.

    Both come nearly in the order of transaction ids, so that only what is out of step has to be kept.
    """

    KEPT = ("_recorded", "_top", "_unrecorded", "_mirrors", "_count", "standing")

    def __init__(
        self, report: Report, accounts: Iterable[Row], transactions: Iterator[Row],
        some: Callable[[Collection[int]], Iterator[Row]],
    ) -> None:  # fmt: skip
        """`transactions` in the order of their ids; `some` gives those of these ids, and may give others, once more."""
        self._report = report
        self._accounts = {row["id"]: _Account(row) for row in accounts}
        self._some = some
        self._stream = transactions
        #: What was read before those that are read now.
        self._known: set[int] = set()
        #: Transaction -> posting, event and its number; nothing as posting where the event is taken apart.
        self._recorded: dict[int, tuple[Row, Event, int]] = {}
        self._top = self._reached = 0
        self._unrecorded: dict[int, Row] = {}
        #: Legs of the last transactions, for mirrors of them.
        self._legs: dict[int, list[list[Any]]] = {}
        self._older: dict[int, list[list[Any]]] = {}
        self._mirrors: dict[int, tuple[list[list[Any]], str, int]] = {}
        self._count = 0
        report.counts["accounts"] = len(self._accounts)

    def record(self, postings: Sequence[Row], doc: Row) -> None:
        """An event records these transactions."""
        for posting in postings:
            number = posting["tx"]
            if type(number) is not int:
                raise TypeError("a transaction is named by its number")
            if number in self._recorded:
                self._report.find(
                    "transaction_recorded_twice", f"transaction {number}", f"{place_of(doc)} records it again"
                )
                continue
            row = self._unrecorded.pop(number, None)
            if row is not None:
                self._compare(row, posting, doc, self._report.now)
            else:
                self._recorded[number] = (posting, doc, self._report.now)
                if number > self._top:
                    self._top = number

    def record_one(self, number: int, recorded: Parts) -> bool:
        """The same of an event that is taken apart; False, and nothing done, for what is not recorded the first time,
        or later than the ledger has it."""
        if number in self._recorded or number in self._unrecorded:
            return False
        self._recorded[number] = _TAKEN_APART, recorded, self._report.now
        if number > self._top:
            self._top = number
        return True

    def advance(self) -> None:
        """Read the ledger as far as events have recorded."""
        while self._reached < self._top:
            row = next(self._stream, None)
            if row is None:
                self._reached = LAST
                return
            self._read(row)

    @property
    def reached(self) -> int:
        """The last transaction that was read."""
        return self._reached

    @property
    def standing(self) -> tuple[int, dict[int, tuple[int, int, dict[int, Any]]], set[int]]:
        """Where somebody goes on: the last transaction that was read; version, balance and early entries of each
        account; and which of the last transactions were read, since one may come to light after a later one."""
        accounts = {one: (known.version, known.balance, known.early) for one, known in self._accounts.items()}
        first = self._reached - WAITING
        return self._reached, accounts, {one for one in (*self._known, *self._older, *self._legs) if one > first}

    @standing.setter
    def standing(self, standing: tuple[int, dict[int, tuple[int, int, dict[int, Any]]], set[int]]) -> None:
        reached, accounts, self._known = standing
        self._reached = max(0, reached - WAITING)
        for one, (version, balance, early) in accounts.items():
            known = self._accounts.get(one)
            if known is not None:
                known.version, known.balance, known.early = version, balance, early
            elif version:
                self._report.find("account_missing", f"account {one}", f"it was at version {version}, and is not there")

    def _read(self, row: Row) -> None:
        number = row["id"]
        if number in self._known:
            return
        if number <= self._reached:
            self._report.find("ledger_out_of_order", f"transaction {number}", f"it follows {self._reached}")
        self._reached = number
        self._count += 1
        row["legs"] = self._legs[number] = self._run(row)
        if len(self._legs) > _REMEMBERED:
            self._legs, self._older = {}, self._legs
        recorded = self._recorded.pop(number, None)
        if recorded is None:
            self._unrecorded[number] = row
        else:
            posting, doc, at = recorded
            if isinstance(doc, dict):
                self._compare(row, posting, doc, at)
            elif not self._is_recorded(row, doc):
                self._compare(row, row_of(doc)["postings"][0], doc, at)

    @staticmethod
    def _is_recorded(row: Row, recorded: Parts) -> bool:
        """Whether a transaction of two legs is what an event that is taken apart records of it."""
        legs = row["legs"]
        if row["about"] != recorded[8] or row["reverses"] is not None or len(legs) != 2:
            return False
        (code, commodity, amount), (other, another, rest) = legs
        if recorded[9] != code or recorded[10] != commodity:  # perhaps the same legs the other way round
            code, commodity, amount, other, another, rest = other, another, rest, code, commodity, amount
        return recorded[9:15] == (code, commodity, str(amount), other, another, str(rest))

    def _run(self, row: Row) -> list[list[Any]]:
        """Run a transaction's entries through their accounts; returns its legs as events record them."""
        legs = row["legs"]
        if len(legs) == 2:
            (one, version, amount, after), (other, their_version, rest, left) = legs
            first, second = self._accounts.get(one), self._accounts.get(other)
            if (
                first is not None
                and second is not None
                and first is not second
                and amount + rest == 0
                and version == first.version + 1
                and after == first.balance + amount * first.side
                and not first.early
                and their_version == second.version + 1
                and left == second.balance + rest * second.side
                and not second.early
            ):
                (code, commodity), (their_code, their_commodity) = first.name, second.name
                if commodity == their_commodity:
                    first.version, first.balance = version, after
                    second.version, second.balance = their_version, left
                    return [[code, commodity, amount], [their_code, commodity, rest]]
        return self._run_each(row)

    def _run_each(self, row: Row) -> list[list[Any]]:
        """The same for legs of which something may be unusual, or wrong."""
        accounts, legs = self._accounts, []
        sums: dict[str, int] = {}
        for account, version, amount, after in row["legs"]:
            known = accounts.get(account)
            if known is None:
                place = f"transaction {row['id']}"
                self._report.find("account_missing", place, f"it has an entry on account {account}, which is not there")
                continue
            code, commodity = known.name
            legs.append([code, commodity, amount])
            sums[commodity] = sums.get(commodity, 0) + amount
            if known.follows(version, amount, after):
                known.version, known.balance = version, after
            else:
                self._enter(known, version, (amount, after, row["id"]))
        if any(sums.values()):
            self._report.find("unbalanced", f"transaction {row['id']}", f"its legs sum to {sums}")
        return legs

    def _enter(self, known: _Account, version: int, entry: tuple[int, int, int]) -> None:
        """An entry that is not simply the next one: it waits for those before it, or it is wrong."""
        if version <= known.version or version in known.early:
            self._entry(known, entry[2], f"is version {version} once more")
            return
        known.early[version] = entry
        self._catch_up(known)

    def _catch_up(self, known: _Account) -> None:
        while (entry := known.early.pop(known.version + 1, None)) is not None:
            amount, after, number = entry
            known.version += 1
            known.balance += amount * known.side
            if after != known.balance:
                self._entry(known, number, f"says {after} after it, its entries give {known.balance}")
                known.balance = after

    def _entry(self, known: _Account, number: int, problem: str) -> None:
        place = f"transaction {number}, account {known.name[0]} {known.name[1]}"
        self._report.find("entry_differs", place, f"the entry {problem}")

    def _compare(self, row: Row, posting: Row, doc: Event, at: int) -> None:
        """A transaction against what an event records of it: usually the same, or the same legs the other way round."""
        same = row["reverses"] is None and posting.get("about") == row["about"]
        if same and (row["legs"] == (legs := posting.get("legs")) or row["legs"][::-1] == legs):
            return
        try:
            self._compare_parts(row, posting, place_of(doc), at)
        except (LookupError, TypeError, ValueError) as error:
            problem = f"{place_of(doc)} records it in a way that cannot be read: {error!r}"
            self._report.find("transaction_differs", f"transaction {row['id']}", problem, at)

    def _compare_parts(self, row: Row, posting: Row, place: str, at: int) -> None:
        number, find = row["id"], self._report.find
        reverses = posting.get("reverses")
        if row["reverses"] != reverses:
            find("transaction_differs", f"transaction {number}",
                 f"it reverses {row['reverses']} in the ledger, {reverses} as {place} records", at)  # fmt: skip
        elif reverses is not None:
            self._mirror(row, reverses, place, at)
        elif sorted(row["legs"]) != sorted(recorded := posting["legs"]):
            find(
                "transaction_differs",
                f"transaction {number}",
                f"{_difference(recorded, row['legs'])} ({place} records it)",
                at,
            )
        if posting.get("about") != row["about"]:
            find("transaction_differs", f"transaction {number}",
                 f"key, kind, metadata or a moment of it is not what {place} records", at)  # fmt: skip

    def _mirror(self, row: Row, reverses: int, place: str, at: int) -> None:
        negated = sorted([code, commodity, -amount] for code, commodity, amount in row["legs"])
        legs = self._legs.get(reverses) or self._older.get(reverses)
        original = sorted(legs) if legs is not None else None
        if original is None:
            self._mirrors[reverses] = (negated, f"transaction {row['id']} ({place})", at)
        elif original != negated:
            self._report.find(
                "mirror_differs", f"transaction {row['id']}", f"it is no mirror of {reverses} ({place})", at
            )

    def finish(self) -> None:
        """Read the rest of the ledger, and see that nothing is left over on either side."""
        for row in self._stream:
            self._read(row)
        self._report.counts["transactions"] = self._count
        self._look_up_mirrors()
        for number, (_, doc, at) in sorted(self._recorded.items()):
            place = place_of(doc)
            self._report.find("transaction_missing", f"transaction {number}",
                              f"{place} records it; the ledger does not have it, or it was recorded before",
                              at)  # fmt: skip
        for number in sorted(self._unrecorded):
            self._report.find(
                "transaction_unrecorded", f"transaction {number}", "the ledger has it, and no event records it"
            )
        for known in self._accounts.values():
            self._end(known)

    def _look_up_mirrors(self) -> None:
        if not self._mirrors:
            return
        for row in self._some(self._mirrors.keys()):
            if row["id"] in self._mirrors:
                negated, place, at = self._mirrors.pop(row["id"])
                legs = sorted([*self._accounts[account].name, amount] for account, _, amount, _ in row["legs"])
                if legs != negated:
                    self._report.find("mirror_differs", place, f"it is no mirror of {row['id']}", at)
        for reverses, (_, place, at) in self._mirrors.items():
            self._report.find("mirror_differs", place, f"the ledger has no transaction {reverses} to reverse", at)

    def _end(self, known: _Account) -> None:
        place = f"account {known.name[0]} {known.name[1]}"
        if known.early:
            lost = f"entry {known.version + 1} is missing, {min(known.early)} is there"
            self._report.find("entry_missing", place, lost, at=LAST - 1)
        elif (known.version, known.balance) != known.end:
            problem = (
                f"it holds {known.end[1]} at version {known.end[0]}; "
                f"its entries give {known.balance} at version {known.version}"
            )
            self._report.find("balance_differs", place, problem, at=LAST - 1)


def about_of(fields: Sequence[Any]) -> str:
    """What events record of a transaction besides its legs, as one hash (SHA-256, 64 hex digits): of key, kind,
    metadata, and the moments when it happened, if that was said, and when it was posted."""
    return hash_of(fields)


def _difference(recorded: list[list[Any]], legs: list[list[Any]]) -> str:
    only_recorded = Counter(map(json_text, recorded)) - Counter(map(json_text, legs))
    only_there = Counter(map(json_text, legs)) - Counter(map(json_text, recorded))
    return f"recorded {_some(only_recorded)}, in the ledger {_some(only_there)}"


def _some(legs: Counter[str]) -> str:
    return f"[{', '.join([*legs.elements()][:_SHOWN])}{', ...' if legs.total() > _SHOWN else ''}]"


#: Legs that a finding names.
_SHOWN = 20
_ENTRY = rf"{COUNT},{COUNT},-?{COUNT},(?:0|-?{COUNT})"
_VALUE = rf'(?:"{TEXT}"|0|-?{COUNT}|true|false|null)'
_METADATA = rf'\{{((?:"{TEXT}":{_VALUE}(?:,"{TEXT}":{_VALUE})*)?)\}}'
#: A transaction with flat metadata that reverses nothing, as nearly all are, taken apart without a reader of JSON. A
#: line that matches is canonical, if the keys of its metadata are in their order.
_POSTED = re.compile(
    rf'^(?:\{{"about":(\["{TEXT}","{TEXT}",{_METADATA},(?:null|"{TEXT}"),"{TEXT}"\]),"id":({COUNT}),'
    rf'"legs":\[\[({_ENTRY}(?:\],\[{_ENTRY})*)\]\],"reverses":null\}}|.*)$',
    re.MULTILINE,
).findall
_KEYS = re.compile(rf'"({TEXT})":{_VALUE}(?:,|$)').findall
_TRANSACTION = {"about": list, "id": int, "legs": list}


def transactions_of(portions: Iterable[list[bytes]]) -> Iterator[Row]:
    """The ledger's transactions from their lines, with the hash of `about` instead of it. Raises Unusable."""
    for lines in portions:
        try:
            found = _POSTED(b"\n".join(lines).decode())
        except UnicodeDecodeError as error:
            raise Unusable(f"{LEDGER} cannot be read: {error}") from error
        if len(found) != len(lines):
            raise Unusable(f"{LEDGER} cannot be read: it has line ends within lines")
        for (about, metadata, number, legs), line in zip(found, lines, strict=True):
            if about and (',"' not in metadata or _in_order(_KEYS(metadata))):
                numbers = [*map(int, legs.replace("],[", ",").split(","))]
                entries = [numbers[:4], numbers[4:]]
                if len(numbers) != 8:
                    entries = [numbers[at : at + 4] for at in range(0, len(numbers), 4)]
                hashed = hashlib.sha256(about.encode()).hexdigest()
                yield {"about": hashed, "id": int(number), "legs": entries, "reverses": None}
            else:
                yield _transaction(line)


def _in_order(keys: list[str]) -> bool:
    return all(one < other for one, other in pairwise(keys))


def _transaction(line: bytes) -> Row:
    try:
        row = value_of(line, fractions=True)
    except ValueError as error:
        raise Unusable(f"{LEDGER} cannot be read: {error}: {_beginning(line)}") from error
    types = _TRANSACTION | {"reverses": int if type(row) is dict and row.get("reverses") is not None else type(None)}
    if not is_made_of(row, types) or not all(
        type(leg) is list and [type(number) for number in leg] == [int] * 4 for leg in row["legs"]
    ):
        problem = "a transaction is about, id, legs of four numbers, reverses"
        raise Unusable(f"{LEDGER} cannot be read: {problem}, not {_beginning(line)}")
    found: Row = row | {"about": about_of(row["about"])}
    return found


def _beginning(line: bytes) -> str:
    return line[:200].decode(errors="replace")
