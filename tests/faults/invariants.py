"""What must hold after any fault (the list of docs/explanation/faults.md)."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from deploy.demo.client import Terminal
from deploy.demo.logins import Login
from tests.faults.players import Play

if TYPE_CHECKING:
    from casino.houses.models import House

#: Seconds after which the outbox must be empty.
OUTBOX = 60.0
#: Kinds of events that a person leaves without a write under a key.
BESIDES = ("staff.sign", "attempt.refused", "data.read", "cards.exception")


def violations(play: Play) -> list[str]:
    """What does not hold in the house, in words."""
    from django.db import connections

    from casino.houses.models import House

    # They may have been lost with the fault.
    connections.close_all()
    house = House.objects.get(code=play.credentials.house)
    found = outbox(house) + hands(house, play.journal.hands) + _events(house, play) + _hints(house, play)
    return found + books(house, play.root, play.credentials.auditor)


def books(house: House, root: str, login: Login) -> list[str]:
    """Verification finds nothing, custody and ledger agree on every chip, as this auditor reads it."""
    from casino.reports.verifying import verification

    found: list[str] = []
    verified = verification(house)
    with Terminal(root, login) as auditor:
        custody = auditor.get("reports/house")["custody"]
    if not verified["ok"]:
        found += [f"{name}: {verified[name][:3]}" for name in verified if name.endswith("_findings") and verified[name]]
    if not custody["equal"]:
        found.append(f"chips {custody}")
    return found


def outbox(house: House) -> list[str]:
    """Nothing waits in the outbox; what does is given time."""
    from casino.houses.models import OutboxMessage

    deadline = time.monotonic() + OUTBOX
    waiting = OutboxMessage.objects.filter(house=house, done_at=None)
    while waiting.exists():
        if time.monotonic() > deadline:
            return [f"the outbox is not empty after {OUTBOX:.0f} s: {waiting.count()} messages"]
        time.sleep(0.2)
    return []


def hands(house: House, seen: int) -> list[str]:
    """Every hand settled, and exactly once; consoles have seen so many."""
    from casino.hands.models import Hand, HandState
    from ledger.models import Transaction

    states = Counter(Hand.objects.filter(house=house).values_list("state", flat=True))
    settled = states.pop(str(HandState.SETTLED), 0)
    found = [f"hands that are not settled: {dict(states)}"] if states else []
    if settled != seen:
        found.append(f"{settled} hands are settled, consoles have seen {seen}")
    posted = Transaction.objects.filter(book=house.id, kind="hand.settled").count()
    moving = Hand.objects.filter(house=house).exclude(settlement=None).values("settlement").distinct().count()
    return found if posted == moving else [*found, f"{posted} settlements in the ledger for {moving} hands"]


def _hints(house: House, play: Play) -> list[str]:
    """Who follows the house has got every event once, in order; so has the receiver of its webhook."""
    from casino.audit.models import ChainHead

    heads = dict(ChainHead.objects.filter(house=house).values_list("name", "seq"))
    found = play.following.lacks(heads) + (play.deliveries.lacks(heads) if play.deliveries is not None else [])
    play.following.end()
    return found


def _events(house: House, play: Play) -> list[str]:
    """What was acknowledged stands in the trail, and nothing else that these people have written."""
    from casino.audit.models import Event

    known = play.credentials
    people = (*known.dealers.values(), known.cashier, known.cage_supervisor, known.cage_manager)
    logins = [login.login for login in people]
    rows = Event.objects.filter(house=house, doc__actor__in=logins)
    written = {
        (chain, seq)
        for chain, seq, kind in rows.values_list("chain__name", "seq", "doc__kind")
        if seq > play.founding.get(chain, 0) and not kind.startswith(BESIDES)
    }
    acknowledged = set(play.journal.receipts)
    found = []
    if lost := acknowledged - written:
        found.append(f"{len(lost)} acknowledged writes are not in the trail: {sorted(lost)[:3]}")
    if unknown := written - acknowledged:
        found.append(f"{len(unknown)} writes were carried out that nobody has seen answered: {sorted(unknown)[:3]}")
    return found
