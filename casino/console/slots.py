"""Where the acts of a game have their places: a slot keeps its place in every state, and what is not on offer says why.

A place is given to a verb once, by the game's declaration: verbs that belong to one phase never share a place. What
keeps things as they are (call, check, stand) comes first, what puts more in second; asides, such as a look, have a
place of their own, and what takes a seat out of the hand has the last one, never beside the first.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from casino.console import said
from casino.core import languages

#: Slots stand in two columns: the place beside the first one is not the last one's.
COLUMNS = 2


@dataclass(frozen=True, slots=True)
class Offer:
    """A button of the dock: what it says, its key, who would act, and what is to be said besides."""

    verb: str
    label: str
    key: str
    meaning: str
    actor: str
    seat: int | None
    takes: str
    #: The one amount that it may be; None where there is a choice, or no money.
    amount: int | None
    range: Mapping[str, int] | None

    leaves: bool = False

    @property
    def is_primary(self) -> bool:
        """Whether it needs no further word and goes on with the hand: one key does it."""
        return not self.leaves and (self.takes == "{}" or self.amount is not None)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of the dock: an `offer`, or a verb that comes to it later, with `when` in a word or two and `why`."""

    offer: Offer | None = None
    verb: str = ""
    label: str = ""
    key: str = ""
    when: str = ""
    why: str = ""


#: The verbs of a game by who writes them and their names: house and seat may have one of the same name.
Verbs = Mapping[tuple[bool, str], Mapping[str, Any]]


def by_writer(game: Mapping[str, Any]) -> Verbs:
    """The verbs of a game's declaration."""
    return {(verb["by"] == "house", verb["verb"]): verb for verb in game["verbs"]}


def label(verbs: Verbs, actor: str, verb: str) -> str:
    """What the button of a verb says, and its place in the log. Games use one word for different acts, so a translation
    is that of a word for a verb."""
    declared = verbs.get((actor == "d", verb))
    return languages.said(f"{languages.Kind.VERB} {verb}", declared["label"]) if declared else verb


def places(game: Mapping[str, Any]) -> dict[str, int]:
    """The place of every verb of a game, from 0, by its declaration."""
    phases: list[Sequence[str]] = [phase["verbs"] for phase in game["phases"]]
    marked = {mark: {verb["verb"] for verb in game["verbs"] if verb.get(mark)} for mark in ("aside", "leaves")}
    asides, leaving = marked["aside"], marked["leaves"]
    every = dict.fromkeys(verb for verbs in phases for verb in verbs)
    found: dict[str, int] = {}
    for verb in sorted(every, key=lambda one: (one in leaving, one in asides)):
        taken = {found[other] for verbs in phases if verb in verbs for other in verbs if other in found}
        if verb in leaving:
            # In the second column, across from the first place.
            taken |= {*found.values(), *range(0, len(every) + COLUMNS, COLUMNS)}
        elif verb in asides:
            taken |= {place for other, place in found.items() if other not in asides}
        found[verb] = next(place for place in range(len(every) + COLUMNS) if place not in taken)
    return found


def offers(hand: Mapping[str, Any], verbs: Verbs) -> list[Offer]:
    """The buttons of the dock, in the order of the house's offers."""
    chairs = {one["actor"]: one["seat"] for one in hand["seats"]}
    found = []
    for one in hand["legal_actions"]:
        declared, takes = verbs[one["actor"] == "d", one["verb"]], one["takes"]
        money = next((field for field in takes.values() if field["kind"] == "amount"), None)
        found.append(
            Offer(
                verb=one["verb"],
                label=label(verbs, one["actor"], one["verb"]),
                key=declared["key"],
                meaning=languages.said(languages.Kind.VERB, declared["meaning"]),
                actor=one["actor"],
                seat=chairs.get(one["actor"]),
                takes=json.dumps(takes),
                amount=money["min"] if money and money["min"] == money["max"] else None,
                range=money if money and money["min"] != money["max"] else None,
                leaves=declared.get("leaves", False),
            )
        )
    return found


def slots(hand: Mapping[str, Any], game: Mapping[str, Any], verbs: Verbs, given: Iterable[Offer]) -> list[Slot]:
    """Every place of the dock in its order, and after them what several seats may do beside each other."""
    where = places(game)
    found: list[Slot | None] = [None] * (max(where.values()) + 1)
    beside = []
    for offer in given:
        if found[where[offer.verb]] is None:
            found[where[offer.verb]] = Slot(offer)
        else:
            beside.append(Slot(offer))
    later = _later(hand, game, verbs, where)
    return [one or later.get(place, Slot()) for place, one in enumerate(found)] + beside


def _later(hand: Mapping[str, Any], game: Mapping[str, Any], verbs: Verbs, where: Mapping[str, int]) -> dict[int, Slot]:
    """By place the verb that comes to it next, of those that are not on offer."""
    order = [phase["phase"] for phase in game["phases"]]
    now = order.index(hand["view"]["phase"])

    def away(phase: str) -> int:
        return (order.index(phase) - now) % len(order)

    farthest_first = sorted(hand["not_offered"], key=lambda one: -min(map(away, one["phases"])))
    return {where[one["verb"]]: _missing(game, verbs, one, min(one["phases"], key=away)) for one in farthest_first}


def _missing(game: Mapping[str, Any], verbs: Verbs, one: Mapping[str, Any], comes: str) -> Slot:
    """A verb that is not on offer: `comes` is its next phase."""
    by_house = one["by"] == "house"
    declared = verbs[by_house, one["verb"]]
    when, why = gettext("not now"), languages.said(languages.Kind.VERB, declared["only"])
    if not one["in_phase"]:
        meanings = {phase["phase"]: phase["meaning"] for phase in game["phases"]}
        when = said.of_table(comes)
        why = " \N{MIDDLE DOT} ".join(languages.said(languages.Kind.PHASE, meanings[phase]) for phase in one["phases"])
    words = label(verbs, "d" if by_house else "p", one["verb"])
    return Slot(verb=one["verb"], label=words, key=declared["key"], when=when, why=why)
