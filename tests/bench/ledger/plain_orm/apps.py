"""Django's registration of the plain models."""

from django.apps import AppConfig


class PlainConfig(AppConfig):
    """Its tables are made by `migrate --run-syncdb`."""

    name = "tests.bench.ledger.plain_orm"
    label = "plain"
