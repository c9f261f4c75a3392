"""The words of the games' logs: what an action of the API may name."""

from functools import cache
from typing import Any

import engine
from casino.core.errors import NotFound
from engine.errors import EngineError
from engine.kernel.grammar import HOUSE, SEAT, Verb
from engine.kernel.grammar import Argument as Argument  # the API writes a field for each
from engine.kernel.offered import PLACES as PLACES
from engine.reference import phases


def _declared() -> dict[str, list[Verb]]:
    """Every verb of the games with its declarations, each different one once."""
    found: dict[str, list[Verb]] = {}
    for name in engine.game_names():
        for verb in engine.game_info(name).grammar:
            known = found.setdefault(verb.name, [])
            if verb not in known:
                known.append(verb)
    return found


#: Every verb of the games' logs with its declarations.
DECLARED = _declared()
#: Every verb of the games' logs with its meanings.
VERBS = {name: "; or ".join(dict.fromkeys(verb.meaning for verb in declared)) for name, declared in DECLARED.items()}
#: Who may write a verb.
WRITERS = (HOUSE, SEAT)
#: Every argument of the verbs by its name, with its kind.
ARGUMENTS: dict[str, Argument] = {
    argument.name: argument for declared in DECLARED.values() for verb in declared for argument in verb.arguments
}


def words_of(name: str) -> tuple[str, ...]:
    """Every word that the argument of this name may be, in any game."""
    named = (argument for declared in DECLARED.values() for verb in declared for argument in verb.arguments)
    return tuple(dict.fromkeys(word for argument in named if argument.name == name for word in argument.words))


#: The most cards that one action names.
MOST_CARDS = max(argument.most for declared in DECLARED.values() for verb in declared for argument in verb.arguments)


def wrong_arguments(actor: str, verb: str, named: set[str]) -> dict[str, str]:
    """What is wrong with the arguments of an action, by their names: nothing if some game's verb takes just these.

    A console that knows no cards names `places` instead of the cards that a seat uncovers or lays away.
    """
    by_house = actor == "d"
    declared = [each for each in DECLARED[verb] if (each.by == HOUSE) == by_house] or DECLARED[verb]
    found = [_wrong(each, named) for each in declared]
    return min(found, key=len)


def _wrong(verb: Verb, named: set[str]) -> dict[str, str]:
    instead = verb.out_of_hand
    if instead and named == {PLACES}:
        return {}
    needed = {argument.name for argument in verb.arguments if not argument.optional}
    taken = {argument.name for argument in verb.arguments}
    or_else = ", or places instead" if instead else ""
    wrong = {name: f"{verb.name} needs {name}{or_else}." for name in sorted(needed - named)}
    beside = " beside that" if instead else ""
    return wrong | {
        name: f"{verb.name} takes no {name}{beside if name == PLACES else ''}." for name in sorted(named - taken)
    }


def of_cards(rules_id: str) -> dict[str, list[str]]:
    """The verbs of these rules whose lines name cards, by what becomes of them: what the audit trail records of a hand,
    for verifiers that know no game. Raises the engine's UnknownRules."""
    return engine.rules_version(rules_id).grammar.card_verbs()


def declared_of_cards(rules_id: Any) -> dict[str, list[str]] | None:
    """As :func:`of_cards`, of the rules that an event names; None for unknown rules."""
    try:
        return of_cards(rules_id) if isinstance(rules_id, str) else None
    except EngineError:
        return None


def declaration(name: str) -> dict[str, object]:
    """The declaration of a game, by its name or the id of its rules: phases with their verbs and what is done in them,
    verbs with their arguments, options, what a table of it means to the house. Raises NotFound."""
    try:
        game = engine.rules_version(name) if "/" in name else engine.game_info(name)
    except EngineError as error:
        raise NotFound(f"There is no game {name}.", games=list(engine.game_names())) from error
    return _declaration(game.rules_id)


@cache
def _declaration(rules_id: str) -> dict[str, object]:
    """The declaration of a version of rules, which never changes; nobody may change it. Screens read it with every
    refresh."""
    game = engine.rules_version(rules_id)
    said = phases(game.name)
    return game.as_dict() | {
        "phases": [
            {"phase": phase, "verbs": list(names), "meaning": said.get(phase, "")}
            for phase, names in game.phases.items()
        ]
    }


def games() -> list[dict[str, object]]:
    """Every game that a table may be set up for, without its verbs and options."""
    found = (engine.game_info(name).as_dict() for name in engine.game_names())
    return [{key: one[key] for key in ("game", "title", "rules", "seats", "packs", "cards", "policy")} for one in found]
