"""Marks: by what a person is found again in the records of a house without being named in them.

    mark = HMAC-SHA256(data key 1 of the house, KIND/VALUE), see `keyed` of casino/houses/sealing.py

A person has a mark of the name with the date of birth, one of the name at birth with that date, and one of the number
of the document. Before it is keyed, a value is brought into one form: without accents, in capitals, words of a name in
the order of the alphabet, of a document letters and digits alone. So "Kovács-Őry Anna" and "ANNA KOVACS ORY" have one
mark. Two people of one name who were born on one day have one too: a match is for a person to judge.

Marks are kept of exclusions only, and of nobody else: for the players of the house they are made when they are needed,
out of what is sealed.
"""

import hashlib
import secrets
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from uuid import UUID

from casino.houses import sealing
from casino.houses.models import House
from casino.players import persons
from casino.safeguards import standing
from casino.safeguards.models import Exclusion, ExclusionMark

_CONTEXT = b"exclusion mark"
_SALT_BYTES = 16
#: Players whose persons are in the clear at a time.
_CHUNK = 500


def of_person(house: UUID, person: Mapping[str, str]) -> set[str]:
    """The marks of a person with these fields; fields that are missing or empty give none. Raises SealKeyWrong,
    SealedUnreadable."""
    born = person.get("born", "")
    found = {
        f"{kind}/{born}/{words}"
        for kind, field in (("name", "name"), ("name", "birth_name"))
        if born and (words := in_one_form(person.get(field, "")))
    }
    if number := "".join(_words(person.get("document", ""))):
        found.add(f"document/{number}")
    return {sealing.keyed(house, one.encode(), _CONTEXT).hex() for one in found}


def of_players(house: House, wanted: set[str]) -> list[str]:
    """References of the players whose recorded persons, of any version, have one of these marks. Every person that can
    still be read is opened for it."""
    found = []
    for ref, versions in persons.readable(house, _CHUNK):
        if any(of_person(house.id, person) & wanted for person in versions):
            found.append(ref)
    return found


def in_one_form(name: str) -> str:
    """A name however it is written: its words without accents, in capitals, in the order of the alphabet."""
    return " ".join(sorted(_words(name)))


def exclusions_with(house: House, wanted: set[str]) -> list[Exclusion]:
    """The exclusions that have one of these marks and count now, by number."""
    rows = Exclusion.objects.filter(standing.lasting(), house=house, lifted_at=None, marks__mark__in=wanted)
    return list(rows.distinct().order_by("number"))


def keep(exclusion: Exclusion, found: Iterable[str]) -> list[str]:
    """Keep these marks with an exclusion, those apart that it has; returns the SHA-256 of each of the new ones with its
    salt, as the trail has them. The caller holds the lock of safeguards."""
    known = set(ExclusionMark.objects.filter(exclusion=exclusion).values_list("mark", flat=True))
    rows = list(_rows(exclusion, sorted(set(found) - known)))
    ExclusionMark.objects.bulk_create(rows)
    return [hashlib.sha256(row.salted).hexdigest() for row in rows]


def _rows(exclusion: Exclusion, found: Iterable[str]) -> Iterator[ExclusionMark]:
    for mark in found:
        salted = secrets.token_bytes(_SALT_BYTES) + bytes.fromhex(mark)
        yield ExclusionMark(house_id=exclusion.house_id, exclusion=exclusion, mark=mark, salted=salted)


def _words(text: str) -> list[str]:
    """Letters and digits in capitals without accents, in words."""
    plain = (one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))
    return "".join(one if one.isalnum() else " " for one in plain).upper().split()
