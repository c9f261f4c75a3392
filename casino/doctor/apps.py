"""App configuration."""

from django.apps import AppConfig


class DoctorConfig(AppConfig):
    """The command that examines an installation; no models."""

    name = "casino.doctor"
    label = "doctor"
