"""Settings of the processes that run the references: the bench's database, in a schema of its own."""

import os

import dj_database_url

SECRET_KEY = "bench"
USE_TZ = True
INSTALLED_APPS = ["django.contrib.contenttypes", "mptt", "djmoney", "hordak", "tests.bench.ledger.plain_orm"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {
        **dj_database_url.parse(os.environ["DATABASE_OWNER_URL"], conn_max_age=None),
        "OPTIONS": {"options": "-c search_path=reference"},
    }
}
CURRENCIES = HORDAK_CURRENCIES = ("HUF",)
DEFAULT_CURRENCY = HORDAK_INTERNAL_CURRENCY = "HUF"
