"""What is measured: requests of an evening, reading the past, the sequencer, reports of one day."""

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connections

from casino.audit.models import Event
from casino.audit.sequencing import Sequencer
from casino.audit.signing import Signer
from casino.reports.retention import prune
from casino.reports.tasks import check
from casino.staff.models import Role
from ledger.models import Account
from tests.bench.growth.house import Grown
from tests.bench.growth.meter import Cost, measure
from tests.bench.reports.generated import SHORT_HAND
from tests.casino.kit import Desk

#: Requests of a kind in a round.
TIMES = 8


def _sign_on() -> None:
    """Nobody is signed out for having waited while other houses were filled and measured."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE staff_terminaltoken SET last_seen_at = clock_timestamp()")


class Paths:
    """The people and programs that ask, and where the log stands."""

    def __init__(self, grown: Grown, reports: Sequence[str]) -> None:
        self._grown, self._kit, self._reports = grown, grown.kit, reports
        self._house = grown.kit.house
        self._chance = random.Random("growth")
        self._dealer = self._kit.dealer()
        self._cashier: Desk = self._kit.cashier()
        self._auditor, self._manager = self._kit.office(Role.AUDITOR), self._kit.office(Role.MANAGER)
        self._sequencer = Sequencer(Signer.from_settings())
        self._sequencer.publish(self._house.id)
        self._newest = Event.objects.filter(house=self._house).latest("id").id
        self._player = self._account("T1-u1")
        #: The last day that was written.
        self._day = (grown.size.today - timedelta(days=1)).isoformat()

    def round(self) -> dict[str, Cost]:
        """Everything once; costs of a request, by what it is."""
        _sign_on()
        found = dict(self._hand())
        found["a buy-in at the cage"] = measure(self._buy_in)
        found["a pass of the sequencer"] = measure(self._publish)
        self._buy_in()
        found["a sequencer that begins"] = measure(self._take_up)
        found["custody is checked"] = measure(lambda: int(check(self._house)))
        found["retention prunes"] = measure(self._prune)
        for name, ask in self._reads().items():
            found[name] = measure(lambda ask=ask: sum(ask() for _ in range(TIMES)))
        return found

    def reports(self) -> Iterator[tuple[str, Cost]]:
        """Each report of the last day that was written."""
        for name in self._reports:
            yield f"report {name}, one day", measure(lambda name=name: self._report(name))

    # --- Writes ----------------------------------------------------------------------------------------------------

    def _hand(self) -> Iterator[tuple[str, Cost]]:
        self._dealer.refresh()
        yield "deal a hand", measure(lambda: self._one(self._dealer.ok("hands", {"mode": "physical"})))
        acts = [measure(lambda lines=lines: self._one(self._dealer.act(*lines))) for lines in SHORT_HAND]
        sums = (sum(part) / len(acts) for part in zip(*((c.server, c.own, c.pages) for c in acts), strict=True))
        yield "act in a hand", Cost(*sums)
        yield "settle a hand", measure(lambda: len(self._kit.settle()))

    def _buy_in(self) -> int:
        self._cashier.refresh()
        for _ in range(TIMES):
            self._cashier.ok("buy-ins", {"player": "T1-u1", "amount": 100})
        return TIMES

    def _publish(self) -> int:
        if self._sequencer.publish(self._house.id) is None:
            raise AssertionError("the log has not grown")
        return 1

    def _prune(self) -> int:
        prune(self._house, "bench")
        return 1

    def _take_up(self) -> int:
        """One that has just been started; it goes on in the next round."""
        self._sequencer = Sequencer(Signer.from_settings())
        return self._publish()

    # --- Reads -----------------------------------------------------------------------------------------------------

    def _reads(self) -> dict[str, Callable[[], int]]:
        events = "/api/v1/audit/events?page_size=50"
        statement = f"/api/v1/ledger/accounts/{self._player.code}/statement?page_size=50"
        balance = f"/api/v1/ledger/accounts/{self._player.code}/balance"
        day = self._day
        return {
            "the view of a table": lambda: self._get(self._dealer, ""),
            "the view of a drawer": lambda: self._get(self._cashier, ""),
            "the hints of a table": lambda: self._get(self._dealer, "changes"),
            "a statement, its newest page": lambda: self._get(
                self._manager, f"{statement}&after_version={max(self._player.version - 50, 0)}"
            ),
            "a statement, any page": lambda: self._get(
                self._manager, f"{statement}&after_version={self._chance.randrange(self._player.version)}"
            ),
            "a balance at a time": lambda: self._get(self._manager, f"{balance}?at={day}T18:00:00Z"),
            "accounts, a page": lambda: self._get(self._manager, "ledger/accounts"),
            "events, the newest": lambda: self._get(self._auditor, f"{events}&sort=newest"),
            "events of a table": lambda: self._get(self._auditor, f"{events}&sort=newest&chain=table/T1"),
            "events of a frequent kind": lambda: self._get(self._auditor, f"{events}&sort=newest&kind=hand.settled"),
            "events of a rare kind": lambda: self._get(self._auditor, f"{events}&sort=newest&kind=house.founded"),
            "events of a chain and kind": lambda: self._get(
                self._auditor, f"{events}&sort=newest&chain=drawer/C1&kind=cage.buy_in"
            ),
            "events of a person": lambda: self._get(self._auditor, f"{events}&sort=newest&actor=test"),
            "events of an hour": lambda: self._get(
                self._auditor, f"{events}&from={day}T18:00:00Z&until={day}T19:00:00Z"
            ),
            "events of an hour and kind": lambda: self._get(
                self._auditor, f"{events}&kind=hand.settled&from={day}T18:00:00Z&until={day}T19:00:00Z"
            ),
            "events of a day": lambda: self._get(self._auditor, f"{events}&from={day}T00:00:00Z"),
            "hands of a day": lambda: self._get(self._manager, f"hands?page_size=50&from={day}T00:00:00Z"),
            "hands of a player": lambda: self._get(self._manager, "hands?page_size=50&sort=newest&player=T1-u1"),
            "a record of a hand": self._record,
            "a receipt with its proof": self._receipt,
            "a proof of an event": self._inclusion,
            "the report of the house": lambda: self._get(self._manager, "reports/house"),
            "what is readied to go live": lambda: self._get(self._manager, "house/readiness"),
        }

    def _record(self) -> int:
        size = self._grown.size
        return self._get(self._auditor, f"hands/T1-{self._chance.randrange(1, size.days * size.hands):06d}")

    def _receipt(self) -> int:
        return self._get(self._auditor, f"receipts/{self._event().leaf_hash}")

    def _inclusion(self) -> int:
        event = self._event()
        return self._get(self._auditor, f"audit/proofs/inclusion?chain={event.chain.name}&seq={event.seq}")

    def _event(self) -> Event:
        """Any event that is in the log."""
        wanted = self._chance.randrange(1, self._newest)
        return Event.objects.select_related("chain").filter(house=self._house, id__gte=wanted).order_by("id")[0]

    def _report(self, name: str) -> int:
        from casino.reports.frame import as_of, registry
        from casino.reports.frame.head import Head
        from casino.reports.frame.report import Format, Scope
        from casino.reports.render.base import produce
        from casino.reports.render.formats import writers
        from casino.reports.render.style import Style

        house, report = self._house, registry.reports()[name]
        named = {"player": "T1-u1"}
        filters: dict[str, Any] = {one.name: named[one.name] for one in report.filters if one.required}
        filters |= {"from": self._day, "until": self._day}
        moment = as_of.now(house)
        style = Style(exponent=house.currency_exponent, zone=house.time_zone)
        with tempfile.TemporaryDirectory() as folder:
            head = Head(
                report=report, house=house.code, house_name=house.name, currency=house.currency,
                exponent=house.currency_exponent, zone=house.time_zone, filters=filters, group_by=None,
                requested_by="bench", requested_at=moment.at, as_of=moment,
            )  # fmt: skip
            produce(report, Scope(house, moment, filters), head, writers([Format.CSV], Path(folder), head, style))
        return 1

    # --- Parts -----------------------------------------------------------------------------------------------------

    def _account(self, player: str) -> Account:
        """The account of a player with the most entries: the stack at the table."""
        accounts = Account.objects.filter(book=self._house.id, code__endswith=f"/{player}")
        return accounts.order_by("-version")[0]

    def _one(self, _: object) -> int:
        return 1

    def _get(self, desk: Desk, path: str) -> int:
        answer = desk.get(path)
        if not answer.is_success:
            raise AssertionError(f"{path}: {answer.text}")
        return 1
