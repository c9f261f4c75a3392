"""A throw-away database for whatever is measured on a real server."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tests.services import TestServices


@contextmanager
def database() -> Iterator[None]:
    """With the house's schema, the application connected as its least-privileged role; once in a process."""
    services = TestServices(os.environ)
    os.environ.update(services.environ())
    os.environ["DJANGO_SETTINGS_MODULE"] = "casino.settings"
    os.environ["CASINO_LOG_LEVEL"] = "WARNING"
    try:
        services.start()
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connections

        def migrate() -> None:
            call_command("migrate", database="owner", verbosity=0)
            connections.close_all()

        services.create_database(migrate=migrate)
        yield
        connections.close_all()
        services.drop_database()
    finally:
        services.remove()
