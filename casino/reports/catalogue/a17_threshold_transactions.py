"""A17: single transactions from the house's threshold on, and the attempts that were refused because of it."""

from collections.abc import Iterator

from casino.reports.frame import written
from casino.reports.frame.columns import MILLION, Column, Row, Type, coded, count, decimal, money, ref, text, time
from casino.reports.frame.filters import DAYS, DayRange
from casino.reports.frame.flows import Flow, Points, said, transactions
from casino.reports.frame.movements import events
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
from casino.reports.frame.trail import DaysOfEvents, at, place
from casino.staff.models import Role
from casino.watching.models import Capacity

THRESHOLD = Filter(
    "threshold", FilterKind.AMOUNT,
    "From this amount on, minor units; without it from the house's threshold at the time of each transaction.",
)  # fmt: skip
MEANS = ("cash in", "cash out", "non-cash in", "non-cash out")
DIRECTION = Filter("direction", FilterKind.CHOICE, "Only transactions of this direction.", choices=MEANS)
KNOWN = Filter("known", FilterKind.CHOICE, "Only players who were known then, or were not.", choices=("yes", "no"))


def _single(scope: Scope) -> Iterator[Flow]:
    """What compliance attributes is no transaction of its own."""
    points, days, asked = Points(scope), DayRange.of(scope), scope.filters.get("threshold")
    for flow in transactions(scope, days):
        threshold = points.at(flow.at)["identity_from"] if asked is None else int(asked)
        if flow.means in MEANS and flow.amount >= threshold and days.takes(flow.day):
            yield flow


class _Records:
    """When it was recorded who each player is: events by player."""

    def __init__(self, scope: Scope) -> None:
        self._events: dict[str, list[int]] = {}
        self._versions: dict[int, int] = {}
        for event, _, _, doc in events(scope, ("player.person_recorded",)):
            self._events.setdefault(doc["data"]["player"], []).append(event)
            self._versions[event] = doc["data"]["version"]

    def version(self, player: str, event: int) -> int | None:
        """The version of the record that was there before an event; None where there was none."""
        before = [one for one in self._events.get(player, ()) if one < event]
        return self._versions[before[-1]] if before else None


def _transactions(scope: Scope) -> Iterator[Row]:
    """Who has made it without a name, and on whose behalf it was made, is what the log says."""
    records, points, wanted = _Records(scope), Points(scope), scope.filters
    rates, filed = written.rates(scope), written.filed(scope)
    makers, behalf = (written.by_transaction(scope, one) for one in (Capacity.SELF, Capacity.BEHALF))
    for flow in _single(scope):
        version = records.version(flow.who, flow.event) if flow.who else None
        known = "yes" if version is not None else "no"
        if wanted.get("direction") in (None, flow.means) and wanted.get("known") in (None, known):
            cents, rate, filing = rates.value(flow.amount, flow.at), rates.at(flow.at), filed.get(flow.transaction)
            who = flow.who or " ".join(makers.get(flow.transaction, ()))
            yield (
                flow.day or None, flow.at, who or None, flow.means, flow.kind, flow.amount,
                points.at(flow.at)["identity_from"], None if cents is None else cents * (MILLION // 100),
                *(rate or (None, None)), flow.place, flow.by, flow.approver or None,
                " ".join(behalf.get(flow.transaction, ())) or None, version is not None, version,
                None if filing is None else filing.return_number,
                None if filing is None else filing.filed_on.isoformat(), f"{flow.chain}#{flow.seq}", cents or 0,
                int(filing is not None),
            )  # fmt: skip


def _refused(scope: Scope) -> Iterator[Row]:
    days = DaysOfEvents(scope)
    for event, chain, seq, doc in events(scope, ("attempt.refused",), days.range):
        data = doc["data"]
        if data["code"] == "identity_required" and days.takes(event):
            operation = data.get("operation", "")
            yield days.of(event) or None, at(doc), place(chain), operation, doc["actor"], 1, f"{chain}#{seq}"


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    if scope.filters.keys() & {"direction", "known"}:
        return
    points, days, asked = Points(scope), DaysOfEvents(scope), scope.filters.get("threshold")
    found = [
        one
        for one in said(scope, days.range)
        if not one.kind.startswith("chips.")
        and days.takes(one.event)
        and one.amount >= (points.at(one.at)["identity_from"] if asked is None else int(asked))
    ]
    totals = results["transactions"]
    yield Equality("transactions of the ledger = events of so large amounts", totals.row_count, len(found), Type.COUNT)
    yield Equality(
        "their amounts = the amounts of those events", totals.totals["amount"], sum(o.amount for o in found), Type.MONEY
    )
    rates = written.rates_by_events(scope)
    in_euros = sum(rates.value(one.amount, one.at) or 0 for one in found)
    yield Equality(
        "their cents of euros = those by the rates of the events", totals.totals["eur_cents"], in_euros, Type.COUNT
    )
    returns = set(written.filed_by_events(scope).values())
    ours = {flow.transaction for flow in _single(scope)}
    yield Equality(
        "returns about them = returns of the events", totals.totals["returns"], len(returns & ours), Type.COUNT
    )
    if asked is None:
        named = [one for one in found if one.who]
        recorded = sum(1 for one in named if one.reached)
        yield Equality("of those with a name, all say that the threshold was reached", len(named), recorded, Type.COUNT)


REPORT = Report(
    id="threshold-transactions",
    number="A17",
    version=2,
    title="Threshold transactions, single",
    text="Transactions with players from the house's threshold on, in cash and without it, whether it was recorded "
    "before who the player is, their value in euros by the rate of the moment, on whose behalf they were made, and the "
    "number under which a return was filed; and the attempts that were refused because it was not known who somebody "
    "is, alone or with others before.",
    roles=(Role.COMPLIANCE,),
    sections=(
        Section(
            "transactions",
            "Transactions",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "At"), ref("player", "Player"),
                coded("direction", "Direction"), coded("kind", "Kind"), money("amount", "Amount"),
                money("threshold", "Threshold then", total=False), decimal("eur", "Value in EUR"),
                decimal("rate", "Rate of the euro"), text("rate_source", "Source of the rate"), ref("place", "Place"),
                ref("by", "By"), ref("approver", "Approved by"), ref("behalf", "On behalf of"),
                Column("known", "Known before", Type.FLAG), count("record", "Version of the record", total=False),
                ref("return", "Return no."), text("filed_on", "Filed on"), ref("event", "Event"),
                count("eur_cents", "Cents of EUR"), count("returns", "Returns"),
            ),
            _transactions,
            groups=("day", "player", "direction", "kind", "place", "by"),
        ),
        Section(
            "refused",
            "Refused attempts",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "At"), ref("place", "Place"),
                text("operation", "Operation"), ref("by", "By"), count("attempts", "Attempts"), ref("event", "Event"),
            ),
            _refused,
            groups=("day", "place", "by"),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, THRESHOLD, DIRECTION, KNOWN),
    sensitivity=Sensitivity.PERSONS,
    retention=Retention.LAUNDERING,
)  # fmt: skip
