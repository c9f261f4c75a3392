"""Who may sign at a drawer: another person than those who have signed before, and of the role that the amount needs."""

from casino.core.errors import Forbidden
from casino.core.write import Command
from casino.staff.models import Role, Staff


def require_another(command: Command, what: str, *before: Staff | None) -> None:
    """Refuse a person who has signed before. Raises Forbidden four_eyes."""
    if command.context.staff.pk in {person.pk for person in before if person is not None}:
        raise Forbidden(f"You {what} yourself; a second person must do this.", code="four_eyes")


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
