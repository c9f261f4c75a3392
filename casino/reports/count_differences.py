"""Where counts and books differ: by place, denomination and time, with what moved there in between.

The proof of a place has three sides. The count before says what people found there, the entries since then say what
came and went, and the books say what must lie there now. A count that finds something else names the difference by
denomination, and the time in which it arose: since the count before. `unexplained` is what the first two sides do not
explain of the third; it is zero unless somebody went past the guards.

Counts: drawers when their shift ended (the count before is the float), trays that were confirmed, boxes that were
received (the count before is the empty box), the vault.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import F, Max, Q

from casino.audit.models import Event
from casino.bookkeeping.accounts import VAULT, Account
from casino.bookkeeping.chart import commodity
from casino.cage.models import Handover, HandoverState, Shift, VaultCount, VaultCountState
from casino.chips.models import ChipSet
from casino.core import sql
from casino.houses.models import House
from casino.transfers.boxes import ACCOUNTS, RECEIVED
from casino.transfers.models import Box, BoxKind, BoxState, TrayCount, TrayCountState

#: How many counts that differ are named at most.
MOST = 50


class PlaceKind(StrEnum):
    """Where something is counted."""

    TRAY = "tray"
    DRAWER = "drawer"
    BOX = "box"
    VAULT = "vault"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which counts: of one kind of place, of one place, made between two moments."""

    kind: PlaceKind | None = None
    place: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, count: "_Count") -> bool:
        """Whether a count is asked for."""
        return (
            self.place in (None, count.place)
            and (self.since is None or count.at >= self.since)
            and (self.until is None or count.at < self.until)
        )


@dataclass(frozen=True, slots=True, order=True)
class _Unit:
    """An account of one commodity, whose units a count names: pieces of a denomination, or minor units of money."""

    code: str
    commodity: str
    what: str = field(compare=False)
    denomination: int | None = field(compare=False, default=None)


#: Pieces or minor units by account.
_Figures = Mapping[_Unit, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Count:
    """One count: what was found before, what the books had, what was counted; `before` is None where nothing was
    counted earlier. Entries after `since` until `books_at` moved what the books had; those of `own` kinds are what
    counts of this place have posted, and are not movements."""

    kind: PlaceKind
    place: str
    number: int
    previous: int | None
    since: datetime | None
    at: datetime
    books_at: datetime
    before: _Figures
    expected: _Figures
    counted: _Figures
    own: tuple[str, ...]

    def differing(self) -> list[_Unit]:
        """Where the count is not what the books had."""
        units = self.expected.keys() | self.counted.keys()
        return sorted(unit for unit in units if self.expected.get(unit, 0) != self.counted.get(unit, 0))


def differences(house: House, wanted: Wanted) -> dict[str, Any]:
    """The counts asked for that differ from the books, the newest first, at most MOST, and whether there are `more`."""
    sets = _Sets(house)
    found = [
        count
        for kind, counts in _COUNTS.items()
        if wanted.kind in (None, kind)
        for count in counts(house, sets)
        if wanted.takes(count) and count.differing()
    ]
    found.sort(key=lambda count: count.at, reverse=True)
    return {"counts": [_described(house, count) for count in found[:MOST]], "more": len(found) > MOST}


# --- Counts ---------------------------------------------------------------------------------------------------------


class _Sets:
    """Which chip set was in use when."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.sets = list(ChipSet.objects.filter(house=house).order_by("introduced_at", "id"))

    def at(self, moment: datetime) -> str:
        """Code of the set that was in use at a moment."""
        used = [one.code for one in self.sets if one.withdrawn_at is None or one.withdrawn_at > moment]
        return used[0] if used else self.sets[-1].code

    def rack(self, code: str, chip_set: str, pieces: Mapping[str, int] | None) -> dict[_Unit, int]:
        """Pieces of one set in a rack."""
        return {
            _Unit(code, commodity(self.house, chip_set, int(value)), "chips", int(value)): count
            for value, count in (pieces or {}).items()
        }

    def money(self, code: str, what: str, amount: int | None) -> dict[_Unit, int]:
        """Cash, or the face value of chips of other houses, in minor units."""
        return {_Unit(code, self.house.currency, what): amount or 0}


def _trays(house: House, sets: _Sets) -> Iterator[_Count]:
    found = TrayCount.objects.filter(house=house, state=TrayCountState.CONFIRMED).select_related("table")
    before: dict[int, TrayCount] = {}
    for one in found.order_by("counted_at", "id"):
        last, code = before.get(one.table_id), one.table.account(Account.TRAY)
        before[one.table_id] = one
        chip_set = sets.at(one.counted_at)
        yield _Count(
            kind=PlaceKind.TRAY, place=one.table.code, number=one.serial, own=("tray.counted",),
            previous=last.serial if last else None, since=last.counted_at if last else None,
            at=one.counted_at, books_at=one.counted_at,
            before=sets.rack(code, chip_set, last.pieces if last else None),
            expected=sets.rack(code, chip_set, one.expected), counted=sets.rack(code, chip_set, one.pieces),
        )  # fmt: skip


#: Kinds of postings by which a drawer gets its float and is emptied.
_OF_SHIFTS = ("drawer.opened", "drawer.reopened", "drawer.closed")


def _drawers(house: House, sets: _Sets) -> Iterator[_Count]:
    changed = ~Q(expected_cash=F("counted_cash")) | ~Q(expected_pieces=F("counted_pieces"))
    changed |= ~Q(expected_foreign=F("counted_foreign")) | ~Q(expected_withdrawn=F("counted_withdrawn"))
    for one in Shift.objects.filter(changed, house=house, closed_at__isnull=False).select_related("drawer"):
        at = one.counted_at
        if at is None:
            raise AssertionError(f"shift {one} was closed and not counted")
        yield _Count(
            kind=PlaceKind.DRAWER, place=one.drawer.code, number=one.number, own=_OF_SHIFTS,
            previous=None, since=one.opened_at, at=one.recounted_at or at, books_at=at,
            before=_shift(sets, one, one.float_cash, one.float_pieces, *_taken_over(one)),
            expected=_shift(
                sets, one, one.expected_cash, one.expected_pieces, one.expected_foreign, one.expected_withdrawn
            ),
            counted=_shift(
                sets, one, one.counted_cash, one.counted_pieces, one.counted_foreign, one.counted_withdrawn
            ),
        )  # fmt: skip


def _taken_over(shift: Shift) -> tuple[int, dict[str, dict[str, int]]]:
    """Chips of other houses and of withdrawn sets with which a shift began, because it took another drawer over."""
    before = Shift.objects.filter(drawer=shift.drawer_id, number__lt=shift.number).order_by("-number").first()
    found = Handover.objects.filter(
        house=shift.house_id, to_drawer=shift.drawer_id, state=HandoverState.TAKEN, ended_at__lte=shift.opened_at
    )
    if before is not None:
        found = found.filter(ended_at__gt=before.closed_at)
    taken = found.order_by("-ended_at").first()
    return (0, {}) if taken is None else (taken.foreign, taken.withdrawn)


def _shift(
    sets: _Sets, shift: Shift, cash: int | None, pieces: Any, foreign: int | None, withdrawn: Any
) -> dict[_Unit, int]:
    account = shift.drawer.account
    found = sets.money(account(Account.DRAWER_CASH), "cash", cash)
    found |= sets.rack(account(Account.CAGE_CHIPS), sets.at(shift.counted_at or shift.opened_at), pieces)
    found |= sets.money(account(Account.FOREIGN_CHIPS), "foreign", foreign)
    for code, held in (withdrawn or {}).items():
        found |= sets.rack(account(Account.SET_ASIDE), code, held)
    return found


def _boxes(house: House, sets: _Sets) -> Iterator[_Count]:
    """What falls while no box is at the table is in the next one: it holds what came since the last was taken off."""
    found = Box.objects.filter(house=house, taken_at__isnull=False).select_related("table")
    before: dict[tuple[int, str], Box] = {}
    for one in found.annotate(counted_at=Max("counts__counted_at")).order_by("taken_at", "id"):
        last = before.get((one.table_id, one.kind))
        before[one.table_id, one.kind] = one
        if one.state != BoxState.RECEIVED or one.taken_at is None or one.received_at is None:
            continue
        yield _Count(
            kind=PlaceKind.BOX, place=one.table.code, number=one.serial, own=(RECEIVED,),
            previous=last.serial if last else None, since=last.taken_at if last else None,
            at=one.counted_at or one.received_at,
            books_at=one.taken_at, before={},
            expected=_box(sets, one, one.expected_cash, one.expected_pieces),
            counted=_box(sets, one, one.counted_cash, one.counted_pieces),
        )  # fmt: skip


def _box(sets: _Sets, box: Box, cash: int | None, pieces: Any) -> dict[_Unit, int]:
    """Cash among chips, and chips among cash, belong to no account of the box: nothing of them was expected."""
    for_cash, for_chips = ACCOUNTS[BoxKind(box.kind)]
    moment = box.taken_at or box.put_at
    found = sets.money(box.table.account(for_cash or Account.DROP_CASH), "cash", cash)
    return found | sets.rack(box.table.account(for_chips or Account.TAX_BOX), sets.at(moment), pieces)


def _vault(house: House, sets: _Sets) -> Iterator[_Count]:
    last: VaultCount | None = None
    since: datetime | None = None
    found = VaultCount.objects.filter(house=house, state=VaultCountState.ACCEPTED)
    for one in found.annotate(entered_at=Max("entries__counted_at")).select_related("house").order_by("number"):
        at = _decided_at(one) if one.decided_by_id is not None else one.entered_at
        chip_set, over = sets.at(at), one.over
        counted, differs = _in_vault(sets, chip_set, one.count), _in_vault(sets, chip_set, over)
        yield _Count(
            kind=PlaceKind.VAULT, place=VAULT, number=one.number, own=("vault.count_signed_off",),
            previous=last.number if last else None, since=since, at=at, books_at=at,
            before=_in_vault(sets, chip_set, last.count) if last else {},
            expected={unit: counted.get(unit, 0) - differs.get(unit, 0) for unit in counted.keys() | differs.keys()},
            counted=counted,
        )  # fmt: skip
        last, since = one, at


def _in_vault(sets: _Sets, chip_set: str, held: Any) -> dict[_Unit, int]:
    found = sets.money(Account.VAULT_CASH, "cash", held["cash"])
    found |= sets.rack(Account.VAULT_CHIPS, chip_set, held["pieces"])
    return found | sets.money(f"{Account.FOREIGN_CHIPS}/{VAULT}", "foreign", held["foreign"])


def _decided_at(count: VaultCount) -> datetime:
    """When a supervisor said what is in the vault: the books of that moment are compared."""
    house = count.house
    chain = Event.objects.filter(house=house, chain__house=house, chain__name=house.chain)
    decided: Event = chain.get(doc__kind="vault.count_decided", doc__data__vault_count__vault_count=count.number)
    return datetime.fromisoformat(decided.doc["at"])


_COUNTS = {
    PlaceKind.TRAY: _trays,
    PlaceKind.DRAWER: _drawers,
    PlaceKind.BOX: _boxes,
    PlaceKind.VAULT: _vault,
}


# --- Movements ------------------------------------------------------------------------------------------------------

#: By account and kind of transaction: how many, and what came in and went out, on the account's normal side.
_MOVED = """
SELECT account.code, account.commodity, posted.kind, count(DISTINCT posted.id),
    coalesce(sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side > 0), 0)::bigint,
    coalesce(-sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side < 0), 0)::bigint
FROM ledger_account account JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction posted ON posted.id = entry.transaction_id
WHERE account.book = %s AND account.code = ANY(%s) AND account.commodity = ANY(%s)
    AND (%s::timestamptz IS NULL OR posted.posted_at > %s) AND posted.posted_at <= %s AND posted.kind <> ALL(%s)
GROUP BY account.code, account.commodity, posted.kind ORDER BY account.code, account.commodity, posted.kind
"""


def _described(house: House, count: _Count) -> dict[str, Any]:
    units = count.differing()
    moved = _moved(house, count, units)
    return {
        "kind": count.kind.value,
        "place": count.place,
        "count": count.number,
        "previous_count": count.previous,
        "since": count.since,
        "until": count.at,
        "differences": [_difference(count, unit, moved.get((unit.code, unit.commodity), [])) for unit in units],
    }


def _moved(house: House, count: _Count, units: Iterable[_Unit]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Movements between the two counts by account, each kind of transaction once."""
    codes, commodities = ([getattr(unit, name) for unit in units] for name in ("code", "commodity"))
    rows = sql.rows(
        _MOVED, [house.id, codes, commodities, count.since, count.since, count.books_at, list(count.own)]
    )  # fmt: skip
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for code, held, kind, number, came, went in rows:
        found.setdefault((code, held), []).append({"kind": kind, "number": number, "came": came, "went": went})
    return found


def _difference(count: _Count, unit: _Unit, moved: list[dict[str, Any]]) -> dict[str, Any]:
    came, went = sum(one["came"] for one in moved), sum(one["went"] for one in moved)
    before, expected, counted = (
        figures.get(unit, 0) for figures in (count.before, count.expected, count.counted)
    )  # fmt: skip
    return {
        "what": unit.what,
        "commodity": unit.commodity,
        "denomination": unit.denomination,
        "before": before,
        "came": came,
        "went": went,
        "expected": expected,
        "counted": counted,
        "difference": counted - expected,
        "unexplained": expected - (before + came - went),
        "movements": moved,
    }
