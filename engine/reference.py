"""The reference page of the games, written from their declarations: ``python -m engine games --page``."""

from __future__ import annotations

from collections.abc import Iterator

from engine.kernel.game import Game
from engine.kernel.grammar import HOUSE, Argument, Verb
from engine.kernel.rules import Described, describe
from engine.registry import game_info, game_names

HEAD = """# The games

This page is generated from the games' own declarations (`python -m engine games --page`); a test compares them.

A line of a hand's log is `ACTOR VERB ARGUMENTS`, one blank between words. The actor is `pN`, seat N in play order (p1
is the first after the dealer), or `d`, the house. A card is rank and suit in two characters, `??` one that is not
known. Amounts are whole numbers of minor units. The API takes the same actions as JSON, each argument by its name.
Every game has `pN au`: the clock ran out for seat N, and the next line is its automatic act. What each argument of
cards means for those who watch:

| seen | who sees the cards |
|---|---|
| all | everybody, from then on |
| target | the seat that they are dealt to |
| hand | as the game says of the hand that they lie in: who has looked at it, and whether it was shown since |
| together | the seat that names them; everybody once all seats have named theirs |
| actor | the seat that names them |
"""


def page() -> str:
    """The page, in Markdown."""
    return "\n".join([HEAD, *(part for name in game_names() for part in _game(game_info(name)))])


def _game(game: Game) -> Iterator[str]:
    """The part of one game."""
    policy = game.policy
    seats = " or ".join(map(str, game.seats_allowed)) or f"{game.min_seats} to {game.max_seats}"
    packs = " or ".join(pack.name for pack in game.packs.values()) or game.pack.name
    yield f"## {game.title}\n"
    yield f"`{game.name}`, rules `{game.rules_id}`; {seats} seats; pack {packs}.\n"
    money = f"Money lies in: {', '.join(sorted(policy.zones))}." if policy.zones else "No pot: seats pay seats."
    charge = "The house takes tax of a pot." if policy.charge == "tax" else "There is no pot to tax."
    must_set = ", ".join(f"`{name}`" for name in policy.must_set) or "nothing"
    yield f"{money} {charge} A table of a house must set: {must_set}.\n"
    for name, meaning in policy.announcements.items():
        yield f"The dealer may announce `{name}` before a deal: {meaning}.\n"
    for name, values in policy.not_at_tables.items():
        yield f"Not at tables of a house: `{name}` {', '.join(map(_value, values))}.\n"
    yield "| line | cards are | seen by | meaning |\n|---|---|---|---|"
    yield from (_verb(verb) for verb in game.grammar.verbs[:-1])
    yield "\n| option | values | default | meaning |\n|---|---|---|---|"
    yield from (_option(option) for option in describe(game.rules))
    yield ""


def _verb(verb: Verb) -> str:
    named = verb.cards
    role = named.role.value.replace("_", " ") if named is not None and named.role is not None else ""
    seen = named.seen.value if named is not None else ""
    words = ["d" if verb.by == HOUSE else "pN", verb.name, *map(_argument, verb.arguments)]
    return f"| `{' '.join(words)}` | {role} | {seen} | {_cell(verb.meaning)}{_words(verb)} |"


def _argument(argument: Argument) -> str:
    name = argument.name.upper()
    return f"[{name}]" if argument.optional else name


def _words(verb: Verb) -> str:
    listed = {each.name.upper(): ", ".join(f"`{word}`" for word in each.words) for each in verb.arguments if each.words}
    found = [f"{name}: {words}" for name, words in listed.items()]
    return f"; {'; '.join(found)}" if found else ""


def _option(option: Described) -> str:
    default = "must be set" if option.required else "none" if option.default is None else _value(option.default)
    return f"| `{option.name}` | {_cell(option.values)} | {default} | {_cell(option.meaning)} |"


def _value(value: object) -> str:
    """A value as JSON has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)


def _cell(text: str) -> str:
    return text.replace("|", "or")
