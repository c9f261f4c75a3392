"""Playing by nothing but offers: a value for each field that an offer takes, and values that it does not allow."""

from __future__ import annotations

from random import Random
from typing import Any

from deploy.demo.words import NONCE, commitment

Fields = dict[str, Any]


def filled(offer: Fields, random: Random) -> Fields | None:
    """An action for the offer; None where a field holds cards that only the table shows."""
    action = {"actor": offer["actor"], "verb": offer["verb"]}
    opens = any(field["kind"] == "nonce" for field in offer["takes"].values())
    for name, field in offer["takes"].items():
        # What was committed to was the least that could be.
        value = field["min"] if opens and field["kind"] == "amount" else value_of(field, random)
        if value is None:
            return None
        action[name] = value
    return action


def value_of(field: Fields, random: Random) -> Any:
    """A value that the field allows; None for cards that only the table shows."""
    kind = field["kind"]
    if kind in ("amount", "number"):
        steps = (field["max"] - field["min"]) // field["step"]
        return field["min"] + field["step"] * random.choice((0, steps, random.randint(0, steps)))
    if kind in ("seat", "word"):
        return random.choice(field["choices"])
    if kind == "seats":
        others = [seat for seat in field["choices"] if seat not in field["must"]]
        least = max(field["least"] - len(field["must"]), 0)
        named = {*field["must"], *random.sample(others, random.randint(least, len(others)))}
        return [seat for seat in field["choices"] if seat in named]
    if kind == "commitment":
        known = commitment(field["tag"], field["min"], NONCE)
        return random.choice((known, "??")) if field["unknown"] else known
    if kind == "nonce":
        return NONCE.hex()
    if kind in ("cards", "places"):
        if "choices" in field:
            return random.choice(field["choices"])
        if "among" in field:
            size = random.randint(field["least"], field["most"])
            among = field["among"]
            found = [among[at] for at in sorted(random.sample(range(len(among)), size))]
            return found if kind == "places" else "".join(found)
    return None


def outside(field: Fields) -> list[Any]:
    """Values just outside what the field allows."""
    kind = field["kind"]
    if kind in ("amount", "number"):
        low, high, step = field["min"], field["max"], field["step"]
        off_step = [low + 1] if step > 1 and low < high else []
        return [high + step, high + 1, *([low - 1] if low else []), *off_step]
    if kind in ("seat", "seats"):
        wrong = [f"p{seat}" for seat in range(1, 10) if f"p{seat}" not in field["choices"]]
        return wrong[:2] if kind == "seat" else [[seat] for seat in wrong[:2]]
    if kind == "word":
        return ["nothing_of_the_kind"]
    if kind == "commitment":
        return ["??", "0" * 63] if not field["unknown"] else ["0" * 63]
    if kind == "places" and not field.get("if_held"):
        allowed = field.get("choices") or []
        among = field.get("among") or sorted({place for choice in allowed for place in choice})
        most = field["most"]
        return [[*among, 51][-most - 1 :], *([[51] * most] if most else [])]
    return []
