"""Django's registration of the ledger."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """The ledger as an installable app; every table it makes is named `ledger_*`."""

    name = "ledger"
    label = "ledger"
    verbose_name = "Ledger"
    default_auto_field = "django.db.models.BigAutoField"
