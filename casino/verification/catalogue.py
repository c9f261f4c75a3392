"""The whole catalogue of the database, compared with what the migrations make, and recorded in the audit trail.

`catalogue.txt` declares every object that is not the ledger's, `ledger/catalogue.txt` the ledger's: an object and the
SHA-256 of its text. `make catalogue` writes both after a change of the migrations. An object that differs, is missing,
or was made by no migration is a finding.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.utils import CursorWrapper

from casino.audit.events.house import CatalogueChanged
from casino.audit.models import Event
from casino.audit.services import Actor, record
from casino.core import sql
from casino.houses.models import House
from casino.verification import newer
from ledger import catalogue
from ledger.findings import Finding

FILE = Path(__file__).with_name("catalogue.txt")
#: Objects that an event names at most.
MOST_NAMED = 100
#: Seconds for which `lately` gives the same answer; a comparison takes about 30 ms.
KEPT_FOR = 30.0
#: The functions that PostgreSQL itself brings along, which belong to its major version.
_BROUGHT = "functions of PostgreSQL "


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The objects of a database at one moment, by name."""

    objects: Mapping[str, str]

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of each object's text."""
        return {name: catalogue.digest(text) for name, text in self.objects.items()}

    @property
    def digest(self) -> str:
        """SHA-256 over all of them, 64 hex digits: of the lines `DIGEST  OBJECT`, each with its line end, sorted."""
        lines = sorted(f"{digits}  {name}\n" for name, digits in self.digests.items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def differences(self) -> list[Finding]:
        """What is not as the migrations make it, those of this release or of the newer one that bears it (`newer.py`).
        Functions of a PostgreSQL for whose version none are declared are not compared."""
        brought = next(name for name in self.objects if name.startswith(_BROUGHT))
        wanted = {name: digits for name, digits in declared().items() if not name.startswith(_BROUGHT)}
        there = dict(self.objects)
        if brought in declared():
            wanted[brought] = declared()[brought]
        else:
            del there[brought]
        return catalogue.compare(there, wanted, newer.declared)


@cache
def declared() -> Mapping[str, str]:
    """The digests of all objects, from the files that are shipped with the code."""
    return {**catalogue.declared(), **catalogue.declared_in(FILE)}


def read(cursor: CursorWrapper) -> Catalogue:
    """The catalogue by a cursor in a transaction, whatever search path its connection has."""
    roles = {settings.CASINO_APP_ROLE: "@app@", settings.CASINO_SEQUENCER_ROLE: "@sequencer@"}
    return Catalogue(catalogue.read(cursor, roles, schema="public"))


def now(using: str = DEFAULT_DB_ALIAS) -> Catalogue:
    """The catalogue of a database now."""
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        return read(cursor)


#: When the application's database was compared last, and what differed.
_lately: list[tuple[float, list[Finding]]] = []


def lately() -> list[Finding]:
    """What of the application's database is not as the migrations make it, compared within the last KEPT_FOR seconds:
    for probes. What a check relies on is compared now."""
    connections[DEFAULT_DB_ALIAS].ensure_connection()  # a new one may lead to another database: `forget`
    asked = monotonic()
    for at, found in _lately:
        if asked - at <= KEPT_FOR:
            return found
    found = now().differences()
    _lately[:] = [(asked, found)]
    return found


def forget() -> None:
    """Compare again at the next question, as a new process would."""
    _lately.clear()


sql.forget_with_each_connection(forget)


def write_files(found: Catalogue) -> None:
    """Declare what a freshly migrated database has. The functions of other major versions of PostgreSQL stay."""
    others = settings.LEDGER_OTHER_TRIGGERS
    ours = {name: digits for name, digits in found.digests.items() if catalogue.is_of_the_ledger(name, others)}
    kept = catalogue.declared_in(FILE) if FILE.exists() else {}
    brought = {name: digits for name, digits in kept.items() if name.startswith(_BROUGHT)}
    rest = {name: digits for name, digits in found.digests.items() if name not in ours}
    catalogue.write(catalogue.FILE, ours)
    catalogue.write(FILE, brought | rest)


def recorded(house: House, using: str = DEFAULT_DB_ALIAS) -> str | None:
    """The digest that the house's trail recorded last, None if none was recorded yet."""
    events = Event.objects.using(using).filter(house=house, doc__kind=CatalogueChanged.KIND).order_by("-id")
    doc = events.values_list("doc", flat=True).first()
    return None if doc is None else str(doc["data"]["digest"])


def record_change(house: House, found: Catalogue, actor: Actor, using: str = DEFAULT_DB_ALIAS) -> bool:
    """Record the catalogue in the house's trail if it is not the one recorded last; returns whether it was.

    Raises a LogRefused in a house that may write nothing.
    """
    with transaction.atomic(using=using):
        before = recorded(house, using)
        if before == found.digest:
            return False
        named = [finding.subject for finding in found.differences()]
        event = CatalogueChanged(
            before=before,
            digest=found.digest,
            object_count=len(found.objects),
            difference_count=len(named),
            differences=named[:MOST_NAMED] or None,
        )
        record(chain=house.chain, house=house, actor=actor, event=event, using=using)
    return True
