"""Who works here, at which devices, and who signed in."""

from casino.audit.events.registry import Told, event, told


@event("staff.hired", chain="house")
def hired(*, login: str, roles: list[str]) -> Told:
    """Somebody was taken on under a login, with these roles."""
    return told(login=login, roles=roles)


@event("staff.signed_in", chain="house")
def signed_in() -> Told:
    """The actor signed in at the event's terminal."""
    return told()


@event("staff.sign_in_refused", chain="house")
def sign_in_refused(*, code: str) -> Told:
    """A password was wrong (`sign_in_refused`), or the login was locked (`too_many_attempts`). The actor is the login
    that was tried, or `unknown` where nobody of the house has it."""
    return told(code=code)


@event("staff.locked_out", chain="house")
def locked_out() -> Told:
    """That wrong password was one too many: the actor's login is locked for a while, from that address."""
    return told()


@event("staff.signed_out", chain="house")
def signed_out() -> Told:
    """The actor signed out at the event's terminal."""
    return told()


@event("terminal.enrolled", chain="house")
def terminal_enrolled(*, terminal: str, kind: str, place: str) -> Told:
    """A device was enrolled; `place` is the table or drawer where it stands."""
    return told(terminal=terminal, kind=kind, place=place)
