"""What the demo's console makes of the games' declarations, for tests that speak in lines of a log."""

from typing import Any

import engine
from deploy.demo.evening import EveningError
from deploy.demo.words import Words

WORDS = {name: Words(engine.game_info(name).as_dict()) for name in engine.game_names()}  # type: ignore[arg-type]


def as_action(line: str) -> dict[str, Any]:
    """A line as the API takes it, by the first game that has such a line."""
    for words in WORDS.values():
        try:
            return words.as_action(line)
        except EveningError:
            continue
    raise EveningError(f"{line!r} is no line of any game.")
