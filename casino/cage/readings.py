"""X readings and Z slips: what a shift has moved, kind by kind, and what the drawer must hold after it.

Both are read from the drawer's own chain of events, from the opening of the shift to its closing, and from the entries
of the postings that those events record. Sums that must be equal are computed and shown with them. Amounts are minor
units; `cash_in`, `chips_in` and so on are what came into the drawer, never below zero.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from django.db.models import F

from casino.audit.events import AuditEvent
from casino.audit.events.cage import DrawerXRead
from casino.audit.models import Event
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.cage import selectors
from casino.cage.blind import CONTENTS
from casino.cage.models import Drawer, Shift
from casino.cage.services import AtDrawer, require_shift
from casino.cage.signing import require_another
from casino.cage.variances import explained
from casino.cage.vault_selectors import corrected_by
from casino.core import write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.work import Outcome, Work

#: What two sums that must be equal are of: minor units, pieces of chips, anything else.
MONEY, PIECES, COUNT = "money", "pieces", "count"
_OPENED = ("drawer.opened", "drawer.reopened")
_BESIDE = "chips.withdrawn_set_aside"
_CLOSED, _READ, _REFUSED = "drawer.closed", "drawer.x_read", "attempt.refused"
#: Account code and commodity.
Place = tuple[str, str]


@dataclass(slots=True)
class Moved:
    """What came into a drawer, or, below zero, went out: cash and chips of other houses in minor units, pieces by
    denomination, and those of withdrawn sets by set and denomination."""

    cash: int = 0
    foreign: int = 0
    pieces: dict[int, int] = field(default_factory=dict)
    withdrawn: dict[tuple[str, int], int] = field(default_factory=dict)

    def add(self, number: str, commodity: str, amount: int) -> None:
        """One entry of an account of the drawer."""
        if number == Account.DRAWER_CASH:
            self.cash += amount
        elif number == Account.FOREIGN_CHIPS:
            self.foreign += amount
        elif number == Account.SET_ASIDE:
            key = (chart.set_of(commodity), chart.face_value(commodity))
            self.withdrawn[key] = self.withdrawn.get(key, 0) + amount
        else:
            value = chart.face_value(commodity)
            self.pieces[value] = self.pieces.get(value, 0) + amount

    def join(self, other: "Moved") -> None:
        """Add another one."""
        self.cash, self.foreign = self.cash + other.cash, self.foreign + other.foreign
        for value, count in other.pieces.items():
            self.pieces[value] = self.pieces.get(value, 0) + count
        for key, count in other.withdrawn.items():
            self.withdrawn[key] = self.withdrawn.get(key, 0) + count

    @property
    def chips(self) -> int:
        """Worth of the pieces."""
        return sum(value * count for value, count in self.pieces.items())

    def as_json(self) -> dict[str, Any]:
        """As answers have it."""
        named = {str(value): count for value, count in sorted(self.pieces.items(), reverse=True) if count}
        withdrawn: dict[str, dict[str, int]] = {}
        for (chip_set, value), count in sorted(self.withdrawn.items(), key=lambda item: (item[0][0], -item[0][1])):
            if count:
                withdrawn.setdefault(chip_set, {})[str(value)] = count
        money = {"cash": self.cash, "chips": self.chips, "foreign": self.foreign}
        return money | {"pieces": named, "withdrawn": withdrawn}


@dataclass(slots=True)
class Kind:
    """All events of one kind in a shift: how many have moved something, in and out, and the numbers of their transfers,
    handovers or counts."""

    count: int = 0
    into: Moved = field(default_factory=Moved)
    out: Moved = field(default_factory=Moved)
    net: Moved = field(default_factory=Moved)
    serials: list[int] = field(default_factory=list)


class XReading(AtDrawer):
    """A drawer as the subject of a reading: from any terminal of the house, and its version stays."""

    def open(self, command: Command) -> Drawer:
        """Lock the drawer, so that nothing moves while it is read. Raises NotFound."""
        return self.locked(command)

    def advance(self, drawer: Drawer, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """The same version."""
        return drawer.version, outcome.event

    def answer(self, drawer: Drawer, outcome: Outcome) -> dict[str, Any]:
        """The reading."""
        return dict(outcome.body)


def read_x(*, command: Command, code: str) -> Answer:
    """Read what an open drawer must hold; the reading is numbered and recorded. Raises Conflict drawer_closed,
    Forbidden four_eyes for those who have opened or counted the drawer: they count without knowing."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        shift = require_shift(drawer)
        require_another(command, "opened or counted this drawer", shift.opened_by, shift.counted_by)
        drawer.x_readings += 1
        Drawer.objects.filter(id=drawer.pk).update(x_readings=F("x_readings") + 1)
        read = ShiftRead(drawer, shift)
        held = _held(drawer)
        body = {
            "x_reading": drawer.x_readings,
            **read.as_json(),
            "expected": held.as_json(),
            "equalities": _equalities("float and movements = balance in the ledger", read.total(), held),
        }
        return Outcome(DrawerXRead(x_reading=drawer.x_readings, shift=shift.number), body, 201)

    return write.write(command, XReading(code), change)


def readers(drawer: Drawer, shift: Shift) -> set[str]:
    """Logins of those who have read what the drawer must hold in this shift."""
    found = chain(drawer).filter(doc__kind=_READ, doc__data__shift=shift.number)
    return {doc["actor"] for doc in found.values_list("doc", flat=True)}


def z_slip(drawer: Drawer, number: int) -> dict[str, Any]:
    """The Z slip of a shift that has ended: everything that it moved, its counts, who signed, and the sums that must be
    equal. Raises NotFound, Conflict drawer_not_closed."""
    shift = Shift.objects.filter(drawer=drawer, number=number).select_related(
        "drawer", "handed_to", "opened_by", "counted_by", "recounted_by", "closed_by"
    ).first()  # fmt: skip
    if shift is None:
        raise NotFound(f"Drawer {drawer.code} has no shift {number}.")
    if shift.closed_at is None:
        raise Conflict(f"Shift {number} of drawer {drawer.code} has not ended.", code="drawer_not_closed")
    read = ShiftRead(drawer, shift)
    return {
        "z": number,
        **read.as_json(),
        **selectors.shift(shift),
        "variance": shift_variance(shift),
        "explained": explained(drawer.house, drawer, number),
        "corrected_by": corrected_by(drawer.house, drawer.code, number),
        "assertions": read.assertions(),
        "previous": read.previous(),
        "equalities": read.equalities(),
    }


def shift_variance(shift: Shift) -> int:
    """What a shift's accepted count found over or short altogether, in minor units."""
    pairs = (
        (shift.counted_cash, shift.expected_cash),
        (shift.counted_chips, shift.expected_chips),
        (shift.counted_foreign, shift.expected_foreign),
    )
    return sum((counted or 0) - (expected or 0) for counted, expected in pairs) + shift.withdrawn_variance


# --- Parts ----------------------------------------------------------------------------------------------------------


def chain(drawer: Drawer) -> Any:
    """All events of a drawer."""
    return Event.objects.filter(house=drawer.house, chain__house=drawer.house, chain__name=drawer.chain)


def opening(drawer: Drawer, shift: Shift) -> Event:
    """The event that opened a shift."""
    found: Event = openings(drawer, shift).get()
    return found


def openings(drawer: Drawer, shift: Shift) -> Any:
    """The same, as a query."""
    return chain(drawer).filter(doc__kind__in=_OPENED, doc__data__shift=shift.number)


def _held(drawer: Drawer) -> Moved:
    """What the drawer must hold now, by the ledger."""
    cash, rack, foreign, set_aside = map(drawer.account, CONTENTS)
    held = chart.at(drawer.house, [cash, rack, foreign, set_aside])
    withdrawn = {
        (code, value): count
        for code, chips in chart.by_set(held.get(set_aside, {})).items()
        for value, count in chips.pieces.items()
    }
    pieces: dict[int, int] = {}
    for commodity, count in held.get(rack, {}).items():
        pieces[chart.face_value(commodity)] = pieces.get(chart.face_value(commodity), 0) + count
    money = drawer.house.currency
    return Moved(held[cash][money], held[foreign][money], pieces, withdrawn)


def _place(event: Event) -> dict[str, Any]:
    return {"seq": event.seq, "hash": event.leaf_hash}


class ShiftRead:
    """The events of a shift, and the entries of what they posted; `before`: only the events under this number of the
    chain, as an X reading has seen them."""

    def __init__(self, drawer: Drawer, shift: Shift, *, before: int | None = None) -> None:
        self.drawer, self.shift = drawer, shift
        opened = opening(drawer, shift)
        events = chain(drawer).filter(seq__gte=opened.seq).order_by("seq")
        self.closing: Event | None = None
        if before is not None:
            events = events.filter(seq__lt=before)
        elif shift.closed_at is not None:
            self.closing = chain(drawer).filter(
                doc__kind=_CLOSED, doc__data__reconciliation__shift=shift.number
            ).get()  # fmt: skip
            events = events.filter(seq__lte=self.closing.seq)
        self.events = list(events)
        #: The number of the event that ends the time of what is read; None: nothing does.
        end = before if self.closing is None else self.closing.seq
        self.beside = self._beside(opened, end)
        self.legs = self._read_legs([*self.events, *self.beside])
        self.kinds = self._by_kind()

    def _beside(self, opened: Event, end: int | None) -> list[Event]:
        """Events of the house's chain that took something out of the drawer meanwhile: withdrawn chips that it had
        taken back, and that were put aside in the vault."""
        found = Event.objects.filter(house=self.drawer.house, doc__kind=_BESIDE, id__gt=opened.pk)
        if end is not None:
            found = found.filter(id__lt=chain(self.drawer).get(seq=end).pk)
        return list(found.filter(doc__data__move__drawer=self.drawer.code).order_by("id"))

    def _read_legs(self, events: Iterable[Event]) -> Mapping[int, list[tuple[str, str, int]]]:
        """Code, commodity and amount (debits above zero) of every entry, by ledger transaction."""
        posted = [tx for event in events for tx in _transactions(event)]
        found: dict[int, list[tuple[str, str, int]]] = {tx: [] for tx in posted}
        for tx, code, commodity, amount in books.entries(self.drawer.house, posted):
            found[tx].append((code, commodity, amount))
        return found

    def _moved(self, event: Event) -> Moved:
        """What an event has moved in the drawer."""
        own = {self.drawer.account(number): str(number) for number in CONTENTS}
        moved = Moved()
        for tx in _transactions(event):
            for code, commodity, amount in self.legs[tx]:
                if code in own:
                    moved.add(own[code], commodity, amount)
        return moved

    def _by_kind(self) -> dict[str, Kind]:
        kinds: dict[str, Kind] = {}
        for event in (*self.events, *self.beside):
            if event.doc["kind"] == _CLOSED or not _transactions(event):
                continue
            kind, moved = kinds.setdefault(event.doc["kind"], Kind()), self._moved(event)
            kind.count += 1
            kind.net.join(moved)
            for side, sign in ((kind.into, 1), (kind.out, -1)):
                side.join(_only(moved, sign))
            kind.serials += _serial(event.doc["data"])
        return kinds

    def total(self) -> Moved:
        """Float and all movements: what the drawer must hold."""
        total = Moved()
        for kind in self.kinds.values():
            total.join(kind.net)
        return total

    def as_json(self) -> dict[str, Any]:
        """What both kinds of reading show."""
        refused = sum(event.doc["kind"] == _REFUSED for event in self.events)
        return {
            "drawer": self.drawer.code,
            "shift": self.shift.number,
            "opened_at": self.shift.opened_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            "opened_by": self.shift.opened_by.login,
            "float_cash": self.shift.float_cash,
            "float_pieces": self.shift.float_pieces,
            "movements": [_row(name, kind) for name, kind in sorted(self.kinds.items())],
            "refused_count": refused,
            "first_event": _place(self.events[0]),
            "last_event": _place(self.events[-1]),
        }

    def assertions(self) -> list[dict[str, Any]]:
        """What the ledger keeps of the accepted count."""
        of = {"drawer": self.drawer.code, "shift": self.shift.number}
        return [
            {"account": code, "commodity": commodity, "balance": balance}
            for code, commodity, balance in sorted(
                books.attested(self.drawer.house, of), key=lambda row: (row[0], chart.face_value(row[1]))
            )
        ]

    def previous(self) -> dict[str, Any] | None:
        """The Z slip before, and the event that closed its shift; None for a drawer's first."""
        before = self._closing_before()
        return None if before is None else {"z": self.shift.number - 1, **_place(before)}

    def _closing_before(self) -> Event | None:
        found: Event | None = chain(self.drawer).filter(
            doc__kind=_CLOSED, doc__data__reconciliation__shift=self.shift.number - 1
        ).first()  # fmt: skip
        return found

    def equalities(self) -> list[dict[str, Any]]:
        """The sums of a Z slip that must be equal."""
        shift, total = self.shift, self.total()
        expected = Moved(
            shift.expected_cash or 0,
            shift.expected_foreign or 0,
            {int(value): count for value, count in (shift.expected_pieces or {}).items()},
            _by_set(shift.expected_withdrawn),
        )
        accepted = Moved(
            shift.counted_cash or 0,
            shift.counted_foreign or 0,
            {int(value): count for value, count in (shift.counted_pieces or {}).items()},
            _by_set(shift.counted_withdrawn),
        )
        return [
            *_equalities("float and movements = expected", total, expected),
            *_equalities("accepted count = balance asserted in the ledger", accepted, self._asserted()),
            *self._variances(expected, accepted),
            *_equalities(f"accepted count = {self._where_to()}", accepted, self._returned()),
            *_equalities("rest in the drawer = nothing", self._rest(total), Moved()),
            _equal("postings between this Z slip and the one before = none", self._between(), 0, COUNT),
        ]

    def _asserted(self) -> Moved:
        moved = Moved()
        for row in self.assertions():
            moved.add(row["account"].partition("/")[0], row["commodity"], row["balance"])
        return moved

    def _closing_legs(self) -> list[tuple[str, str, int]]:
        transactions = _transactions(self.closing) if self.closing is not None else []
        return [leg for tx in transactions for leg in self.legs[tx]]

    def _variances(self, expected: Moved, accepted: Moved) -> list[dict[str, Any]]:
        sums: dict[str, int] = {}
        for code, _, amount in self._closing_legs():
            sums[code] = sums.get(code, 0) + amount
        cash, chips, owed = (
            sums.get(self.drawer.account(number), 0)
            for number in (Account.CASH_OVER_SHORT, Account.CHIP_OVER_SHORT, Account.CHIPS_UNATTRIBUTED)
        )
        money = accepted.cash - expected.cash + accepted.foreign - expected.foreign
        found = accepted.chips - expected.chips + self.shift.withdrawn_variance
        return [
            _equal("variance of cash and chips of other houses = 5200", money, -cash, MONEY),
            _equal("variance of chips = 5210", found, -chips, MONEY),
            _equal("variance of chips = 2015", found, owed, MONEY),
        ]

    def _where_to(self) -> str:
        to = self.shift.handed_to
        return "returned to the vault" if to is None else f"handed over to {to.code}"

    def _returned(self) -> Moved:
        to = self.shift.handed_to
        into = {
            str(Account.VAULT_CASH): Account.DRAWER_CASH,
            str(Account.VAULT_CHIPS): Account.CAGE_CHIPS,
            f"{Account.FOREIGN_CHIPS}/vault": Account.FOREIGN_CHIPS,
            str(Account.SET_ASIDE): Account.SET_ASIDE,
        }
        if to is not None:
            into = {to.account(number): number for number in into.values()}
        moved = Moved()
        for code, commodity, amount in self._closing_legs():
            if code in into:
                moved.add(into[code], commodity, amount)
        return moved

    def _rest(self, total: Moved) -> Moved:
        rest = Moved()
        rest.join(total)
        if self.closing is not None:
            rest.join(self._moved(self.closing))
        return rest

    def _between(self) -> int:
        """How many events between the closing of the shift before and the opening of this one have posted."""
        before = self._closing_before()
        events = chain(self.drawer).filter(seq__lt=self.events[0].seq, seq__gt=before.seq if before else 0)
        return int(events.filter(doc__has_key="postings").count())


def _transactions(event: Event) -> list[int]:
    """The ledger transactions of an event: those that it records, and that by which a drawer was taken over, which the
    closing of the other one records."""
    taken = event.doc["data"].get("taken_from") if event.doc["kind"] in _OPENED else None
    return [posting["tx"] for posting in event.doc.get("postings", ())] + ([taken["posting"]] if taken else [])


def _by_set(withdrawn: Mapping[str, Mapping[str, int]] | None) -> dict[tuple[str, int], int]:
    """Pieces of withdrawn sets as a shift's row has them, by set and denomination."""
    found = withdrawn or {}
    return {(code, int(value)): count for code, pieces in found.items() for value, count in pieces.items()}


def _only(moved: Moved, sign: int) -> Moved:
    """What of it came in (sign 1) or went out (-1), above zero."""
    return Moved(
        max(sign * moved.cash, 0),
        max(sign * moved.foreign, 0),
        {value: sign * count for value, count in moved.pieces.items() if sign * count > 0},
        {key: sign * count for key, count in moved.withdrawn.items() if sign * count > 0},
    )


def _serial(data: Mapping[str, Any]) -> list[int]:
    """The number of the transfer, handover, count or movement that an event is about."""
    for name, number in (("transfer", "serial"), ("handover", "handover"), ("soft_count", "serial"), ("move", "move")):
        found = data.get(name)
        if isinstance(found, Mapping):
            return [int(found[number])]
    return []


def _row(name: str, kind: Kind) -> dict[str, Any]:
    return {
        "kind": name,
        "count": kind.count,
        "cash_in": kind.into.cash,
        "cash_out": kind.out.cash,
        "chips_in": kind.into.chips,
        "chips_out": kind.out.chips,
        "foreign_in": kind.into.foreign,
        "foreign_out": kind.out.foreign,
        "pieces": kind.net.as_json()["pieces"],
        "withdrawn": kind.net.as_json()["withdrawn"],
        "first_serial": min(kind.serials, default=None),
        "last_serial": max(kind.serials, default=None),
    }


def _equal(name: str, left: int, right: int, kind: str) -> dict[str, Any]:
    return {"name": name, "left": left, "right": right, "type": kind, "equal": left == right}


def _equalities(name: str, left: Moved, right: Moved) -> list[dict[str, Any]]:
    """One sum for cash, one for chips of other houses, and one for the pieces of each denomination, those of withdrawn
    sets by set."""
    return [
        _equal(f"{name}: cash", left.cash, right.cash, MONEY),
        _equal(f"{name}: chips of other houses", left.foreign, right.foreign, MONEY),
        *(
            _equal(f"{name}: pieces of {value}", left.pieces.get(value, 0), right.pieces.get(value, 0), PIECES)
            for value in sorted(left.pieces.keys() | right.pieces.keys())
        ),
        *(
            _equal(
                f"{name}: withdrawn pieces of {key[1]} of {key[0]}",
                left.withdrawn.get(key, 0),
                right.withdrawn.get(key, 0),
                PIECES,
            )
            for key in sorted(left.withdrawn.keys() | right.withdrawn.keys())
        ),
    ]
