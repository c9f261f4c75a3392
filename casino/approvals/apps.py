"""App configuration."""

from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """Approvals of writes above a house's control points."""

    name = "casino.approvals"
    label = "approvals"
