"""App configuration."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """The audit trail."""

    name = "casino.audit"
    label = "audit"
