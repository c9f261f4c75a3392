"""WSGI entry point (gunicorn casino.wsgi)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

from django.conf import settings

from casino.core import release, shared_counts

if settings.CASINO_METRICS_DIR is not None:
    shared_counts.share(settings.CASINO_METRICS_DIR)
if settings.CASINO_PROXY:
    # `deploy.web`, which knows nothing of the house, reads it there before it serves.
    os.environ["CASINO_PROXY"] = settings.CASINO_PROXY
application = get_wsgi_application()

# What every request needs is loaded before the server forks, so that its workers share it and the first request of each
# does not wait for it.
import casino.urls  # noqa: E402, F401 - needs Django to be set up
from casino.hands.services import warm_up  # noqa: E402

warm_up()
# What this version needs of the database, before another one may take the place of its files.
release.migrations()
