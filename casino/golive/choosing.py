"""Choosing among what the house offers, without knowing any game: a value for each field that an offer takes."""

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

#: The nonce of every commitment in a rehearsal, where nothing is secret.
_NONCE = bytes(16)
#: How often an offer is taken against others: bare words (to pass, to check, to fold) end hands soonest.
_BARE, _WITH_FIELDS = 4, 1


def actions(offers: Sequence[Mapping[str, Any]], choice: random.Random) -> Iterator[dict[str, Any]]:
    """Actions for these offers, in random order: one for each, or several where cards are named by their places."""
    left = list(offers)
    while left:
        weights = [_WITH_FIELDS if one["takes"] else _BARE for one in left]
        offer = choice.choices(left, weights)[0]
        left.remove(offer)
        yield from _filled(offer, choice)


def _filled(offer: Mapping[str, Any], choice: random.Random) -> Iterator[dict[str, Any]]:
    fields: Mapping[str, Any] = offer["takes"]
    opens = any(field["kind"] == "nonce" for field in fields.values())
    said: dict[str, Any] = {"actor": offer["actor"], "verb": offer["verb"]}
    for name, field in fields.items():
        if opens and field["kind"] == "amount":
            said[name] = field["min"]  # the least was committed to
        elif field["kind"] != "places":
            said[name] = _value(field, choice)
    places = next((field for field in fields.values() if field["kind"] == "places"), None)
    if places is None:
        yield said
    else:
        yield from (said | {"places": chosen} for chosen in _places(places, choice))


def _value(field: Mapping[str, Any], choice: random.Random) -> Any:
    match field["kind"]:
        case "amount":
            return field["min"]
        case "number":
            return choice.randrange(field["min"], field["max"] + 1, field["step"])
        case "seat" | "word":
            return choice.choice(field["choices"])
        case "seats":
            must = list(field["must"])
            others = [seat for seat in field["choices"] if seat not in must]
            chosen = {*must, *others[: max(field["least"] - len(must), 0)]}
            return [seat for seat in field["choices"] if seat in chosen]
        case "cards":
            return _cards(field, choice)
        case "commitment":
            parts = (field["tag"].encode(), str(field["min"]).encode(), _NONCE)
            return hashlib.sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).hexdigest()
        case "nonce":
            return _NONCE.hex()
    raise AssertionError(f"an offer has a field of the kind {field['kind']}, which nobody can choose")


def _cards(field: Mapping[str, Any], choice: random.Random) -> str:
    if "choices" in field:
        return str(choice.choice(field["choices"]))
    if "among" not in field:
        return "??" * int(field["least"])
    among: list[str] = field["among"]
    size = choice.randint(field["least"], field["most"])
    return "".join(among[at] for at in sorted(choice.sample(range(len(among)), size)))


def _places(field: Mapping[str, Any], choice: random.Random) -> Iterator[list[int]]:
    sizes = range(field["least"], field["most"] + 1)
    found = field.get("choices") or [list(one) for size in sizes for one in combinations(field["among"], size)]
    return iter(choice.sample(found, len(found)))
