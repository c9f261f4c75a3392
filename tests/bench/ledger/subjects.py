"""The subjects that settle through Django: the settings they need, how their accounts are opened, what settles."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench.ledger import ours, references
from tests.bench.ledger.workload import Settlement, Stage

HOUSE = "casino.settings"
REFERENCES = "tests.bench.ledger.reference_settings"


@dataclass(frozen=True, slots=True)
class Subject:
    """`settings` are Django's; `open` prepares accounts once; `settle(stage)` is called in each client; `batch` many
    settlements are handed over at a time."""

    title: str
    settings: str
    open: Callable[[], Stage]
    settle: Callable[[Stage], Callable[[Sequence[Settlement]], None]]
    batch: int = 1


SUBJECTS = {
    "post": Subject("ledger, post in atomic", HOUSE, ours.open_book, ours.Posted),
    "alone": Subject("ledger, post alone", HOUSE, ours.open_book, ours.PostedAlone),
    "batch": Subject("ledger, post_many", HOUSE, ours.open_book, ours.PostedTogether, batch=500),
    "hordak": Subject("django-hordak, bulk_create", REFERENCES, references.open_hordak, references.Hordak),
    "plain": Subject("plain Django ORM", REFERENCES, references.open_plain, references.Plain),
}
