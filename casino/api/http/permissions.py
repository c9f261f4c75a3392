"""Deny by default: a view names the roles that may use it; without roles, it refuses every request."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from casino.core.errors import NotFound
from casino.staff import second_factor
from casino.staff.credentials import require_own_password, role_for
from casino.staff.duties import require_compatible
from casino.staff.idleness import require_attended
from casino.staff.models import Staff, TerminalToken


class DenyAll(BasePermission):
    """The default permission of a view that names none: it refuses every request."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Always false."""
        return False


class HasRole(BasePermission):
    """The person needs one of the view's `roles`; for a read one of its `readers`, if it names any. The role that was
    found is kept for the audit trail as `request.acting_role`. A person with roles that exclude each other has none."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether the signed-in person has one of the roles. Raises Forbidden, which names the roles, if not. Before
        that it raises password_change_required for a person who has not yet changed the password from the office, and
        roles_exclude_each_other for one who holds a refused pair: a view that takes given passwords takes both. It
        raises second_factor_required for a person who needs a second factor and has none, and before all that
        reauthentication_required at a terminal that was left alone."""
        person = request.user
        if not isinstance(person, Staff):
            return False
        if not getattr(view, "takes_unattended", False) and isinstance(request.auth, TerminalToken):
            require_attended(request.auth, getattr(request, "left_alone", None))
        if not getattr(view, "takes_given_passwords", False):
            require_own_password(person)
            require_compatible(person.roles, person.login, person.house)
            if not getattr(view, "sets_second_factor", False):
                second_factor.require(person, getattr(request, "second_factor", True))
        readers = getattr(view, "readers", None) if request.method in ("GET", "HEAD") else None
        allowed = view.roles if readers is None else readers
        request.acting_role = role_for(person, allowed)  # type: ignore[attr-defined]
        return True


class SealedFromOthers(HasRole):
    """As `HasRole`; to people of every other role the address answers as one at which nothing is."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether the signed-in person has one of the roles. Raises NotFound if not, and what `HasRole` raises."""
        if isinstance(request.user, Staff) and not set(view.roles) & set(request.user.roles):
            raise NotFound("There is nothing at this address.")
        return super().has_permission(request, view)
