"""The state of a house, rebuilt from its events, against the rows that were read; and each event against the state
before it."""

from collections.abc import Iterable, Mapping, Sequence

from . import (
    state_announced,
    state_approvals,
    state_boxes,
    state_cage,
    state_days,
    state_duty,
    state_evidence,
    state_hands,
    state_house,
    state_identity,
    state_late_claims,
    state_ledger,
    state_log,
    state_minors,
    state_money,
    state_passkeys,
    state_people,
    state_prints,
    state_reports,
    state_retention,
    state_safeguards,
    state_tables,
    state_templates,
    state_variances,
    state_vault,
    state_vault_counts,
    state_waiting,
    state_watching,
    state_webhooks,
)
from .findings import Report
from .shelf import Shelf
from .state_actors import Actors
from .state_announced import Announcements
from .state_approvals import Approvals
from .state_boxes import Boxes
from .state_cage import Cage
from .state_capital import Capital
from .state_columns import Model, by_name
from .state_corrections import Corrections
from .state_customers import Customers
from .state_days import Days
from .state_deals import Deals
from .state_drills import Drills
from .state_duties import Duties
from .state_duty import Duty
from .state_evidence import Evidence
from .state_flows import Flows
from .state_hands import OF_HANDS, HandRows
from .state_house import Stages
from .state_identity import Identities
from .state_late_claims import LateClaims
from .state_ledger import LedgerRows
from .state_log import LogRows
from .state_minors import Minors
from .state_money import Money
from .state_passkeys import Passkeys
from .state_people import People
from .state_prints import Prints
from .state_reports import Reports
from .state_retention import Retention
from .state_rows import Handler, NotRecorded, Row, Rows
from .state_safeguards import Safeguards
from .state_signatures import Signatures
from .state_tables import Tables
from .state_templates import Templates
from .state_variances import Variances
from .state_vault import Vault
from .state_vault_counts import VaultCounts
from .state_waiting import WaitingList
from .state_watching import Watching
from .state_webhooks import Webhooks

#: Every model of a house's apps and of the ledger.
MODELS: dict[str, Model] = by_name(
    state_people.MODELS,
    state_passkeys.MODELS,
    state_house.MODELS,
    state_identity.MODELS,
    state_approvals.MODELS,
    state_tables.MODELS,
    state_waiting.MODELS,
    state_safeguards.MODELS,
    state_minors.MODELS,
    state_watching.MODELS,
    state_cage.MODELS,
    state_boxes.MODELS,
    state_vault.MODELS,
    state_vault_counts.MODELS,
    state_money.MODELS,
    state_announced.MODELS,
    state_late_claims.MODELS,
    state_variances.MODELS,
    state_duty.MODELS,
    state_hands.MODELS,
    state_ledger.MODELS,
    state_days.MODELS,
    state_reports.MODELS,
    state_prints.MODELS,
    state_evidence.MODELS,
    state_retention.MODELS,
    state_templates.MODELS,
    state_log.MODELS,
    state_webhooks.MODELS,
)


class State:
    """Events in the order of the log, each judged by the state before it, and the rows that they make."""

    def __init__(self, report: Report, shelf: Shelf | None = None) -> None:
        self._report = report
        #: The rows that events have made so far.
        self.rows = rows = Rows(MODELS, self._find, shelf or Shelf())
        self._tables, self._cage = Tables(rows), Cage(rows)
        approvals = Approvals(rows)
        self._templates = Templates(rows, approvals)
        self._safeguards = Safeguards(rows, approvals)
        duties = Duties(rows, approvals)
        flows, money = Flows(rows, approvals), Money(rows, self._find)
        self._hands = HandRows(rows, self._tables)
        self._actors = Actors(rows, self._tables, duties, self._find)
        # What judges an event stands before what changes the rows by it.
        parts = (
            *(
                Deals(rows, self._tables, self._find),
                self._actors,
                duties,
                Signatures(rows),
                Corrections(rows),
                Passkeys(rows, approvals),
                People(rows),
                Stages(rows),
                approvals,
                Customers(rows, approvals),
                self._safeguards,
                flows,
                Minors(rows, flows, money, approvals),
                Watching(rows, approvals),
                self._templates,
                self._hands,
            ),
            *(self._tables, WaitingList(rows, self._find), self._cage, Boxes(rows), Vault(rows), VaultCounts(rows)),
            *(money, Announcements(rows, self._find), Duty(rows), Capital(rows), Variances(rows)),
            *(LateClaims(rows), Identities(rows)),
            *(LedgerRows(rows), Days(rows), Reports(rows), Prints(rows), Evidence(rows, approvals), LogRows(rows)),
            *(Retention(rows, approvals, self._hands), Webhooks(rows), Drills(rows)),
        )
        #: What has more to remember than rows.
        self.parts: Sequence[object] = parts
        self._handlers: dict[str, list[Handler]] = {}
        for part in parts:
            for kind, handler in part.handlers.items():
                self._handlers.setdefault(kind, []).append(handler)

    def take(self, doc: Row) -> None:
        """The next event."""
        place = f"{doc['chain']}#{doc['seq']}"
        try:
            self._actors.judge(doc, place)
            for handler in self._handlers.get(doc["kind"], ()):
                handler(doc)
            self._templates.follow(doc)
            self._safeguards.follow(doc)
            self._advance(doc)
        except NotRecorded as missing:
            self._find("state_not_recorded", place, f"it changes {missing}, which no event has made")

    def take_lines(self, who: tuple[str, str, str, str], version: int, at: str, seq: str) -> None:
        """The next event, which adds lines to a hand's log and changes nothing else; `who` are chain, actor, role and
        terminal."""
        chain = who[0]
        if who not in self._actors.judged:
            self._actors.judge_at(chain, who[1:], at, "hand.acted", f"{chain}#{seq}")
        row = self._tables.by_chain.get(chain)
        if row is not None and version == row["version"] + 1:  # as almost always
            row["version"] = version
            return
        try:
            self._tables.advance(chain.partition("/")[2], version)
        except NotRecorded as missing:
            self._find("state_not_recorded", f"{chain}#{seq}", f"it changes {missing}, which no event has made")

    def _advance(self, doc: Row) -> None:
        room, _, code = doc["chain"].partition("/")
        version = doc["data"].get(f"{room}_version")
        if version is not None and room == "table":
            self._tables.advance(code, version)
        elif version is not None and room == "drawer":
            self._cage.advance(code, version)

    def shelve(self) -> None:
        """Set aside what grows with every hand."""
        self.rows.shelve(OF_HANDS)
        self._hands.shelve()

    def compare(self, stored: Iterable[Row], counts: Mapping[str, int] | None = None) -> None:
        """No more events come: compare with the rows that were read; with `counts` these are the ones that were written
        since the verification was kept, and the counts those of all rows by model."""
        self._tables.finish()
        if counts is None:
            self._report.counts["rows"] = self.rows.compare(stored)
        else:
            self.rows.compare_changed(stored, counts)
            self._report.counts["rows"] = sum(counts.values())

    def _find(self, code: str, place: str, problem: str) -> None:
        self._report.find(code, place, problem)
