"""Who may follow what: asked when a stream begins, and again and again while it is open."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from casino.core import sql
from casino.core.errors import WrongTerminal
from casino.staff.idleness import LIMITS
from casino.staff.models import Role, TerminalKind


class Scope(StrEnum):
    """What can be followed. `HOUSE` is all of it: the house's own chain, its tables, its drawers."""

    TABLE = "table"
    DRAWER = "drawer"
    HOUSE = "house"


_EVERYWHERE = (Role.FLOOR, Role.MANAGER, Role.SURVEILLANCE, Role.AUDITOR, Role.ADMIN)
#: Roles that may follow, those first that may at every place.
READERS = {
    Scope.TABLE: (*_EVERYWHERE, Role.DEALER),
    Scope.DRAWER: (*_EVERYWHERE, Role.CAGE_SUPERVISOR, Role.CASHIER),
    Scope.HOUSE: (*_EVERYWHERE, Role.CAGE_SUPERVISOR),
}
#: Roles that follow only what their terminal stands at, and where that is.
AT_THEIR_PLACE = {Role.DEALER: (Scope.TABLE, TerminalKind.TABLE), Role.CASHIER: (Scope.DRAWER, TerminalKind.CAGE)}
#: Roles that learn what every event is, also those that change no table or drawer.
WHOLE = frozenset({Role.AUDITOR, Role.ADMIN})

_SENDERS = """
SELECT token.digest, person.roles, terminal.kind, terminal.location, person.house_id
FROM staff_terminaltoken token
JOIN staff_staff person ON person.id = token.user_id
JOIN staff_terminal terminal ON terminal.id = token.terminal_id
JOIN unnest(%s::text[], %s::float8[]) AS attended (kind, seconds) ON attended.kind = terminal.kind
WHERE token.digest = ANY(%s::text[]) AND token.expiry > clock_timestamp()
    AND extract(epoch FROM clock_timestamp() - token.last_seen_at) <= attended.seconds
    AND person.is_active AND NOT person.must_change_password AND terminal.revoked_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Followed:
    """What a stream is of; `code` names the table or drawer, and is empty for the house."""

    scope: Scope
    code: str = ""

    @property
    def of_house(self) -> bool:
        """Whether it has several chains."""
        return self.scope == Scope.HOUSE


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose token a stream is: roles of the person, the terminal's kind and place, the house."""

    roles: Sequence[str]
    kind: str
    location: str
    house: Any

    @property
    def whole(self) -> bool:
        """Whether hints tell this person what every event is."""
        return not WHOLE.isdisjoint(self.roles)

    def may_follow(self, followed: Followed) -> bool:
        """Whether one of the roles allows it, at this terminal."""
        return any(role in self.roles and self._at(role, followed) for role in READERS[followed.scope])

    def _at(self, role: Role, followed: Followed) -> bool:
        place = AT_THEIR_PLACE.get(role)
        return place is None or (place, self.location) == ((followed.scope, self.kind), followed.code)


def require(sender: Sender, followed: Followed) -> None:
    """Refuse a terminal that does not stand there, to a person whose roles allow no more. Raises WrongTerminal."""
    if not sender.may_follow(followed):
        raise WrongTerminal(f"This terminal is not at {followed.scope} {followed.code}.")


def senders(digests: Sequence[str]) -> dict[str, Sender]:
    """Those of these tokens that are still good, by digest: their terminals were not left alone either."""
    parameters = [list(map(str, LIMITS)), list(LIMITS.values()), list(digests)]
    return {digest: Sender(*rest) for digest, *rest in sql.bound(_SENDERS, parameters)}
