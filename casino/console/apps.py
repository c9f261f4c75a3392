"""The screens of the house."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Pages for dealers, cashiers, the floor, the office and auditors."""

    name = "casino.console"
    label = "console"
