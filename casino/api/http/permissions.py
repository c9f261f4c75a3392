"""Deny by default: a view names the roles it takes, and a view that names none takes nobody."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from casino.staff.credentials import require_own_password, role_for
from casino.staff.models import Staff


class DenyAll(BasePermission):
    """What a view gets that forgot to say who may use it."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Nobody."""
        return False


class HasRole(BasePermission):
    """One of the view's `roles`, or of its `readers` for a read where it names some; which one it was is kept for the
    audit trail as `request.acting_role`."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether the signed-in person has one of the roles; raises Forbidden naming them otherwise,
        and password_change_required before that for whoever has yet to change the password that the office gave him."""
        if not isinstance(request.user, Staff):
            return False
        if not getattr(view, "takes_given_passwords", False):
            require_own_password(request.user)
        readers = getattr(view, "readers", None) if request.method in ("GET", "HEAD") else None
        allowed = view.roles if readers is None else readers
        request.acting_role = role_for(request.user, allowed)  # type: ignore[attr-defined]
        return True
