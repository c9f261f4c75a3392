"""Pure rules engine: given a set-up and a log of actions it says what happened and which money moved.

No clock, no float, no input or output (``__main__`` aside) and no global randomness live in this package, so
the same set-up and log give the same hand, event for event, anywhere.

>>> import engine
>>> hand = engine.start(engine.Setup("ferbli", {"vizi": 100}, seats=2, stacks=(5000, 5000), dealer=2))
>>> [offer.verb for offer in hand.legal()]
['po']

Every name of ``__all__`` is found here. Its module is imported when the name is first asked for: importing one module
of the package costs no more than that module. ``engine/README.md`` is a tutorial.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine.errors import (
    ActionError,
    CardError,
    EngineError,
    OptionError,
    RecordError,
    SetupError,
)

if TYPE_CHECKING:
    from engine.kernel.cards import UNKNOWN, Pack
    from engine.kernel.events import Event
    from engine.kernel.game import Game, Policy
    from engine.kernel.grammar import Action, Argument, Grammar, Verb
    from engine.kernel.hand import Hand, table_text
    from engine.kernel.legal import (
        Legal,
        NotOffered,
        Order,
        Parts,
        Pick,
        Range,
        Rows,
        Seats,
        Secret,
        Some,
        Target,
        Words,
    )
    from engine.kernel.purse import Move, Why
    from engine.kernel.rules import Rules, describe
    from engine.kernel.setup import AUDITOR, PUBLIC, Result, Setup, Viewer
    from engine.kernel.zones import Chance
    from engine.play import play_hand, random_line
    from engine.record.format import Record, format_record, parse_record, record_of
    from engine.record.replay import Outcome, replay
    from engine.registry import Shuffle, game_info, game_names, games, resolve, resume, rules_version, start, supply

__all__ = [
    "AUDITOR", "PUBLIC", "UNKNOWN", "Action", "ActionError", "Argument", "CardError", "Chance", "EngineError",
    "Event", "Game", "Grammar", "Hand", "Legal", "Move", "NotOffered", "OptionError", "Order", "Outcome", "Pack",
    "Parts", "Pick", "Policy", "Range", "Record", "RecordError", "Result", "Rows", "Rules", "Seats", "Secret",
    "Setup", "SetupError", "Shuffle", "Some", "Target", "Verb", "Viewer", "Why", "Words", "describe",
    "format_record", "game_info", "game_names", "games", "parse_record", "play_hand", "random_line", "record_of",
    "replay", "resolve", "resume", "rules_version", "start", "supply", "table_text",
]  # fmt: skip

_HOMES = {
    "registry": "Shuffle game_info game_names games resolve resume rules_version start supply",
    "kernel.cards": "UNKNOWN Pack",
    "kernel.events": "Event",
    "kernel.game": "Game Policy",
    "kernel.grammar": "Action Argument Grammar Verb",
    "kernel.hand": "Hand table_text",
    "kernel.legal": "Legal NotOffered Order Parts Pick Range Rows Seats Secret Some Target Words",
    "kernel.purse": "Move Why",
    "kernel.rules": "Rules describe",
    "kernel.setup": "AUDITOR PUBLIC Result Setup Viewer",
    "kernel.zones": "Chance",
    "play": "play_hand random_line",
    "record.format": "Record format_record parse_record record_of",
    "record.replay": "Outcome replay",
}
_HOME = {name: f"engine.{module}" for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name, out of its module (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
