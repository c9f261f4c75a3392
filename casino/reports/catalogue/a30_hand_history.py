"""A30: hands as the trail has them: who sat, what was played, how it ended. No card is shown that not everybody saw."""

import json
import marshal
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any, NamedTuple

from casino.audit import archives
from casino.audit.models import Event
from casino.houses.models import House
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, ref, text, time
from casino.reports.frame.filters import DAYS, TABLE
from casino.reports.frame.reading import fetched, stream
from casino.reports.frame.report import (
    Equality,
    Filter,
    FilterKind,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.span import span
from casino.reports.frame.trail import DaysOfEvents, place
from casino.staff.models import Role

HAND = Filter("hand", FilterKind.CODE, "Only this hand.")
PLAYER = Filter("player", FilterKind.CODE, "Only hands in which this player was dealt in.")
_WITHDRAWN = "hand.dispute_withdrawn"
_STATES = {
    "hand.settled": "settled", "hand.ruled": "ruled", "hand.voided": "voided", "hand.disputed": "disputed",
    "hand.dispute_raised": "disputed", "hand.bonus_refused": "disputed",
}  # fmt: skip
_KINDS = ("hand.dealt", "hand.acted", _WITHDRAWN, *_STATES)
#: What of a hand's first event is shown.
_HEAD = ("hand", "table", "game", "rules", "mode", "carry", "commitment", "seats", "stacks", "fees")
#: Of one table or one hand, where that is asked for.
_EVENTS = """
SELECT event.id, chain.name, event.payload, event.leaf_hash, event.archive FROM audit_event event
JOIN audit_chainhead chain ON chain.id = event.chain_id
WHERE event.house_id = %(house)s AND event.doc ->> 'kind' = ANY(%(kinds)s)
AND (event.id BETWEEN %(first)s AND %(last)s OR event.id = ANY(%(after)s))
AND (%(table)s::text IS NULL OR chain.name = %(table)s)
AND (%(hand)s::text IS NULL OR event.doc #>> '{data,hand}' = %(hand)s)
ORDER BY event.id
"""
#: Of the days' last hand of each table what came after the days, up to the next deal there, with it.
_AFTER = """
SELECT later.id FROM (
    SELECT DISTINCT ON (chain_id) chain_id, seq FROM audit_event
    WHERE house_id = %(house)s AND doc ->> 'kind' = 'hand.dealt' AND id BETWEEN %(first)s AND %(last)s
    ORDER BY chain_id, id DESC
) dealt CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT seq FROM audit_event WHERE house_id = %(house)s AND chain_id = dealt.chain_id AND seq > dealt.seq
        AND doc ->> 'kind' = 'hand.dealt' ORDER BY seq LIMIT 1), 9223372036854775807) AS seq
) next CROSS JOIN LATERAL (
    SELECT id FROM audit_event WHERE house_id = %(house)s AND chain_id = dealt.chain_id
    AND seq > dealt.seq AND seq <= next.seq OFFSET 0
) later WHERE later.id > %(last)s AND later.id <= %(event)s
"""
#: Values that are kept together, and the bytes before them, with their length.
_TOGETHER, _SIZE = 100, 4
#: What the ledger moved on the seats' stacks for hands that were settled by the moment: for all, or for those named;
#: and for those named that were dealt and settled by some events.
_MOVED = """
SELECT coalesce(sum(entry.amount * account.normal_side), 0)::bigint FROM ledger_transaction posted
JOIN ledger_entry entry ON entry.transaction_id = posted.id
JOIN ledger_account account ON account.id = entry.account_id
WHERE posted.book = %s AND posted.id <= %s AND posted.kind IN ('hand.stakes', 'hand.settled')
AND account.code LIKE '2020/%%' AND posted.metadata ->> 'hand' IN (
    SELECT event.doc -> 'data' ->> 'hand' FROM audit_event event
    WHERE event.house_id = %s AND event.doc ->> 'kind' = 'hand.settled' AND event.id <= %s)
AND (%s::text[] IS NULL OR posted.metadata ->> 'hand' = ANY(%s))
"""
_MOVED_BY = """
SELECT coalesce(sum(entry.amount * account.normal_side), 0)::bigint FROM audit_posting noted
JOIN ledger_transaction posted ON posted.id = noted.transaction_id
JOIN ledger_entry entry ON entry.transaction_id = posted.id
JOIN ledger_account account ON account.id = entry.account_id
WHERE posted.book = %s AND posted.id <= %s AND posted.kind IN ('hand.stakes', 'hand.settled')
AND account.code LIKE '2020/%%' AND noted.house_id = %s AND noted.event_id BETWEEN %s AND %s
AND posted.metadata ->> 'hand' = ANY(%s)
"""
#: Lines of the rows, of hands whose log was complete by the moment: no line comes after.
_LINES = """
SELECT hand.name, (
    SELECT count(*) FROM hands_handline line WHERE line.house_id = hand.house_id AND line.hand_id = hand.id
) FROM hands_hand hand WHERE hand.house_id = %s AND hand.name = ANY(%s)
"""


@dataclass(slots=True)
class _Hand:
    """One hand as far as the events go, in values that JSON has."""

    event: int
    dealt_at: str
    dealer: str
    head: dict[str, Any]
    state: str = "playing"
    #: Of a hand whose log is complete: handle, result, hashes.
    over: dict[str, Any] = field(default_factory=dict)
    ended_at: str = ""
    reason: str = ""
    #: Of one that was kept; its lines are kept apart.
    line_count: int = 0
    lines: list[str] = field(default_factory=list)
    #: Events whose texts were put away, with how many lines come before theirs of those that are known.
    away: list[tuple[int, Event]] = field(default_factory=list)

    @classmethod
    def dealt(cls, event: int, doc: dict[str, Any]) -> "_Hand":
        """As its first event has it."""
        data = doc["data"]
        head = {name: data[name] for name in _HEAD if name in data}
        hand = cls(event, doc["at"], doc["actor"], head, lines=list(data["lines"]))
        hand._take(doc)
        return hand

    def kept(self) -> list[Any]:
        """All of it but the lines."""
        return [
            self.event, self.dealt_at, self.dealer, self.head, self.state, self.over, self.ended_at, self.reason,
            len(self.lines),
        ]  # fmt: skip

    def _take(self, doc: dict[str, Any]) -> None:
        """What an event has in addition where it completes the log: all lines as everybody had seen them by then."""
        data = doc["data"]
        if "log" in data:
            self.lines, self.state, self.away = list(data["log"]), "ended", []
            self.over = {"handle": data.get("handle"), "result": data.get("result")} | {
                name: data.get(name, "") for name in ("digest", "record_hash")
            }

    def add(self, doc: dict[str, Any], event: Event) -> None:
        """Take up what came later."""
        if event.archive is not None:
            self.away.append((len(self.lines), event))
            return
        if doc["kind"] == "hand.acted":
            self.lines.extend(doc["data"]["lines"])
            self._take(doc)
            return
        if doc["kind"] == _WITHDRAWN:
            self.state, self.ended_at, self.reason = "ended" if self.over else "playing", "", ""
            return
        self.state, self.ended_at, self.reason = _STATES[doc["kind"]], doc["at"], doc.get("reason", "")

    def whole(self, house: House) -> "_Hand":
        """With the lines that were put away, of a hand that was not played to its end: else its log has them. Raises
        ArchiveUnreadable."""
        archives.fill_in(house, [event for _, event in self.away])
        while self.away:
            at, event = self.away.pop()
            self.lines[at:at] = json.loads(event.payload)["data"]["lines"]
        return self

    @property
    def players(self) -> list[str]:
        """In play order."""
        return [seat["player"] for seat in self.head["seats"]]

    @property
    def fees(self) -> list[int]:
        """Of each seat, in play order."""
        return list((self.head.get("fees") or {}).get("amounts") or [0] * len(self.players))

    @property
    def result(self) -> dict[str, Any]:
        """Empty while the log is not complete."""
        return dict(self.over.get("result") or {})


def _hands(scope: Scope) -> Iterator[_Hand]:
    """The hands that the run asks for, in the order of `_read`, without their lines."""
    for values in scope.once("hands", _kept).hands:
        yield _Hand(*values)


class _Spool:
    """Values that marshal knows, in a file without a name, which is closed when this is gone: with the run."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - see above
        self._waiting: list[Any] = []
        weakref.finalize(self, self._file.close)

    def add(self, value: Any) -> None:
        """Keep a value."""
        self._waiting.append(value)
        if len(self._waiting) == _TOGETHER:
            self._write()

    def _write(self) -> None:
        kept, self._waiting = marshal.dumps(self._waiting), []
        self._file.write(len(kept).to_bytes(_SIZE, "big") + kept)

    def __iter__(self) -> Iterator[Any]:
        """All of them, in their order; nothing is added any more."""
        self._write()
        self._file.seek(0)
        while size := self._file.read(_SIZE):
            yield from marshal.loads(self._file.read(int.from_bytes(size, "big")))  # noqa: S302 - written just before


class _Kept(NamedTuple):
    """Hands, and their names with their lines, which are most of it and are read once."""

    hands: _Spool
    lines: _Spool


def _kept(scope: Scope) -> _Kept:
    """The hands are read once: three sections and the equalities go through them."""
    kept = _Kept(_Spool(), _Spool())
    for hand in _read(scope):
        kept.hands.add(hand.kept())
        kept.lines.add((hand.head["hand"], hand.lines))
    return kept


def _read(scope: Scope) -> Iterator[_Hand]:
    """The hands that the run asks for, each once the next one of its table is dealt, so that few are in memory; those
    that are ruled on later have the state that they had then."""
    days, asked = DaysOfEvents(scope), scope.filters
    known: dict[str, _Hand] = {}
    table_of = f"table/{asked['table']}" if "table" in asked else None
    hand_of = asked.get("hand")
    lies = span(scope)
    parameters = {
        "house": scope.house.id, "kinds": list(_KINDS), "first": lies.first_event, "last": lies.last_event,
        "event": scope.as_of.event, "table": table_of, "hand": hand_of,
    }  # fmt: skip
    after = scope.once("events after the days", lambda _: _after(parameters))
    for id_, chain, payload, leaf_hash, archive in stream(_EVENTS, parameters | {"after": after}):
        table, doc = place(chain), json.loads(payload)
        if doc["kind"] == "hand.dealt":
            if table in known and _is_asked(known[table], asked, days):
                yield known[table].whole(scope.house)
            known[table] = _Hand.dealt(id_, doc)
        elif table in known and known[table].head["hand"] == doc["data"]["hand"]:
            known[table].add(doc, Event(id=id_, payload=payload, leaf_hash=leaf_hash, archive=archive))
    for _, hand in sorted(known.items()):
        if _is_asked(hand, asked, days):
            yield hand.whole(scope.house)


def _after(parameters: Mapping[str, Any]) -> list[int]:
    if parameters["last"] >= parameters["event"]:
        return []
    return [event for (event,) in fetched(_AFTER, parameters)]


def _is_asked(hand: _Hand, asked: Any, days: DaysOfEvents) -> bool:
    return (
        days.takes(hand.event)
        and asked.get("hand") in (None, hand.head["hand"])
        and asked.get("table") in (None, hand.head["table"])
        and ("player" not in asked or asked["player"] in hand.players)
    )


def _heads(scope: Scope) -> Iterator[Row]:
    days = DaysOfEvents(scope)
    for hand in _hands(scope):
        head, result = hand.head, hand.result
        yield (
            days.of(hand.event) or None, head["hand"], head["table"], head["game"], head.get("rules", ""), head["mode"],
            datetime.fromisoformat(hand.dealt_at), hand.dealer, hand.state,
            datetime.fromisoformat(hand.ended_at) if hand.ended_at else None, hand.reason, head["carry"],
            hand.over.get("handle"), result.get("tax"), result.get("carry_out"), result.get("ending", ""),
            hand.players[result["winner"] - 1] if result.get("winner") else "", hand.line_count,
            head.get("commitment", ""), hand.over.get("digest", ""), hand.over.get("record_hash", ""),
        )  # fmt: skip


def _seats(scope: Scope) -> Iterator[Row]:
    for hand in _hands(scope):
        result, fees = hand.result, hand.fees
        for index, seat in enumerate(hand.head["seats"]):
            yield (
                hand.head["hand"], seat["seat"], f"p{index + 1}", seat["player"], hand.head["stacks"][index],
                fees[index], result["net"][index] if result else None, result["bonus"][index] if result else None,
            )  # fmt: skip


def _lines(scope: Scope) -> Iterator[Row]:
    for name, lines in scope.once("hands", _kept).lines:
        for number, line in enumerate(lines, start=1):
            yield name, number, line


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    net = said = held = 0
    # Names are kept only where the run has asked for some of the hands.
    names: list[str] | None = [] if scope.filters else None
    chunk: dict[str, int] = {}
    for hand in _hands(scope):
        if hand.state == "settled":
            net += sum(hand.result["net"]) - sum(hand.fees)
            if names is not None:
                names.append(hand.head["hand"])
        if hand.over:
            chunk[hand.head["hand"]] = hand.line_count
            said += hand.line_count
        if len(chunk) == 1_000:
            held += _stored(scope, chunk)
            chunk = {}
    held += _stored(scope, chunk)
    booked = _moved(scope, names)
    yield Equality("results less fees of settled hands = what the ledger moved on stacks", net, booked, Type.MONEY)
    yield Equality("lines of hands that are over = lines of the rows", said, held, Type.COUNT)
    yield Equality("lines by hand = rows", results["hands"].totals["lines"], results["lines"].row_count, Type.COUNT)


def _moved(scope: Scope, names: list[str] | None) -> int:
    """What hands of these names, which were settled, moved on stacks; None: all hands that were."""
    house, moment, lies = scope.house.id, scope.as_of, span(scope)
    if lies.is_whole:
        [(booked,)] = fetched(_MOVED, [house, moment.transaction, house, moment.event, names, names])
    else:
        last = max(lies.last_event, *scope.kept["events after the days"], 0)
        [(booked,)] = fetched(_MOVED_BY, [house, moment.transaction, house, lies.first_event, last, names])
    return int(booked)


def _stored(scope: Scope, names: dict[str, int]) -> int:
    return sum(lines for _, lines in fetched(_LINES, [scope.house.id, list(names)]))


REPORT = Report(
    id="hand-history",
    number="A30",
    version=1,
    title="Hand history",
    text="Hands line by line as everybody has seen them: seats, stakes, tax, what was carried, the result, and the "
    "hashes by which the record is found. Cards that were not shown are not in it.",
    roles=(Role.FLOOR, Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "hands",
            "Hands",
            (
                Column("day", "Gaming day", Type.DAY), ref("hand", "Hand"), ref("table", "Table"), ref("game", "Game"),
                ref("rules", "Rules"), coded("mode", "Mode"), time("dealt_at", "Dealt at"), ref("dealer", "Dealer"),
                coded("state", "State"), time("ended_at", "Ended at"), text("reason", "Reason"),
                money("carry", "Carried in"), money("handle", "Handle"), money("tax", "Tax of the result"),
                money("carry_out", "Carried out"), coded("ending", "Ending"), ref("winner", "Winner"),
                count("lines", "Lines"), ref("commitment", "Commitment"), ref("digest", "Digest"),
                ref("record_hash", "Record"),
            ),
            _heads,
            groups=("day", "table", "game", "state"),
        ),
        Section(
            "seats",
            "Seats",
            (
                ref("hand", "Hand"), count("seat", "Seat", total=False), ref("actor", "In the log"),
                ref("player", "Player"), money("stack", "Stack"), money("fee", "Fee"),
                money("net", "Net of the result"), money("bonus", "Bonus"),
            ),
            _seats,
            groups=("player",),
        ),
        Section(
            "lines",
            "Log",
            (ref("hand", "Hand"), count("line", "Line", total=False), text("text", "Text")),
            _lines,
        ),
    ),
    equalities=_equalities,
    filters=(HAND, TABLE, PLAYER, *DAYS),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.BOOKS,
)  # fmt: skip
