"""The words of the games' logs."""

from engine.kernel import game as engine


def _verbs() -> dict[str, str]:
    """Every verb of the games' logs with its meanings, game by game."""
    found: dict[str, list[str]] = {}
    for name in engine.game_names():
        for verb, meaning in engine.game_info(name).verbs.items():
            meanings = found.setdefault(verb, [])
            if meaning not in meanings:
                meanings.append(meaning)
    return {verb: "; or ".join(meanings) for verb, meanings in found.items()}


#: Every verb of the games' logs with its meaning.
VERBS = _verbs()
