"""Players, by their references only: no name and no document is ever in a payload."""

from casino.audit.events.registry import Told, event, told


@event("player.registered", chain="house")
def registered(*, player: str) -> Told:
    """A player was registered under a reference."""
    return told(player=player)
