"""Who may sign at a drawer: another person than those who have signed before, and of the role that the amount needs."""

from casino.core.commands import Command
from casino.core.errors import Forbidden
from casino.staff import independence
from casino.staff.models import Role, Staff


def require_another(command: Command, what: str, *before: Staff | None) -> None:
    """Refuse a person who has signed before, or is not independent of who has. Raises Forbidden four_eyes."""
    independence.require_another(command.context.staff, what, before)


def is_manager(command: Command) -> bool:
    """Whether the person acts as a manager."""
    return command.context.role == Role.MANAGER


def require_role(command: Command, *roles: Role) -> None:
    """Refuse a person who acts in none of these roles. Raises Forbidden, which names them."""
    if command.context.role not in roles:
        raise Forbidden(
            f"This needs the role {' or '.join(role.value for role in roles)}.",
            allowed_roles=[role.value for role in roles],
        )
