"""The fields of a request for an offer, by name.

The grammar declares the arguments of a verb (:class:`engine.kernel.grammar.Argument`), an offer says what each of them
may be now (:class:`engine.kernel.legal.Legal`). Put together they say which fields a request for the offer has, and
what may stand in each. To fill in one value for each field, nobody needs to know the game.

>>> from engine.kernel.grammar import SEAT, amount, seat
>>> from engine.kernel.legal import Legal, Range, Target
>>> charge = Verb("ks", SEAT, (amount(), seat()), "charge a seat")
>>> takes(Legal("p4", "ks", (Range(200, 400, 100), Target(1))), charge)
{'amount': {'kind': 'amount', 'min': 200, 'max': 400, 'step': 100}, 'target': {'kind': 'seat', 'choices': ['p1']}}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.kernel.cards import UNKNOWN, split_cards
from engine.kernel.grammar import OUT_OF_HAND, Argument, Role, Verb, actor_name
from engine.kernel.legal import Domain, Legal, Order, Parts, Pick, Range, Rows, Seats, Secret, Some, Target, Words

Field = dict[str, object]
"""The allowed values of one field of a request. ``kind`` is that of the argument, or ``places``."""

PLACES = "places"
"""The field, and its kind, that names cards of a hand by where they lie in it, from 0 in the order of dealing."""

KINDS: Mapping[type, tuple[str, ...]] = {
    Range: ("amount", "number"),
    Target: ("seat",),
    Seats: ("seats",),
    Words: ("word",),
    Secret: ("commitment", "nonce"),
    **dict.fromkeys((Rows, Pick, Some, Order, Parts), ("cards",)),
}
"""Which arguments a domain may belong to."""


def takes(offer: Legal, verb: Verb, held: tuple[str, ...] | None = None) -> dict[str, Field]:
    """The fields of a request for this offer, each with what may stand in it.

    ``held``: where the house deals and knows all cards, those of the seat that acts, in the order of dealing. Cards of
    a hand are then named by their places, and a whole hand is shown as ``??``. Of ``held`` the answer reveals no
    more than the offer itself does.
    """
    found: dict[str, Field] = {}
    for argument, domain in _arguments(offer, verb):
        if held is None or argument.role not in OUT_OF_HAND:
            found[argument.name] = _field(argument, domain, sealed=held is not None)
        elif argument.role is Role.SHOWN:
            found[argument.name] = _cards(len(held), len(held), choices=[UNKNOWN * len(held)])
        else:
            found[PLACES] = _places(domain, held)
    return found


def _arguments(offer: Legal, verb: Verb) -> Iterator[tuple[Argument, Domain]]:
    """The declared arguments that the offer has, with what each may be. Raises LookupError if they do not agree."""
    waiting = list(offer.arguments)
    for argument in verb.arguments:
        if waiting and argument.kind in KINDS[type(waiting[0])]:
            yield argument, waiting.pop(0)
        elif not argument.optional:
            raise LookupError(f"the offer {offer} has no {argument.name}")
    if waiting:
        raise LookupError(f"the offer {offer} has more than {verb.name} declares")


def _field(argument: Argument, domain: Domain, *, sealed: bool) -> Field:
    kind: Field = {"kind": argument.kind}
    match domain:
        case Range():
            return kind | _range(domain)
        case Target():
            return kind | {"choices": [actor_name(domain.seat)]}
        case Seats():
            must = [*map(actor_name, domain.must)]
            return kind | {"choices": [*map(actor_name, domain.choices)], "must": must, "least": domain.least}
        case Words():
            return kind | {"choices": list(domain.words)}
        case Secret():
            return kind | (_commitment(argument, domain, sealed=sealed) if argument.kind == "commitment" else {})
        case _:
            return _named(argument, domain)


def _named(argument: Argument, domain: Rows | Pick | Some | Order | Parts) -> Field:
    match domain:
        case Rows():
            sizes = [len(row) // 2 for row in domain.rows] or [0]
            return _cards(min(sizes), max(sizes), choices=list(domain.rows))
        case Pick():
            return _picked(domain)
        case Some():
            known = [card for card in domain.pool if card not in domain.free]
            return _cards(domain.least, domain.most, among=known, unknown=bool(domain.blind))
        case Order():
            known = [card for card in domain.cards if card != UNKNOWN]
            return _cards(len(domain.cards), len(domain.cards), among=known, unknown=UNKNOWN in domain.cards)
        case Parts():
            return _cards(1, argument.most)


def _range(domain: Range) -> Field:
    return {"min": domain.low, "max": domain.high, "step": max(domain.step, 1)}


def _commitment(argument: Argument, domain: Secret, *, sealed: bool) -> Field:
    """The amounts that may be committed to; a thing in the real world, ``??``, only where the house does not deal."""
    held = {} if domain.held is None else _range(domain.held)
    return held | {"tag": argument.tag, "unknown": domain.unbound == UNKNOWN and not sealed}


def _cards(
    least: int, most: int, *, choices: list[str] | None = None, among: list[str] | None = None, unknown: bool = False
) -> Field:
    """Cards by their names: one of the choices, or some of those ``among`` in their order; else as the table shows."""
    found: Field = {"kind": "cards", "least": least, "most": most}
    if choices is not None:
        found["choices"] = choices
    if among is not None:
        found["among"] = among
    return found | ({"unknown": True} if unknown else {})


def _picked(domain: Pick) -> Field:
    least = domain.count if domain.least is None else domain.least
    if domain.pool is None:
        found = _cards(least, domain.count, unknown=domain.unknown)
    elif domain.places is None:
        found = _cards(least, domain.count, among=list(domain.pool), unknown=domain.unknown)
    else:
        found = _cards(least, domain.count, choices=list(domain.texts()), unknown=domain.unknown)
    return found | ({"if_held": True} if domain.if_held else {})


def _places(domain: Domain, held: tuple[str, ...]) -> Field:
    """Cards of a hand by their places: one of the choices, or some of the places ``among``."""
    if isinstance(domain, Rows):
        choices = [sorted(map(held.index, split_cards(row))) for row in domain.rows]
        sizes = [len(choice) for choice in choices] or [0]
        return {"kind": PLACES, "least": min(sizes), "most": max(sizes), "choices": choices}
    if isinstance(domain, Some):
        among = sorted(map(held.index, domain.pool))
        return {"kind": PLACES, "least": domain.least, "most": domain.most, "among": among}
    if not isinstance(domain, Pick):
        return {"kind": PLACES, "least": 1, "most": len(held), "among": list(range(len(held)))}
    least = domain.count if domain.least is None else domain.least
    found: Field = {"kind": PLACES, "least": least, "most": domain.count}
    if domain.places is not None:
        found["choices"] = [list(choice) for choice in domain.places]
    else:
        found["among"] = sorted(map(held.index, domain.pool)) if domain.pool else list(range(len(held)))
    return found | ({"if_held": True} if domain.if_held else {})
