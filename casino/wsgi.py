"""WSGI entry point (gunicorn casino.wsgi)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

from django.conf import settings

from casino.core import shared_counts

if settings.CASINO_METRICS_DIR is not None:
    shared_counts.share(settings.CASINO_METRICS_DIR)
application = get_wsgi_application()

from casino.hands.services import warm_up  # noqa: E402 - needs Django to be set up

warm_up()
