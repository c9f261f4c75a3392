"""The rules of the house, as guests read them: fees and tax, what becomes of a cukassza, how chips are redeemed, how
disputes are decided and who hears complaints (4 CCR 12392). Versions are only ever added; the newest one is in force.
"""

from typing import Any

from casino.core import canonical, moments
from casino.houses.models import House, HouseRules


def newest(house: House) -> HouseRules | None:
    """The version in force, None where nobody has set one."""
    return HouseRules.objects.filter(house=house).order_by("-number").first()


def sha256(found: HouseRules) -> str:
    """SHA-256 of the texts as canonical JSON: what a table shows beside the version."""
    return canonical.sha256(found.texts)


def describe(house: House) -> dict[str, Any]:
    """The version in force with its texts, and every version without, the newest first."""
    every = list(HouseRules.objects.filter(house=house).order_by("-number"))
    return {
        "rules": whole(every[0]) if every else None,
        "history": [_short(one) for one in every],
    }


def whole(found: HouseRules) -> dict[str, Any]:
    """A version with its texts."""
    return _short(found) | {"texts": found.texts}


def version(house: House, number: int) -> HouseRules | None:
    """A version by its number."""
    return HouseRules.objects.filter(house=house, number=number).first()


def _short(found: HouseRules) -> dict[str, Any]:
    return {
        "number": found.number,
        "sha256": sha256(found),
        "languages": sorted(found.texts),
        "set_at": moments.utc(found.set_at),
        "set_by": found.set_by,
        "approval": found.approval,
    }
