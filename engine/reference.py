"""The reference pages of the games, written from their declarations: ``python -m engine pages FOLDER``.

A page for each game (how a deal goes, lines, options, payments, an annotated deal, its words), one that lists them, and
the glossary.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum

from engine.annotated import TRIED, Line, annotated, example, payments, played
from engine.kernel.game import Game
from engine.kernel.grammar import HOUSE, Argument, Role, Seen, Verb
from engine.kernel.hand import Hand
from engine.kernel.purse import Why
from engine.kernel.rules import Described, describe, texts_below
from engine.kernel.terms import Term
from engine.registry import MODULES, game_info, game_names

GENERATED = (
    "This page is generated from the declarations of the games (`python -m engine pages docs/reference`); a test\n"
    "compares them."
)
WRITTEN = """## How a log is written
A line of a hand's log is `ACTOR VERB ARGUMENTS`, one blank between words. The actor is `pN`, seat N in play order (p1
is the first after the dealer), or `d`, the house. A card is rank and suit in two characters, `??` one that is not
known. Amounts are whole numbers of minor units. The API takes the same actions as JSON, each argument by its name.
Every game has `pN au`: the clock ran out for seat N, and the next line is its automatic act.

A verb that may be said *beside the turn* waits for no turn. One that is *an aside* leaves the turn as it is, so a time
to act runs on.
"""


def pages() -> dict[str, str]:
    """Every page: its path below the folder of the reference, and its Markdown."""
    games = [game_info(name) for name in game_names()]
    found = {"games/README.md": _lines(_index(games)), "glossary.md": _lines(_glossary(games))}
    return found | {f"games/{game.name}.md": _lines(_game(game)) for game in games}


def _lines(parts: Iterator[str]) -> str:
    return "\n".join(parts) + "\n"


def _table(*heads: str) -> str:
    return f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', 'or') for cell in cells)} |"


# -- the list of games -------------------------------------------------------------------------------------------------


def _index(games: Sequence[Game]) -> Iterator[str]:
    yield f"# The games\n\n{GENERATED}\n"
    yield _table("game", "seats", "pack", "money", "the house takes")
    for game in games:
        yield _row(f"[{game.title}]({game.name}.md)", _seats(game), _packs(game), _money(game), _charge(game))
    yield f"\n{WRITTEN}"
    yield _table("cards are", "what becomes of them")
    yield from (_row(name, text) for name, text in documented(Role).items())
    yield "\n" + _table("seen by", "who sees the cards of a line")
    yield from (_row(name, text) for name, text in documented(Seen).items())


def _seats(game: Game) -> str:
    return " or ".join(map(str, game.seats_allowed)) or f"{game.min_seats} to {game.max_seats}"


def _packs(game: Game) -> str:
    return " or ".join(dict.fromkeys(pack.name for pack in game.packs.values())) or game.pack.name


def _money(game: Game) -> str:
    return ", ".join(sorted(game.policy.zones)) or "from seat to seat"


def _charge(game: Game) -> str:
    return "tax on a pot" if game.policy.charge == "tax" else "a seat's fee"


# -- the page of a game ------------------------------------------------------------------------------------------------


def _game(game: Game) -> Iterator[str]:
    yield f"# {game.title}\n\n{GENERATED}\n"
    yield from _facts(game)
    yield f"\n## How a deal goes\n{markdown(inspect.getdoc(sys.modules[MODULES[game.name]]) or '')}"
    yield "\n## Lines\n" + _table("line", "cards are", "seen by", "meaning")
    yield from (_verb(verb) for verb in game.grammar.verbs[:-1])
    yield "\n## Options\n" + _table("option", "values", "default", "meaning")
    yield from (_option(option) for option in describe(game.rules))
    yield f"\n## Payments\nThe kinds of payment in {TRIED} random deals.\n\n" + _table("from", "to", "why", "meaning")
    meanings = documented(Why)
    yield from (_row(source, target, why, meanings[why]) for source, target, why in payments(game.name))
    yield "\n## A deal, line by line"
    yield from _deal(played(example(game.name)))
    if game.terms:
        yield "\n## Words"
        yield from (f"- **{_named(term)}**: {term.meaning}." for term in game.terms)


def _facts(game: Game) -> Iterator[str]:
    policy = game.policy
    yield f"- `{game.name}`, rules `{game.rules_id}`; {_seats(game)} seats; pack {_packs(game)}."
    yield f"- Money: {_money(game)}. The house takes {_charge(game)}."
    must_set = ", ".join(f"`{name}`" for name in policy.must_set) or "nothing"
    yield f"- A table of a house must set: {must_set}."
    for name, meaning in policy.announcements.items():
        yield f"- The dealer may announce `{name}` before a deal: {meaning}."
    for name, values in policy.not_at_tables.items():
        yield f"- Not at tables of a house: `{name}` {', '.join(map(_value, values))}."


def _verb(verb: Verb) -> str:
    named = verb.cards
    role = named.role.value.replace("_", " ") if named is not None and named.role is not None else ""
    words = ["d" if verb.by == HOUSE else "pN", verb.name, *map(_argument, verb.arguments)]
    marks = [text for marked, text in ((verb.beside, "beside the turn"), (verb.aside, "an aside")) if marked]
    meaning = "; ".join([verb.meaning, *_words(verb), *marks])
    return _row(f"`{' '.join(words)}`", role, named.seen.value if named is not None else "", meaning)


def _argument(argument: Argument) -> str:
    name = argument.name.upper()
    return f"[{name}]" if argument.optional else name


def _words(verb: Verb) -> Iterator[str]:
    for argument in verb.arguments:
        if argument.words:
            yield f"{argument.name.upper()}: {', '.join(f'`{word}`' for word in argument.words)}"


def _option(option: Described) -> str:
    default = "must be set" if option.required else "none" if option.default is None else _value(option.default)
    return _row(f"`{option.name}`", option.values, default, option.meaning)


def _value(value: object) -> str:
    """A value as JSON has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)


def _deal(hand: Hand) -> Iterator[str]:
    """A played deal as a table: what a verb means stands beside its first line in a phase."""
    setup, result, told = hand.setup, hand.result, set[tuple[str, str]]()
    if result is None:
        raise LookupError("the deal of a page is played to its end")
    options = ", ".join(f"`{name}` {_value(value)}" for name, value in setup.opt.items())
    yield f"{setup.seats} seats; options: {options or 'none set'}; stacks: {', '.join(map(str, setup.stacks))}.\n"
    yield _table("", "line", "meaning", "money")
    for line in annotated(hand):
        kind = (line.phase, line.text.split(" ")[1])
        yield _annotated(line, shown=kind not in told)
        told.add(kind)
    net = ", ".join(f"p{seat} {won:+d}" for seat, won in enumerate(result.net, 1))
    more = [f"{name} {amount}" for name, amount in (("tax", result.tax), ("carried out", result.carry_out)) if amount]
    yield f"\nThe deal ends `{result.ending}`: {'; '.join([net, *more])}."


def _annotated(line: Line, *, shown: bool) -> str:
    return _row(str(line.number), f"`{line.text}`", line.meaning if shown else "", line.money)


# -- the glossary ------------------------------------------------------------------------------------------------------


def _glossary(games: Sequence[Game]) -> Iterator[str]:
    """A row for each word, in the order of the English ones; one of several games stands once."""
    rows: dict[Term, list[str]] = {}
    for game in games:
        for term in game.terms:
            rows.setdefault(term, []).append(game.title)
    yield f"# Glossary\n\n{GENERATED}\n"
    yield _table("Hungarian", "German", "English", "meaning", "games")
    for term in sorted(rows, key=lambda term: _named(Term(term.english, term.hungarian, term.german, "")).lower()):
        yield _row(*term, ", ".join(rows[term]))


def _named(term: Term) -> str:
    return " / ".join(dict.fromkeys(name for name in term[:3] if name))


# -- texts of the code as texts of a page ------------------------------------------------------------------------------


def documented(members: type[StrEnum]) -> dict[str, str]:
    """The values of an enumeration with the texts below them."""
    return {
        str(ast.literal_eval(member.value)): markdown(text).replace("\n", " ").strip()
        for member, text in texts_below(members)
        if isinstance(member, ast.Assign)
    }


def markdown(docstring: str) -> str:
    """A docstring in Markdown: its roles, its literals and its simple tables."""
    blocks = (block.split("\n") for block in re.split(r"\n{2,}", docstring))
    found = (_simple_table(lines) if lines[0].startswith("==") else "\n".join(lines) for lines in blocks)
    return re.sub(r":\w+:`~?([\w.]+)`", r"`\1`", "\n\n".join(found)).replace("``", "`")


def _simple_table(lines: Sequence[str]) -> str:
    """A simple table of reStructuredText, whose columns are where its rules are; a row without a first cell goes on."""
    columns = [match.span() for match in re.finditer("=+", lines[0])]
    starts = [start for start, _ in columns]
    rows: list[list[str]] = []
    for line in (line for line in lines if not line.startswith("==")):
        cells = [line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
        if cells[0] or not rows:
            rows.append(cells)
        else:
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
    return "\n".join([_table(*rows[0]), *(_row(*row) for row in rows[1:])])
