"""Who works here, at which devices, and who signed in."""

from casino.audit.events.registry import Told, event, told


@event("staff.hired", chain="house")
def hired(*, login: str, roles: list[str]) -> Told:
    """Somebody was taken on under a login, with these roles."""
    return told(login=login, roles=roles)


@event("staff.roles_changed", chain="house")
def roles_changed(*, login: str, before: list[str], after: list[str], reason: str) -> Told:
    """Somebody's roles were changed; the new ones count from his next request."""
    return told(login=login, before=before, after=after, reason=reason)


@event("staff.deactivated", chain="house")
def deactivated(*, login: str, before: bool, after: bool, sessions: int, reason: str) -> Told:
    """Somebody may not work here any more; `sessions` is the number of his tokens that ended with it."""
    return told(login=login, before=before, after=after, sessions=sessions, reason=reason)


@event("staff.activated", chain="house")
def activated(*, login: str, before: bool, after: bool, reason: str) -> Told:
    """Somebody may work here again; he has to sign in."""
    return told(login=login, before=before, after=after, reason=reason)


@event("staff.password_set", chain="house")
def password_set(*, login: str, sessions: int, reason: str) -> Told:
    """Somebody got a new password from the office; `sessions` is the number of his tokens that ended with it."""
    return told(login=login, sessions=sessions, reason=reason)


@event("staff.password_changed", chain="house")
def password_changed(*, sessions: int) -> Told:
    """The actor chose a new password of his own, knowing the old one; `sessions` is the number of his tokens elsewhere
    that ended with it."""
    return told(sessions=sessions)


@event("staff.unlocked", chain="house")
def unlocked(*, login: str, failures: int, reason: str) -> Told:
    """The office, or the server's `operator`, opened the lock of a login and forgot so many failed attempts."""
    return told(login=login, failures=failures, reason=reason)


@event("staff.signed_in", chain="house")
def signed_in() -> Told:
    """The actor signed in at the event's terminal."""
    return told()


@event("staff.sign_in_refused", chain="house")
def sign_in_refused(*, code: str) -> Told:
    """A password was wrong, at a sign-in or where it is asked for again (`sign_in_refused`), the login was locked
    (`too_many_attempts`), or the device was out of use (`terminal_revoked`). The actor is the login tried, `unknown`
    where nobody of the house has it."""
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


@event("terminal.revoked", chain="house")
def terminal_revoked(*, terminal: str, sessions: int, reason: str) -> Told:
    """A device was taken out of use for good; `sessions` is the number of tokens that ended with it."""
    return told(terminal=terminal, sessions=sessions, reason=reason)
