"""A29: every series of numbers: whether one is missing or stands twice."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from casino.reports.frame.columns import Row, Type, count, ref, text
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.reports.frame.trail import place
from casino.staff.models import Role

Found = tuple[str, int]
Data = Mapping[str, Any]
#: Numbers that are named in a row; there may be no more, or a column grows without end.
_NAMED = 20
_CHAINS = """
SELECT head.name, min(event.seq), max(event.seq), count(DISTINCT event.seq), count(*)
FROM audit_event event JOIN audit_chainhead head ON head.id = event.chain_id
WHERE event.house_id = %s AND event.id <= %s GROUP BY head.name ORDER BY head.name
"""
#: A deal that was abandoned takes no number: the next hand has it. A hand that was voided keeps its own.
_HANDS = """
SELECT event.doc -> 'data' ->> 'table', min((event.doc -> 'data' ->> 'number')::bigint),
    max((event.doc -> 'data' ->> 'number')::bigint), count(DISTINCT event.doc -> 'data' ->> 'number'), count(*),
    count(*) FILTER (WHERE EXISTS (SELECT FROM audit_event voided WHERE voided.house_id = event.house_id
        AND voided.doc ->> 'kind' = 'hand.voided' AND voided.id <= %s
        AND voided.doc -> 'data' -> 'hand' = event.doc -> 'data' -> 'hand'))
FROM audit_event event WHERE event.house_id = %s AND event.doc ->> 'kind' = 'hand.dealt' AND event.id <= %s
GROUP BY 1 ORDER BY 1
"""


@dataclass(slots=True)
class _Series:
    """The numbers of one series, as they came. Every series begins with 1."""

    first: int = 0
    last: int = 0
    issued: set[int] = field(default_factory=set)
    times: int = 0
    voided: int = 0

    def add(self, number: int) -> None:
        """Take a number up."""
        self.first = min(self.first or number, number)
        self.last = max(self.last, number)
        self.issued.add(number)
        self.times += 1


def _by_drawer(name: str) -> Callable[[str, Data], Found]:
    return lambda chain, data: (place(chain), data[name])


def _of_house(*path: str) -> Callable[[str, Data], Found]:
    def number(_: str, data: Data) -> Found:
        found: Any = data
        for name in path:
            found = found[name]
        return "", found

    return number


#: What gives a number to each of its deliveries.
_FIRED = "report.schedule_fired"
#: What holds the stakes of a minor, if any are given back.
_MINOR = "minor.settled"
#: Which event gives a number, to which series, and where the number stands. Each number is given once by it.
_GIVEN: dict[str, tuple[str, Callable[[str, Data], Found]]] = {
    "drawer.opened": ("Z slip (shift)", _by_drawer("shift")),
    "drawer.reopened": ("Z slip (shift)", _by_drawer("shift")),
    "drawer.x_read": ("X reading", _by_drawer("x_reading")),
    "dealer.took_over": ("dealer's turn", _by_drawer("turn")),
    "table.opened": ("session", _by_drawer("session")),
    "approval.requested": ("approval", _of_house("approval")),
    "limits.changed": ("control points", _of_house("number")),
    "house.identity_changed": ("identity", _of_house("number")),
    "house.rules_set": ("rules of the house", _of_house("number")),
    "house.duty_rates_set": ("rates of the gaming duty", _of_house("number")),
    "bank.sent": ("bag", _of_house("bag", "number")),
    "bank.drawn": ("bag", _of_house("bag", "number")),
    "cage.payout_held": ("held payout", _of_house("payout", "payout")),
    "cage.chips_found": ("found chips", _of_house("found", "found")),
    "cage.noncash_buy_in": ("buy-in by card or transfer", _of_house("buy_in")),
    "variance.offset": ("variance offset", _of_house("number")),
    "complaint.opened": ("complaint", _of_house("complaint")),
    "legal_hold.set": ("legal hold", _of_house("legal_hold")),
    "retention.ran": ("run of retention", _of_house("run")),
    "tronc.shared": ("tronc pool", _of_house("pool", "pool")),
    "waiting.added": ("waiting ticket", _of_house("ticket")),
    "rota.entered": ("entry of the rota", _of_house("entry")),
    "report.schedule_set": ("version of a schedule", lambda _, data: (data["schedule"], data["number"])),
    "report.requested": ("run of a report", _of_house("run")),
    "document.printed": ("printout", _of_house("printout")),
    "cage.cash_out_announced": ("announced cash-out", _of_house("announcement")),
    "drawer.template_set": ("template", _by_drawer("template")),
    "table.template_set": ("template", _by_drawer("template")),
    "house.rehearsal_requested": ("rehearsal", _of_house("rehearsal")),
    "exclusion.set": ("exclusion", _of_house("exclusion")),
    "minor.recorded": ("minor", _of_house("minor")),
    _MINOR: ("held payout", _of_house("payout", "payout")),
    "winnings.remitted": ("remittance", _of_house("remittance")),
    "player.limit_set": ("limit of a player", _of_house("number")),
    "player.reality_check_due": ("reality check", _of_house("number")),
    "player.interaction_logged": ("interaction with a player", _of_house("number")),
    _FIRED: ("delivery", _of_house("delivery")),
}
#: What is recorded several times of a thing, of which the number counts once: at both ends of a transfer, or step by
#: step. The same number of another thing (`_SAME`) is a duplicate.
_STEPS: dict[str, tuple[str, str, str]] = {
    "fill.requested": ("fill", "transfer", "serial"),
    "fill.sent": ("fill", "transfer", "serial"),
    "credit.requested": ("credit", "transfer", "serial"),
    "credit.sent": ("credit", "transfer", "serial"),
    "box.swapped": ("box", "box", "box"),
    "tray.counted": ("tray count", "tray_count", "tray_count"),
    "vault.counted": ("vault count", "vault_count", "vault_count"),
    "handover.offered": ("handover", "handover", "handover"),
    "chips.noted": ("movement of chips", "move", "move"),
    "chips.delivered": ("movement of chips", "move", "move"),
}
#: By what events of one number are known to be about one thing: what and where it is, and who began it.
_SAME = ("kind", "table", "drawer", "opened_by", "put_by", "counted_by", "noted_by", "offered_by")
#: What ends a number without its purpose.
_VOIDED = {
    "approval.withdrawn": ("approval", _of_house("approval")),
    "approval.expired": ("approval", _of_house("approval")),
    "handover.withdrawn": ("handover", lambda chain, data: (place(chain), data["handover"]["handover"])),
    "report.cancelled": ("run of a report", _of_house("run")),
    "report.failed": ("run of a report", _of_house("run")),
    "rota.withdrawn": ("entry of the rota", _of_house("entry")),
    "waiting.removed": ("waiting ticket", _of_house("ticket")),
    "waiting.no_show": ("waiting ticket", _of_house("ticket")),
}


def _numbered(scope: Scope) -> Iterator[tuple[str, str, Data]]:
    """Chain, kind and data of the events that give numbers or end them. A tray that was counted with a change of boxes
    is a step of its own."""
    for _, chain, _, doc in events(scope, [*_GIVEN, *_STEPS, *_VOIDED, "fill.cancelled", "credit.cancelled"]):
        if doc["kind"] == _FIRED:
            yield from ((chain, _FIRED, {"delivery": int(number)}) for number in doc["data"]["deliveries"])
            continue
        if doc["kind"] == _MINOR and "payout" not in doc["data"]:
            continue
        yield chain, doc["kind"], doc["data"]
        if doc["kind"] == "box.swapped" and "tray_count" in doc["data"]:
            yield chain, "tray.counted", doc["data"]
        if doc["kind"] == "complaint.opened":  # with a legal hold of its own
            yield chain, "legal_hold.set", doc["data"]


def _thing(kind: str, chain: str, data: Data) -> tuple[str, str, int, Any]:
    """Series, place, number, and what has the number."""
    name, part, number = _STEPS[kind]
    found = data[part]
    where = place(chain) if name == "handover" else ""
    return name, where, found[number], tuple(found.get(one) for one in _SAME)


def _series(scope: Scope) -> dict[tuple[str, str], _Series]:
    """All series but those of the audit chains and of hands, of which there are many, by name and place."""
    found: dict[tuple[str, str], _Series] = {}
    things: set[tuple[str, str, int, Any]] = set()
    ended: set[tuple[str, str, int]] = set()

    def give(name: str, where: str, number: int) -> None:
        found.setdefault((name, where), _Series()).add(number)

    for chain, kind, data in _numbered(scope):
        if kind in _GIVEN:
            name, number_of = _GIVEN[kind]
            give(name, *number_of(chain, data))
        elif kind in _STEPS:
            thing = _thing(kind, chain, data)
            if thing not in things:
                things.add(thing)
                give(*thing[:3])
        elif kind in _VOIDED:
            name, number_of = _VOIDED[kind]
            ended.add((name, *number_of(chain, data)))
        else:
            ended.add((kind.partition(".")[0], "", data["transfer"]["serial"]))
    for name, where, _ in ended:
        if (name, where) in found:
            found[name, where].voided += 1
    return found


def _rows(scope: Scope) -> Iterator[Row]:
    for name, first, last, issued, times in fetched(_CHAINS, [scope.house.id, scope.as_of.event]):
        yield "audit chain", name, first, last, issued, 0, last - issued, times - issued, ""
    event = scope.as_of.event
    for table, first, last, issued, times, voided in fetched(_HANDS, [event, scope.house.id, event]):
        yield "hand", table, first, last, issued, voided, last - issued, times - issued, ""
    for (name, where), one in sorted(_series(scope).items()):
        missing = [number for number in range(1, one.last + 1) if number not in one.issued]
        words = ", ".join(map(str, missing[:_NAMED])) + (", ..." if len(missing) > _NAMED else "")
        yield (
            name, where, one.first, one.last, len(one.issued), one.voided, len(missing), one.times - len(one.issued),
            words,
        )  # fmt: skip


#: What the tables themselves hold up to the last number that an event gave.
_HELD = {
    "approval": "SELECT count(*) FROM approvals_approval WHERE house_id = %s AND number <= %s",
    "fill": "SELECT count(*) FROM transfers_transfer WHERE house_id = %s AND kind = 'fill' AND serial <= %s",
    "credit": "SELECT count(*) FROM transfers_transfer WHERE house_id = %s AND kind = 'credit' AND serial <= %s",
    "tray count": "SELECT count(*) FROM transfers_traycount WHERE house_id = %s AND serial <= %s",
    "vault count": "SELECT count(*) FROM cage_vaultcount WHERE house_id = %s AND number <= %s",
    "tronc pool": "SELECT count(*) FROM transfers_troncpool WHERE house_id = %s AND serial <= %s",
    "complaint": "SELECT count(*) FROM evidence_complaint WHERE house_id = %s AND number <= %s",
    "legal hold": "SELECT count(*) FROM evidence_legalhold WHERE house_id = %s AND number <= %s",
    "exclusion": "SELECT count(*) FROM safeguards_exclusion WHERE house_id = %s AND number <= %s",
    "minor": "SELECT count(*) FROM safeguards_minor WHERE house_id = %s AND number <= %s",
    "limit of a player": "SELECT count(*) FROM safeguards_playerlimit WHERE house_id = %s AND number <= %s",
    "interaction with a player": "SELECT count(*) FROM safeguards_interaction WHERE house_id = %s AND number <= %s",
    "delivery": "SELECT count(*) FROM reports_delivery WHERE house_id = %s AND number <= %s",
    "run of a report": "SELECT count(*) FROM reports_reportrun WHERE house_id = %s AND number <= %s",
}
_SEQUENCES = "SELECT count(*) FROM audit_event WHERE house_id = %s AND id <= %s"


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    totals = results["series"].totals
    missing = totals["missing"]
    yield Equality("missing numbers of all series = none", missing, 0, Type.COUNT)
    yield Equality("numbers that were given twice = none", totals["duplicates"], 0, Type.COUNT)
    chains = sum(last for _, _, last, _, _ in fetched(_CHAINS, [scope.house.id, scope.as_of.event]))
    [(recorded,)] = fetched(_SEQUENCES, [scope.house.id, scope.as_of.event])
    yield Equality("last numbers of the audit chains = events", chains, recorded, Type.COUNT)
    found = _series(scope)
    for name, statement in _HELD.items():
        one = found.get((name, ""))
        if one is not None:
            [(rows,)] = fetched(statement, [scope.house.id, one.last])
            yield Equality(
                "numbers of the series {name} = rows", len(one.issued), rows, Type.COUNT, named={"name": name}
            )


REPORT = Report(
    id="serial-gaps",
    number="A29",
    version=2,
    title="Serial gaps",
    text="Every series of numbers that the house gives, from its first to its last: what is missing, and what was "
    "given twice.",
    roles=(Role.AUDITOR,),
    sections=(
        Section(
            "series",
            "Series",
            (
                text("series", "Series"), ref("place", "Of"), count("first", "First", total=False),
                count("last", "Last", total=False), count("issued", "Given"), count("voided", "Of these ended"),
                count("missing", "Missing"), count("duplicates", "Twice"), text("numbers", "Missing numbers"),
            ),
            _rows,
            groups=("series",),
        ),
    ),
    equalities=_equalities,
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
)  # fmt: skip
