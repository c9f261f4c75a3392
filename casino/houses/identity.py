"""Who a house is, before the law and to its guests: versions that are only ever added.

The newest version is the identity. Of its parts the house's row repeats what everything else reads: name, currency and
exponent at once, time zone and cut-off from the next gaming day on, so that a day keeps the clock that it began with.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import models

from casino.core import moments, sql
from casino.core.errors import Conflict, Unprocessable
from casino.core.languages import ENGLISH, NAMES
from casino.houses import gaming_clock, iso
from casino.houses.models import House, Identity, known_time_zones
from ledger.models import Period


class LegalProfile(models.TextChoices):
    """Under which law the house works."""

    HUNGARY = "HU", "Hungary"
    AUSTRIA = "AT", "Austria"
    UNITED_KINGDOM = "UK", "United Kingdom"
    CALIFORNIA = "US-CA", "California"
    CUSTOM = "custom", "another one: what it asks for is set by hand"


#: Legal profiles that let nobody play whom the house has not seen to be of age (Austria: GSpG § 25 (1)). Counsel says
#: whether another one does.
ADMITS = frozenset({LegalProfile.AUSTRIA})
#: From how many years on a legal profile lets people play: in California 21 (Business and Professions Code 19921), in
#: Hungary, Austria and the United Kingdom 18, which another law, or none yet, has too. Counsel says whether it is so.
LEAST_AGES = {LegalProfile.CALIFORNIA: 21}
LEAST_AGE = 18


class Beneficiary(models.TextChoices):
    """Who gets winnings that are kept from minors."""

    STATE = "state", "the state"
    CHARITY = "charity", "a charity"


#: Who gets the winnings of minors under a legal profile: the state, in the United Kingdom a charity; where what the law
#: asks for is set by hand, either of them, as it is approved. A house without a legal profile pays them to nobody.
#: Counsel says whether it is so.
BENEFICIARIES: Mapping[str, frozenset[Beneficiary]] = {
    **dict.fromkeys(
        (LegalProfile.HUNGARY, LegalProfile.AUSTRIA, LegalProfile.CALIFORNIA), frozenset({Beneficiary.STATE})
    ),
    LegalProfile.UNITED_KINGDOM: frozenset({Beneficiary.CHARITY}),
    LegalProfile.CUSTOM: frozenset(Beneficiary),
}
#: Parts that are repeated in the house's row.
AT_ONCE = ("name", "currency", "currency_exponent")
CLOCK = ("time_zone", "day_cut_off")
#: Parts that a house cannot do without, and what they are in words.
REQUIRED = {
    "legal_name": "its legal name",
    "tax_id": "its tax id",
    "licence_number": "the number of its licence",
    "address": "its address",
    "legal_profile": "its legal profile",
    "languages": "the languages of the room",
}


def newest(house: House) -> Identity | None:
    """The newest version, None where the house has only been founded."""
    return next(iter(newest_of(house)), None)


def newest_of(house: House) -> models.QuerySet[Identity]:
    """What `newest` reads, for who reads it with something else."""
    return Identity.objects.filter(house=house).order_by("-number")[:1]


def parts(house: House) -> dict[str, Any]:
    """Every part of the identity; empty where nobody has said it yet."""
    return parts_of(house, newest(house))


def language(house: House) -> str:
    """The language in which the house speaks where nobody has chosen one: the first of its room's that has been
    translated, or else English."""
    return language_of(house, newest(house))


def language_of(house: House, newest: Identity | None) -> str:
    """The same, by the newest version."""
    return next((one for one in parts_of(house, newest)["languages"] if one in NAMES), ENGLISH)


def languages_at(house: House, moment: datetime) -> list[str]:
    """Those of the room's languages at a moment that have been translated, the first one first; English where there was
    none. The same whenever it is asked for."""
    then = Identity.objects.filter(house=house, set_at__lte=moment).order_by("-number").first()
    return [one for one in parts_of(house, then)["languages"] if one in NAMES] or [ENGLISH]


def parts_of(house: House, newest: Identity | None) -> dict[str, Any]:
    """The same, by the newest version."""
    return dict(newest.parts) if newest is not None else of_founding(house)


def of_founding(house: House) -> dict[str, Any]:
    """The parts that are known when a house is founded."""
    empty: dict[str, Any] = dict.fromkeys(REQUIRED, "") | {"languages": []}
    return empty | {name: getattr(house, name) for name in (*AT_ONCE, *CLOCK)}


def missing(house: House) -> list[str]:
    """Parts that are empty, by name."""
    return missing_of(parts(house))


def missing_of(found: Mapping[str, Any]) -> list[str]:
    """The same, by all parts."""
    return [name for name in REQUIRED if not found[name]]


def require_known(changed: Mapping[str, Any], whole: Mapping[str, Any]) -> None:
    """Refuse codes that nobody knows. Raises Unprocessable unknown_time_zone, unknown_currency, unknown_language."""
    if "time_zone" in changed and changed["time_zone"] not in known_time_zones():
        raise Unprocessable(
            f"{changed['time_zone']} is no time zone of the IANA, such as Europe/Budapest.", code="unknown_time_zone"
        )
    if {"currency", "currency_exponent"} & changed.keys():
        places = iso.PLACES.get(whole["currency"])
        if places is None:
            raise Unprocessable(f"{whole['currency']} is no currency of ISO 4217.", code="unknown_currency")
        if whole["currency_exponent"] > places:
            raise Unprocessable(
                f"{whole['currency']} has {places} decimal places at most.", code="too_many_places", max=places
            )
    unknown = sorted(set(changed.get("languages", ())) - iso.LANGUAGES)
    if unknown:
        raise Unprocessable(
            f"{', '.join(unknown)}: no language of ISO 639-1, such as hu.", code="unknown_language", unknown=unknown
        )


_USED = """SELECT EXISTS (SELECT FROM ledger_account WHERE book = %s AND commodity = %s)
    OR EXISTS (SELECT FROM chips_chipset WHERE house_id = %s)"""


def require_currency_free(house: House, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse another currency or exponent once the house has chips, or accounts in the currency: with the first chip
    set, drawer, table or capital; nothing can be posted before. Raises Conflict currency_in_use."""
    names = ("currency", "currency_exponent")
    if all(before[name] == after[name] for name in names):
        return
    [(used,)] = sql.rows(_USED, [house.id, before["currency"], house.id])
    if used:
        raise Conflict(
            f"The books are kept in {before['currency']} with {before['currency_exponent']} decimal places, for ever.",
            code="currency_in_use",
            expected={name: before[name] for name in names},
        )


def open_days(house: House) -> models.QuerySet[Any, int]:
    """What reads whether a gaming day is open, whose clock stays as it is."""
    return Period.objects.filter(book=house.id, closed_at=None).values_list("id", flat=True)[:1]


def wind_clock(house: House) -> House:
    """The house as the database has it, with time zone and cut-off of the newest version from now on; called when no
    day is open, or for the one that is being opened."""
    [fresh], versions = sql.together(House.objects.filter(id=house.id), newest_of(house))
    found = next(iter(versions), None)
    if found is not None and any(getattr(fresh, name) != found.parts[name] for name in CLOCK):
        clock = {name: found.parts[name] for name in CLOCK}
        House.objects.filter(id=house.id).update(**clock)
        for name, value in clock.items():
            setattr(fresh, name, value)
    house_now: House = fresh
    return house_now


def describe(house: House) -> dict[str, Any]:
    """The identity with what is in force of its clock, what is missing, and every version before, the newest first."""
    [fresh], rows, [(now,)] = sql.together(
        House.objects.filter(id=house.id), Identity.objects.filter(house=house).order_by("-number"), sql.DATABASE_TIME
    )
    versions = [_version(row) for row in rows]
    clock = {name: getattr(fresh, name) for name in CLOCK}
    due = gaming_clock.due(fresh.time_zone, fresh.day_cut_off, now)
    return {
        "identity": versions[0] if versions else {**_UNSET, **of_founding(fresh)},
        "clock": clock | {"due_day": due.isoformat()},
        "missing": missing_of(parts_of(fresh, next(iter(rows), None))),
        "history": versions[1:],
    }


_UNSET = {"number": 0, "set_by": "", "set_at": None, "approval": None}


def _version(row: Identity) -> dict[str, Any]:
    return {
        "number": row.number,
        "set_by": row.set_by,
        "set_at": moments.utc(row.set_at),
        "approval": row.approval,
        **row.parts,
    }
