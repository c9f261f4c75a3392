"""Pure rules engine: given a set-up and a log of actions it says what happened and which money moved.

No clock, no float, no input or output (``__main__`` aside) and no global randomness live in this package, so
the same set-up and log give the same hand, event for event, anywhere.
"""

from engine.games import Shuffle, game_info, game_names, resolve, resume, rules_version, start, supply
from engine.kernel.game import Game
from engine.kernel.hand import Hand
from engine.kernel.legal import Legal
from engine.kernel.setup import AUDITOR, PUBLIC, Result, Setup, Viewer

__all__ = [
    "AUDITOR", "PUBLIC", "Game", "Hand", "Legal", "Result", "Setup", "Shuffle", "Viewer", "game_info", "game_names",
    "resolve", "resume", "rules_version", "start", "supply",
]  # fmt: skip
