"""Who may follow what: asked when a stream begins, and again and again while it is open."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from casino.core import sql
from casino.core.errors import WrongTerminal
from casino.staff.idleness import IDLE, MOST
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

_SENDERS = f"""
SELECT staff_terminaltoken.digest, staff_staff.roles, staff_terminal.kind, staff_terminal.location, staff_staff.house_id
FROM staff_terminaltoken
JOIN staff_staff ON staff_staff.id = staff_terminaltoken.user_id
JOIN houses_house ON houses_house.id = staff_staff.house_id
JOIN staff_terminal ON staff_terminal.id = staff_terminaltoken.terminal_id
WHERE staff_terminaltoken.digest = ANY(%s::text[]) AND staff_terminaltoken.expiry > clock_timestamp()
    AND {IDLE} <= {MOST}
    AND staff_staff.is_active AND NOT staff_staff.must_change_password AND staff_terminal.revoked_at IS NULL
"""  # noqa: S608 - our own expressions


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
    return {digest: Sender(*rest) for digest, *rest in sql.bound(_SENDERS, [list(digests)])}
