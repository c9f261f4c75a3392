"""A game's vocabulary as the house declares it (`GET games/NAME`): reading lines of records, cutting them into what a
console sends at once, and choosing among what the house offers. This module depends on no game."""

import hashlib
import random
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from deploy.demo.evening import EveningError

#: Actions that one request may hold.
MOST_ACTIONS = 20
#: A card that only its holder knows.
UNKNOWN = "??"
#: The nonce of every commitment; a real console draws its own and keeps it secret.
NONCE = bytes(16)
#: Roles of cards that a seat chooses knowing them; a console that does not know the cards cannot choose.
CHOSEN = ("played", "laid_away", "put_down", "given")
#: How often an offer is taken against others: saying a bare word (to pass, to check, to fold) is rare, so that hands
#: get somewhere; so is what others than the seat to act may say.
WITH_ARGUMENTS, BARE = 4, 1

#: Kind of an argument -> how its text in a line looks.
PATTERNS = {
    "amount": "[0-9]+",
    "number": "[0-9]+",
    "seat": "p[1-9]",
    "seats": "p[1-9](?: p[1-9])*",
    "cards": r"(?:[A-Z0-9][a-z]|\?\?)+",
    "commitment": r"[0-9a-f]{64}|\?\?",
    "nonce": "[0-9a-f]{32}",
}
#: Kind of an argument -> what the API takes for its text, where that is not the text itself.
VALUES: dict[str, Callable[[str], Any]] = {"amount": int, "number": int, "seats": str.split}


class Words:
    """The verbs of one game."""

    def __init__(self, declaration: dict[str, Any]) -> None:
        self.game: str = declaration["game"]
        self._verbs = {(verb["by"], verb["verb"]): verb for verb in declaration["verbs"]}
        self._lines = {key: re.compile(_pattern(verb), re.ASCII) for key, verb in self._verbs.items()}

    def _key(self, actor: str, verb: str) -> tuple[str, str]:
        return ("house" if actor == "d" else "seat", verb)

    @property
    def blind(self) -> bool:
        """Whether the game can be played without knowing cards: no seat chooses by its cards."""
        arguments = [one for (by, _), verb in self._verbs.items() if by == "seat" for one in verb["arguments"]]
        return not any(argument.get("role") in CHOSEN for argument in arguments)

    # --- Lines of records --------------------------------------------------------------------------------------

    def as_action(self, line: str) -> dict[str, Any]:
        """One line of a record as the API takes it. Raises EveningError for what is no line of the game."""
        actor, verb = line.split(" ")[:2] if " " in line else (line, "")
        key = self._key(actor, verb)
        read = self._lines[key].fullmatch(line) if key in self._lines else None
        if read is None:
            raise EveningError(f"{line!r} is no line of {self.game}.")
        texts = zip(self._verbs[key]["arguments"], read.groups(), strict=True)
        named = {one["name"]: VALUES.get(one["kind"], str)(text) for one, text in texts if text is not None}
        return {"actor": actor, "verb": verb, **named}

    def amounts(self, line: str) -> list[int]:
        """The amounts of money that a line names, in minor units."""
        action = self.as_action(line)
        arguments = self._verbs[self._key(action["actor"], action["verb"])]["arguments"]
        return [action[one["name"]] for one in arguments if one["kind"] == "amount" and one["name"] in action]

    def gestures(self, acts: list[str]) -> list[list[str]]:
        """The log cut into what a console sends at once: an action with the cards that it brings, what the same seat
        does next, and what other seats do after it just as it did: paying the same, playing to a trick, showing."""
        out: list[list[str]] = []
        for line in acts:
            if out and len(out[-1]) < MOST_ACTIONS and self._belongs(line, out[-1][-1]):
                out[-1].append(line)
            else:
                out.append([line])
        return out

    def _belongs(self, line: str, last: str) -> bool:
        (actor, verb), (before, said) = line.split(" ")[:2], last.split(" ")[:2]
        if actor in ("d", before):
            return True
        return before != "d" and verb == said and self.amounts(line) == self.amounts(last)

    # --- Choosing ----------------------------------------------------------------------------------------------

    def choices(self, hand: dict[str, Any], choice: random.Random) -> Iterator[dict[str, Any]]:
        """Actions for a hand, in random order: one for each offer, or several where cards are chosen by their places
        and the maker of the offer does not know which of them may be."""
        offers = list(hand["legal_actions"])
        while offers:
            weights = [WITH_ARGUMENTS if one["takes"] and one["actor"] == hand["actor"] else BARE for one in offers]
            offer = choice.choices(offers, weights)[0]
            offers.remove(offer)
            yield from filled(offer, choice)


def filled(offer: dict[str, Any], choice: random.Random) -> Iterator[dict[str, Any]]:
    """What one offer may become: one action, or one for each way to choose cards by their places."""
    said = {"actor": offer["actor"], "verb": offer["verb"]}
    opens = any(field["kind"] == "nonce" for field in offer["takes"].values())
    places: Iterator[list[int]] = iter(())
    for name, field in offer["takes"].items():
        if field["kind"] == "places":
            places = _places(field, choice)
        elif opens and field["kind"] == "amount":
            said[name] = field["min"]  # what was committed to was the least that could be
        else:
            said[name] = _value(field, choice)
    if "places" in offer["takes"]:
        yield from (said | {"places": chosen} for chosen in places)
    else:
        yield said


def _pattern(verb: dict[str, Any]) -> str:
    """The regular expression of a verb's lines, with a group for each argument."""
    actor = "d" if verb["by"] == "house" else "p[1-9]"
    parts = [f"{actor} {verb['verb']}"]
    for one in verb["arguments"]:
        longest = sorted(map(re.escape, one.get("words", ())), key=len, reverse=True)
        text = f" ({'|'.join(longest) if one['kind'] == 'word' else PATTERNS[one['kind']]})"
        parts.append(f"(?:{text})?" if one.get("optional") else text)
    return "".join(parts)


def _value(field: dict[str, Any], choice: random.Random) -> Any:
    """A value for one field among those that the offer allows."""
    match field["kind"]:
        case "amount":
            # The largest bets are rare, so that hands get somewhere.
            steps = (field["max"] - field["min"]) // field["step"]
            return field["min"] + min(choice.randint(0, 2), steps) * field["step"]
        case "number":
            return choice.randrange(field["min"], field["max"] + 1, field["step"])
        case "seat" | "word":
            return choice.choice(field["choices"])
        case "seats":
            return _seats(field, choice)
        case "cards":
            return _cards(field, choice)
        case "commitment":
            return commitment(field["tag"], field["min"], NONCE)
        case "nonce":
            return NONCE.hex()
    raise EveningError(f"An offer has a field of kind {field['kind']}, which this console does not know.")


def _seats(field: dict[str, Any], choice: random.Random) -> list[str]:
    """Those that must be named and some others, in the order of the choices."""
    others = [seat for seat in field["choices"] if seat not in field["must"]]
    least = max(field["least"] - len(field["must"]), 0)
    more = choice.sample(others, choice.randint(least, len(others)))
    return [seat for seat in field["choices"] if seat in (*field["must"], *more)]


def _cards(field: dict[str, Any], choice: random.Random) -> str:
    """One of the choices, or some of those that may be named in their order; else cards that this console does not
    know."""
    if "choices" in field:
        return str(choice.choice(field["choices"]))
    if "among" not in field:
        return UNKNOWN * int(field["least"])
    cards: list[str] = field["among"]
    size = choice.randint(field["least"], field["most"])
    return "".join(cards[at] for at in sorted(choice.sample(range(len(cards)), size)))


def _places(field: dict[str, Any], choice: random.Random) -> Iterator[list[int]]:
    """Sets of places in random order."""
    sizes = range(field["least"], field["most"] + 1)
    found = field.get("choices") or [list(one) for size in sizes for one in combinations(field["among"], size)]
    return iter(choice.sample(found, len(found)))


def commitment(tag: str, amount: int, nonce: bytes) -> str:
    """SHA-256 over the tag, the amount in decimal digits and the nonce, each after its length in four bytes, in hex."""
    parts = (tag.encode(), str(amount).encode(), nonce)
    return hashlib.sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).hexdigest()
