"""The gaming duty by law: on what it falls, what is deducted, and at which rates. Versions are only ever added, each
from a month on; a month on which duty was booked keeps its own.

Duty of a month is taken of its base less the deductions, not below zero, band by band: what lies above the start of a
band and not above that of the next one bears the rate of the band. The sum is rounded down to the minor unit.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from casino.core import moments
from casino.houses.models import DutyRates, House

#: A rate is in hundredths of a percent.
WHOLE = 10_000
#: Figures of the report A5 that a law may let a house take off: bonuses that it has paid, and goodwill.
DEDUCTED = ("bonus", "goodwill")


class From(Protocol):
    """A version: its number, and the first month (`2026-11`) to which it applies."""

    @property
    def number(self) -> int:
        """From 1 in each house."""

    @property
    def valid_from(self) -> str:
        """The first month."""


V = TypeVar("V", bound=From)


def in_force(versions: Iterable[V], month: str) -> V | None:
    """The version for a month: of those that begin with it or earlier the one that begins last, of several such the
    newest; None where there is none."""
    begun = [one for one in versions if one.valid_from <= month]
    return max(begun, key=lambda one: (one.valid_from, one.number), default=None)


def by_band(taxable: int, bands: Sequence[Mapping[str, int]]) -> list[tuple[int, int]]:
    """What of an amount lies in each band, and the duty on it, minor units. Each but the first band bears what the sum
    up to it, rounded down, is more than the sum before, so that all together are the duty."""
    found: list[tuple[int, int]] = []
    exact = whole = 0
    for at, band in enumerate(bands):
        top = bands[at + 1]["above"] if at + 1 < len(bands) else None
        inside = max((taxable if top is None else min(taxable, top)) - band["above"], 0)
        exact += inside * band["rate"]
        found.append((inside, exact // WHOLE - whole))
        whole = exact // WHOLE
    return found


def describe(house: House) -> dict[str, Any]:
    """Every version, the newest first."""
    return {"rates": [whole(one) for one in DutyRates.objects.filter(house=house).order_by("-number")]}


def whole(found: DutyRates) -> dict[str, Any]:
    """A version as answers have it."""
    return {
        "number": found.number,
        "valid_from": found.valid_from,
        "tax_code": found.tax_code,
        "base": found.base,
        "deductions": found.deductions,
        "bands": found.bands,
        "set_at": moments.utc(found.set_at),
        "set_by": found.set_by,
        "approval": found.approval,
    }
