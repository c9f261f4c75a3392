"""App configuration."""

import logging
from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate

log = logging.getLogger(__name__)


class ReportsConfig(AppConfig):
    """Reports."""

    name = "casino.reports"
    label = "reports"

    def ready(self) -> None:
        """Read what this version declares and promises, and record the database's after each run of the migrations: the
        signal is sent when all of them are done, once for each app that has models."""
        post_migrate.connect(_record_catalogue, sender=apps.get_app_config("audit"))
        from casino.core import release
        from casino.verification import catalogue  # its models need the app registry

        # This version's own, before another one may take the place of its files.
        catalogue.declared()
        release.own()


def _record_catalogue(*, using: str, **_: Any) -> None:
    """Record the catalogue in every house where it is not the one recorded last. A house that may write nothing is
    named in the log; the task `reports.record_catalogue` makes up for it."""
    from casino.audit.services import Actor  # its models need the app registry
    from casino.core.errors import LogRefused
    from casino.houses.models import House
    from casino.verification import catalogue

    found = catalogue.now(using)
    for house in House.objects.using(using):
        try:
            catalogue.record_change(house, found, Actor.operator("migrate"), using)
        except LogRefused as error:
            log.error("house %s: the catalogue is not recorded: %s", house.code, error.detail)
