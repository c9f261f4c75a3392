"""App configuration."""

from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    """Complaints, legal holds, retention, the sealed register: what must be kept, for whom, for how long."""

    name = "casino.evidence"
    label = "evidence"
