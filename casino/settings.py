"""Settings: everything that differs between houses comes from the environment, and nothing secret has a default.

`DATABASE_URL`        what the running application uses; it always works as the role `CASINO_APP_ROLE`.
`DATABASE_OWNER_URL`  who owns the tables; for `migrate --database owner` and `open_epoch` (default: `DATABASE_URL`).
`REDIS_URL`, `CELERY_BROKER_URL`  the Redis-protocol server (the broker defaults to `REDIS_URL`).
`CASINO_SECRET_KEY`   Django's signing key; `CASINO_SEAL_KEY` 32 bytes in hex that seal the seeds of electronic deals.
`DATABASE_SEQUENCER_URL`  a login of the sequencer's role `CASINO_SEQUENCER_ROLE` (default: the owner, who becomes it).
`CASINO_LOG_KEY`      the sequencer's alone: Ed25519 seed in hex that signs the checkpoints of the audit log.
`CASINO_CHECKPOINT_DIR`  folders outside the database that keep those checkpoints, separated as in PATH.
`CASINO_QUEUE_PREFIX`  how queues are named on the broker (default: by the server, port and name in `DATABASE_URL`; set
                      it where processes spell these differently).
`CASINO_RETENTION_DAYS`  for how long personal data are kept after a player's last activity (default: eight years).
`CASINO_ALLOWED_HOSTS`, `CASINO_DEBUG`, `CASINO_LOG_LEVEL`  as their names say.
"""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from celery.schedules import crontab
from django.core.exceptions import ImproperlyConfigured

from casino.celery import TASK_HARD_LIMIT, VISIBILITY_TIMEOUT, queue_prefix

BASE_DIR = Path(__file__).resolve().parent.parent


def _required(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        hint = 'eval "$(.venv/bin/python -m deploy.embedded env)"'
        raise ImproperlyConfigured(f"{name} is not set. Run through `make`, or: {hint}")
    return value


DEBUG = os.environ.get("CASINO_DEBUG", "") == "1"
SECRET_KEY = _required("CASINO_SECRET_KEY")
CASINO_SEAL_KEY = _required("CASINO_SEAL_KEY")
ALLOWED_HOSTS = os.environ.get("CASINO_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]").split(",")

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.staticfiles",
    "rest_framework",
    "knox",
    "casino.staff",  # before axes: its commands that would write no event stand in the place of axes' own
    "axes",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "casino.houses",
    "casino.bookkeeping",
    "casino.players",
    "casino.audit",
    "casino.chips",
    "casino.tables",
    "casino.hands",
    "casino.cage",
    "casino.transfers",
    "casino.api",
    "casino.reports",
    # After the reports, whose `export_ledger` stands in front of the ledger's: the first of a name is run.
    "ledger",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "casino.api.http.middleware.RequestIdMiddleware",
    "django.middleware.common.CommonMiddleware",
]

ROOT_URLCONF = "casino.urls"
WSGI_APPLICATION = "casino.wsgi.application"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]

# --- Database: three aliases on the same database; see the module docstring -----------------------------------------
CASINO_APP_ROLE = os.environ.get("CASINO_APP_ROLE", "casino_app")
LEDGER_APP_ROLE = CASINO_APP_ROLE
# Triggers of the house on tables of the ledger (`casino/audit/protection.py` declares them).
LEDGER_OTHER_TRIGGERS = ["ledger_transaction.ledger_transaction_is_told"]
CASINO_SEQUENCER_ROLE = os.environ.get("CASINO_SEQUENCER_ROLE", "casino_sequencer")


def _database(url: str, *, assume_role: str | None) -> dict[str, Any]:
    """Database settings for one URL; `assume_role` makes every connection `SET ROLE` before its first statement."""
    # `casino.core.sql.drop_lost_connections` sees to connections that are lost.
    # The ledger's statements stay prepared; Django's own are sent with their values in them, as ever.
    options: dict[str, Any] = {"application_name": "cukassza", "prepare_threshold": 5}
    if assume_role and urlsplit(url).username != assume_role:
        options["assume_role"] = assume_role
    parsed = dj_database_url.parse(url, conn_max_age=None)
    if parsed["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured(
            "DATABASE_URL must name a PostgreSQL database: the ledger's promises are kept there."
        )
    # READ COMMITTED, PostgreSQL's default: the one lock order and the row locks do the rest.
    parsed["OPTIONS"] = {**parsed.get("OPTIONS", {}), **options}
    return dict(parsed)


DATABASES = {
    "default": _database(_required("DATABASE_URL"), assume_role=CASINO_APP_ROLE),
    "owner": _database(os.environ.get("DATABASE_OWNER_URL") or _required("DATABASE_URL"), assume_role=None),
}
DATABASES["owner"]["CONN_MAX_AGE"] = 0
# For the sequencer's process; others have the alias too but no URL of its own, and do not use it.
DATABASES["sequencer"] = _database(
    os.environ.get("DATABASE_SEQUENCER_URL") or os.environ.get("DATABASE_OWNER_URL") or _required("DATABASE_URL"),
    assume_role=CASINO_SEQUENCER_ROLE,
)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# axes.W002 wants its middleware, which answers lock-outs of Django forms; ours are answered by the sign-in service.
# auth.W004 wants logins that are unique over all houses; they are unique in a house, which `Staff.get_username` names.
SILENCED_SYSTEM_CHECKS = ["axes.W002", "auth.W004"]

# --- Staff, terminals and tokens ------------------------------------------------------------------------------------
AUTH_USER_MODEL = "staff.Staff"
KNOX_TOKEN_MODEL = "staff.TerminalToken"  # noqa: S105 - the name of a model
REST_KNOX = {
    "TOKEN_TTL": timedelta(hours=12),
    "AUTH_HEADER_PREFIX": "Bearer",
    "SECURE_HASH_ALGORITHM": "hashlib.sha256",
}
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_FORM_FIELD = "username"
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# --- API ------------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["casino.api.http.authentication.TerminalTokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["casino.api.http.permissions.DenyAll"],
    "DEFAULT_PARSER_CLASSES": ["casino.api.http.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "casino.api.http.pagination.OldestFirst",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "casino.api.http.problems.handle",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Cukassza",
    "DESCRIPTION": "The betting and audit backend of a card room.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    # Enumerations whose fields share a name with others, or stand in several answers.
    "ENUM_NAME_OVERRIDES": {
        "TableState": "casino.tables.models.TableState",
        "TerminalKindEnum": "casino.staff.models.TerminalKind",
        "TransferKindEnum": "casino.transfers.models.Kind",
    },
}
STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

# --- Celery ---------------------------------------------------------------------------------------------------------
REDIS_URL = _required("REDIS_URL")
CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL") or REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True  # state is in rows, not in a result backend
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = TASK_HARD_LIMIT
CELERY_WORKER_PREFETCH_MULTIPLIER = 4
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": VISIBILITY_TIMEOUT,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "health_check_interval": 10,
    "retry_on_timeout": True,
    # A request must not wait for a broker that is away: the outbox has the message, the sweeper sends it later.
    "max_retries": 1,
    "interval_start": 0,
    "connect_retries_timeout": 1,
    # Databases on one broker keep their queues apart.
    "global_keyprefix": os.environ.get("CASINO_QUEUE_PREFIX") or queue_prefix(DATABASES["default"]),
}
#: Seconds after which an unsettled outbox row is sent again; a row that has been sent often waits longer.
CASINO_OUTBOX_STALE_SECONDS = 2
#: Days for which personal data are kept after a player's last activity. Card rooms fall under Hungary's act LIII of
#: 2017 (section 1, 1 i), whose sections 56 to 58 want eight years from the end of the business relationship.
CASINO_RETENTION_DAYS = int(os.environ.get("CASINO_RETENTION_DAYS", "2922"))
#: Accounts of the chart that are off unless they are named here, e.g. "1300" (credit to players).
CASINO_ACCOUNTS_ON: tuple[str, ...] = ()
CELERY_BEAT_SCHEDULE = {
    "sweep-outbox": {"task": "hands.sweep_outbox", "schedule": 1.0, "options": {"expires": 5}},
    "run-clocks": {"task": "hands.run_clocks", "schedule": 1.0, "options": {"expires": 5}},
    "check-custody": {"task": "reports.check_custody", "schedule": 60.0, "options": {"expires": 60}},
    "check-log": {"task": "reports.check_log", "schedule": 60.0, "options": {"expires": 60}},
    "expire-holds": {"task": "reports.expire_holds", "schedule": 60.0, "options": {"expires": 60}},
    # Every hour by the clock, so that beat's restarts put nothing off: the first of a day takes the day's snapshot.
    "take-snapshots": {"task": "reports.take_snapshots", "schedule": crontab(minute=1), "options": {"expires": 3600}},
    "check-snapshots": {"task": "reports.check_snapshots", "schedule": crontab(minute=6), "options": {"expires": 3600}},
}

# --- The audit log --------------------------------------------------------------------------------------------------
#: Only `manage.py sequence_audit` asks for it; every other process runs without.
CASINO_LOG_KEY = os.environ.get("CASINO_LOG_KEY", "")
CASINO_CHECKPOINT_DIRS = [
    Path(folder)
    for folder in (os.environ.get("CASINO_CHECKPOINT_DIR") or str(BASE_DIR / "var" / "checkpoints")).split(os.pathsep)
    if folder
]
if not CASINO_CHECKPOINT_DIRS:
    raise ImproperlyConfigured("CASINO_CHECKPOINT_DIR names no folder: a log without one outside proves nothing.")

# --- The rest -------------------------------------------------------------------------------------------------------
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("CASINO_LOG_LEVEL", "INFO")},
    # It tells of every sign-in with everything starred out; the audit trail tells who it was.
    "loggers": {"axes": {"level": "WARNING"}},
}
