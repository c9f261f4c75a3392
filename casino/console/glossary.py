"""The words of a page that need an explanation: those of its game, or those of the house that the desk uses."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from casino.core.languages import Kind, said, spoken
from casino.hands.reference_pages import game_words
from casino.houses.terms import house_words

#: Words of the house by desk.
CAGE = ("float", "fill, credit", "variance", "tronc", "handle", "receipt", "approval", "control point")
COUNT_ROOM = ("soft count", "drop, drop box", "tax box", "rack", "chip set, denomination", "variance")
FLOOR = ("button", "carryover", "ruling", "fill, credit", "tax", "tray")


@dataclass(frozen=True, slots=True)
class Word:
    """A word in the reader's language, its names in other languages, and what it means."""

    word: str
    others: str
    meaning: str


def of_game(title: str) -> tuple[Word, ...]:
    """The words of a game, by its English title."""
    return _of_game(title, spoken())


@cache
def _of_game(title: str, language: str) -> tuple[Word, ...]:
    found = []
    for (hungarian, german, english, meaning), titles in game_words():
        if title in titles:
            own = {"hu": hungarian, "de": german}.get(language, "") or english
            names = dict.fromkeys(name for name in (english, hungarian, german) if name and name != own)
            found.append(Word(own, ", ".join(names), said(Kind.TERM, meaning)))
    return tuple(sorted(found, key=lambda one: one.word))


def meaning(name: str) -> Word:
    """A word of the house. Raises KeyError for one that it has not."""
    return Word(said(Kind.TERM, name), "", said(Kind.TERM, house_words()[name]))


def of_house(names: Iterable[str]) -> list[Word]:
    """These words of the house."""
    return [meaning(name) for name in names]
