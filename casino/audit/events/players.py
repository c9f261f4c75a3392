"""Players, by their references only: no name and no document is ever in a payload."""

from casino.audit.events.registry import Told, event, told


@event("player.registered", chain="house")
def registered(*, player: str) -> Told:
    """A player was registered under a reference."""
    return told(player=player)


@event("player.person_recorded", chain="house")
def person_recorded(*, player: str, version: int, sealed_sha256: str, fields: list[str], reason: str) -> Told:
    """Who a player is was recorded, sealed: the names of the fields, and the SHA-256 of the sealed bytes, which tells
    nothing of them."""
    return told(player=player, version=version, sealed_sha256=sealed_sha256, fields=fields, reason=reason)


@event("player.forgotten", chain="house")
def forgotten(
    *,
    player: str,
    version: int,
    sealed_sha256: str,
    last_activity: str,
    retention_days: int,
    reason: str,
    approver: str,
) -> Told:
    """The key to a player's personal data was destroyed by two people, so many days after his last activity; `version`
    and hash are those of the newest record."""
    return told(
        player=player,
        version=version,
        sealed_sha256=sealed_sha256,
        last_activity=last_activity,
        retention_days=retention_days,
        reason=reason,
        approver=approver,
    )
