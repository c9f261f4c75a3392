"""Settings of Django and Celery. What differs between houses is read by `casino/configuration.py`."""

import os
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from celery.schedules import crontab

from casino import configuration
from casino.celery import FILES, SETTLEMENT, TASK_HARD_LIMIT, TASK_SOFT_LIMIT, VISIBILITY_TIMEOUT, queue_prefix
from casino.core import heartbeat, languages, log_lines

environment = configuration.read(os.environ)

DEBUG = environment.debug
SECRET_KEY = environment.secret_key
SECRET_KEY_FALLBACKS = [environment.secret_key_old] if environment.secret_key_old else []
CASINO_SEAL_KEY = environment.seal_key
CASINO_SEAL_KEY_OLD = environment.seal_key_old
CASINO_PROXY = environment.proxy
ALLOWED_HOSTS = list(environment.allowed_hosts)
CASINO_CORS_ORIGINS = environment.cors_origins
CASINO_PASSKEY_HOST = environment.passkey_host
CASINO_PASSKEY_ORIGINS = environment.passkey_origins

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.staticfiles",
    "rest_framework",
    "knox",
    "casino.staff",  # before axes: its commands, which write events, replace those of axes
    "axes",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "casino.houses",
    "casino.bookkeeping",
    "casino.players",
    "casino.audit",
    "casino.approvals",
    "casino.chips",
    "casino.tables",
    "casino.hands",
    "casino.cage",
    "casino.transfers",
    "casino.safeguards",
    "casino.watching",
    "casino.days",
    "casino.evidence",
    "casino.live",
    "casino.api",
    "casino.reports",
    "casino.golive",
    "casino.console",
    "casino.doctor",
    "casino.reference",
    # After the reports, whose `export_ledger` replaces the ledger's: the first command of a name is run.
    "ledger",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "casino.api.http.middleware.ClosedMiddleware",
    "casino.console.static_files.StaticCompressionMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "casino.api.http.middleware.RequestIdMiddleware",
    "casino.api.http.measuring.MeasuringMiddleware",
    "casino.api.http.middleware.CorsMiddleware",
    "casino.api.http.middleware.EnglishMiddleware",
    "casino.api.http.middleware.CompressionMiddleware",
    "casino.api.http.hosts.HostMiddleware",
]

ROOT_URLCONF = "casino.urls"
WSGI_APPLICATION = "casino.wsgi.application"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
# The screens' forms and scripts send the token along; no script need read the cookie.
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Strict"
CSRF_FAILURE_VIEW = "casino.console.failures.forged"

# --- Database: aliases on the same database ---------------------------------------------------------------------
CASINO_APP_ROLE = environment.app_role
LEDGER_APP_ROLE = CASINO_APP_ROLE
# Triggers of the house on tables of the ledger (`casino/audit/protection.py` declares them).
LEDGER_OTHER_TRIGGERS = ["ledger_transaction.ledger_transaction_is_recorded"]
CASINO_SEQUENCER_ROLE = environment.sequencer_role


def database(url: str, *, role: str | None) -> dict[str, Any]:
    """Database settings for one URL. Where the login is not `role`, the session begins as it.

    Nothing is kept in a session: behind a pooler in transaction mode (`docs/how-to/pool-connections.md`) each
    transaction may run in another one. A session that is to begin as another role must lead past it
    (`casino.core.direct`).
    """
    # `casino.core.sql.drop_lost_connections` sees to connections that are lost.
    # The ledger's statements stay prepared; Django's own are sent with their values in them, as ever.
    prepare = 5 if environment.prepared_statements else None
    options: dict[str, Any] = {"application_name": "cukassza", "prepare_threshold": prepare}
    parsed = dj_database_url.parse(url, conn_max_age=None, disable_server_side_cursors=True)
    given = parsed.get("OPTIONS", {})
    if role and urlsplit(url).username != role:
        options["options"] = f"{given.get('options', '')} -c role={role}".strip()
    # READ COMMITTED, PostgreSQL's default: the one lock order and the row locks do the rest.
    parsed["OPTIONS"] = {**given, **options}
    return dict(parsed)


_OWNER_URL = environment.database_owner_url or environment.database_url
_SEQUENCER_URL = environment.database_sequencer_url or _OWNER_URL
DATABASES = {
    "default": database(environment.database_url, role=CASINO_APP_ROLE),
    "owner": database(_OWNER_URL, role=None),
    # For the sequencer's process; others have the alias too, but no URL for it, and do not use it.
    "sequencer": database(_SEQUENCER_URL, role=CASINO_SEQUENCER_ROLE),
}
DATABASES["owner"]["CONN_MAX_AGE"] = 0
#: Past a pooler: the alias of those who share a snapshot between connections, or hold one for long.
CASINO_SNAPSHOTS = "default"
if environment.database_direct_url:
    CASINO_SNAPSHOTS = "direct"
    DATABASES["direct"] = database(environment.database_direct_url, role=CASINO_APP_ROLE) | {"CONN_MAX_AGE": 0}
CASINO_POOLER = environment.pooler
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# axes.W002 wants its middleware, which answers lock-outs of Django forms; ours are answered by the sign-in service.
# auth.W004 wants logins that are unique over all houses; they are unique in a house, which `Staff.get_username` names.
SILENCED_SYSTEM_CHECKS = ["axes.W002", "auth.W004"]

#: Seconds that a write waits for a lock; below the hard limit of a task.
CASINO_LOCK_TIMEOUT = environment.lock_timeout
#: The code of the release after this one, whose schema counts too while it bears this version.
CASINO_NEWER_RELEASE = Path(environment.newer_release or configuration.BASE_DIR)

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
    {"NAME": "casino.staff.passwords.BreachedValidator"},
    {"NAME": "casino.staff.passwords.WordsValidator"},
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AXES_FAILURE_LIMIT = 5
AXES_HANDLER = "casino.staff.limits.Attempts"
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
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "casino.api.http.negotiation.AsAsked",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "casino.api.http.pagination.ByCursor",
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
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "casino.api.http.schema.complete"],
    # Enumerations whose fields share a name with others, or stand in several answers.
    "ENUM_NAME_OVERRIDES": {
        "ReportRunState": "casino.reports.models.RunState",
        "DeliveryState": "casino.reports.models.DeliveryState",
        "PrintForm": "casino.reports.models.PrintForm",
        "ReportCadence": "casino.reports.models.Cadence",
        "TableState": "casino.tables.models.TableState",
        "WaitingState": "casino.tables.models.Waiting",
        "DealState": "casino.hands.models.DealState",
        "DrawerState": "casino.cage.models.DrawerState",
        "HandState": "casino.hands.models.HandState",
        "PackageState": "casino.days.packages.PackageState",
        "TransferLateness": "casino.transfers.models.Lateness",
        "TransferState": "casino.transfers.models.TransferState",
        "TrayCountState": "casino.transfers.models.TrayCountState",
        "TrayCountPurpose": "casino.transfers.models.Purpose",
        "TrayCountException": "casino.transfers.models.TrayException",
        "BoxState": "casino.transfers.models.BoxState",
        "BoxKind": "casino.transfers.models.BoxKind",
        "BagState": "casino.cage.models.BagState",
        "RehearsalState": "casino.houses.models.RehearsalState",
        "CapitalBy": "casino.cage.capital.CapitalBy",
        "BagWay": "casino.cage.models.BagWay",
        "NonCashState": "casino.cage.models.NonCashState",
        "MeansEnum": "casino.cage.models.Means",
        "HeldState": "casino.cage.models.HeldState",
        "HeldCause": "casino.cage.models.HeldCause",
        "AnnouncedState": "casino.cage.announced_models.AnnouncedState",
        "FoundState": "casino.cage.models.FoundState",
        "VaultCountState": "casino.cage.models.VaultCountState",
        "HandoverState": "casino.cage.models.HandoverState",
        "HandoverKindEnum": "casino.cage.models.HandoverKind",
        "ChipMoveState": "casino.transfers.models.MoveState",
        "ChipMoveKind": "casino.transfers.models.MoveKind",
        "RoleEnum": "casino.staff.models.Role",
        "PlaceKindEnum": "casino.chips.models.PlaceKind",
        "TerminalKindEnum": "casino.staff.models.TerminalKind",
        "TransferKindEnum": "casino.transfers.models.Kind",
        "ExclusionKindEnum": "casino.safeguards.models.ExclusionKind",
        "ExclusionScope": "casino.safeguards.models.Scope",
        "LiftCauseEnum": "casino.safeguards.models.LiftCause",
        "MinorState": "casino.safeguards.models.MinorState",
        "LimitKindEnum": "casino.safeguards.models.LimitKind",
        "LimitSpan": "casino.safeguards.models.Span",
        "InteractionKindEnum": "casino.safeguards.models.InteractionKind",
        "LogLineCapacity": "casino.watching.models.Capacity",
        "LogLineKind": "casino.watching.models.LineKind",
        "ComplaintState": "casino.evidence.models.ComplaintState",
        "ComplaintKind": "casino.evidence.models.ComplaintKind",
        "ComplaintOutcome": "casino.evidence.models.Outcome",
        "LegalHoldScope": "casino.evidence.models.HoldScope",
        "ApprovalState": "casino.approvals.models.ApprovalState",
        "ApprovalKindEnum": "casino.approvals.models.ApprovalKind",
    },
}
STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

# --- Celery ---------------------------------------------------------------------------------------------------------
REDIS_URL = environment.redis_url
CELERY_BROKER_URL = environment.celery_broker_url or REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True  # state is in rows, not in a result backend
# Without it the worker opens a connection for every task, and PostgreSQL plans everything again in it: 50 ms of CPU a
# hand. `casino.core.sql.drop_lost_connections` sees to those that are lost.
CELERY_DB_REUSE_MAX = 1_000
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = TASK_HARD_LIMIT
CELERY_TASK_SOFT_TIME_LIMIT = TASK_SOFT_LIMIT
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_ROUTES = {
    **{name: {"queue": SETTLEMENT} for name in ("hands.resolve_hand", "hands.resolve_confirmed_hand")},
    **{name: {"queue": FILES} for name in ("reports.make_run", "reports.package_day", "golive.rehearse")},
}
# A task that waits with a busy process could be run by an idle one.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Nobody gives workers orders over the broker. The subscription for them, cut together with the queues' connection, came
# back first, and its read waited for ever: the worker took no message any more, and did not end.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": VISIBILITY_TIMEOUT,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "health_check_interval": 10,
    # Queues in the order in which the worker names them: settlements first.
    "queue_order_strategy": "priority",
    "retry_on_timeout": True,
    # A request must not wait for a broker that is away: the outbox has the message, the sweeper sends it later.
    "max_retries": 1,
    "interval_start": 0,
    "connect_retries_timeout": 1,
    # Databases on one broker keep their queues apart.
    "global_keyprefix": environment.queue_prefix or queue_prefix(DATABASES["default"]),
}
#: Seconds after which an unsettled outbox row is sent again; each further time it waits twice as long.
CASINO_OUTBOX_STALE_SECONDS = 2
CASINO_DESTINATIONS = environment.destinations
CASINO_ADDRESS = environment.address.rstrip("/")
CASINO_RETENTION_DAYS = environment.retention_days
CASINO_UNCLAIMED_DAYS = environment.unclaimed_days
#: Accounts of the chart that are off unless they are named here, e.g. "1300" (credit to players).
CASINO_ACCOUNTS_ON: tuple[str, ...] = ()


def in_every_house(name: str, schedule: float | crontab) -> dict[str, Any]:
    """An entry of beat's: a task that is sent for each house."""
    return {"task": "houses.for_each", "args": [name], "schedule": schedule}


# Nothing expires: a worker's clock that is an hour ahead would take every task to be late. Instead `casino.beat` and
# `houses.for_each` add nothing to a queue that is full.
CELERY_BEAT_SCHEDULER = "casino.beat:Clock"

CELERY_BEAT_SCHEDULE = {
    "canary": {"task": heartbeat.CANARY, "schedule": heartbeat.EVERY},
    "sweep-outbox": {"task": "hands.sweep_outbox", "schedule": 1.0},
    "run-clocks": {"task": "hands.run_clocks", "schedule": 1.0},
    "check-log": {"task": "reports.check_log", "schedule": 60.0},
    "record-catalogue": in_every_house("reports.record_catalogue", 300.0),
    "check-custody": in_every_house("reports.check_custody", 60.0),
    "expire-approvals": in_every_house("reports.expire_approvals", 60.0),
    "run-schedules": in_every_house("reports.run_schedules", 60.0),
    "send-files": in_every_house("reports.send_files", 30.0),
    "raise-reality-checks": in_every_house("reports.raise_reality_checks", 60.0),
    "expire-holds": in_every_house("reports.expire_holds", 60.0),
    # Every hour by the clock, so that beat's restarts put nothing off: the first of a day takes the day's snapshot.
    "take-snapshots": in_every_house("reports.take_snapshot", crontab(minute=1)),
    "check-snapshots": in_every_house("reports.check_snapshots", crontab(minute=6)),
    # Answers and messages come all day, and go all day, in shares that take a second or two.
    "prune": in_every_house("reports.prune", crontab(minute="*/10")),
    # Daily, with two more hours for a beat that was away in the first.
    "retention": in_every_house("reports.retention", crontab(hour="3-5", minute=11)),
}

# --- Live state -----------------------------------------------------------------------------------------------------
CASINO_STREAMS_SOCKET = environment.streams_socket
CASINO_MOST_STREAMS = environment.most_streams

# --- The audit log --------------------------------------------------------------------------------------------------
#: Only `manage.py sequence_audit` asks for it; every other process runs without.
CASINO_LOG_KEY = environment.log_key
CASINO_LOG_KEY_OLD = environment.log_key_old
CASINO_CHECKPOINT_DIRS = list(environment.checkpoint_dirs)
CASINO_MARK_DIR = Path(environment.mark_dir) if environment.mark_dir else None
CASINO_ARCHIVE_DIRS = list(environment.archive_dirs)
CASINO_WITNESSES = list(environment.witnesses)
if CASINO_WITNESSES:
    CELERY_BEAT_SCHEDULE["ask-witnesses"] = in_every_house("audit.ask_witnesses", 10.0)
CASINO_TIMESTAMP_URL = environment.timestamp_url
CASINO_TIMESTAMP_CERTIFICATES = environment.timestamp_certificates
CASINO_TIMESTAMP_INTERVAL = environment.timestamp_interval
if CASINO_TIMESTAMP_URL:
    # Asked more often than it stamps: an authority that was away is asked again within a minute.
    _every = min(60.0, CASINO_TIMESTAMP_INTERVAL)
    CELERY_BEAT_SCHEDULE["take-timestamps"] = in_every_house("audit.take_timestamp", _every)

# --- Watching -------------------------------------------------------------------------------------------------------
CASINO_METRICS_DIR = Path(environment.metrics_dir) if environment.metrics_dir else None
CASINO_METRICS_FROM = [ip_network(one) for one in environment.metrics_from]
CASINO_METRICS_TOKEN_FILE = Path(environment.metrics_token_file) if environment.metrics_token_file else None
CASINO_OTLP_ENDPOINT = environment.otlp_endpoint
CASINO_TRACED_SHARE = environment.traced_share
if CASINO_OTLP_ENDPOINT:
    _inside = MIDDLEWARE.index("casino.api.http.measuring.MeasuringMiddleware")
    MIDDLEWARE.insert(_inside, "casino.api.http.tracing.TracingMiddleware")
CASINO_BACKUP_RECORDS = Path(environment.backup_records) if environment.backup_records else None

# --- The rest -------------------------------------------------------------------------------------------------------
USE_TZ = True
TIME_ZONE = "UTC"
# The API is in English; screens and files of reports choose a language themselves (`casino/core/languages.py`).
LANGUAGE_CODE = languages.ENGLISH
LANGUAGES = list(languages.NAMES.items())
LANGUAGE_COOKIE_NAME = "cukassza_language"
LOCALE_PATHS = [languages.FOLDER]
USE_I18N = True
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
LOGGING = log_lines.configuration(environment.log_format, environment.log_level)
