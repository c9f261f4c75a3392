"""App configuration."""

from django.apps import AppConfig


class BookkeepingConfig(AppConfig):
    """Accounts and postings."""

    name = "casino.bookkeeping"
    label = "bookkeeping"
