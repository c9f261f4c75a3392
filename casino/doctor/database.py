"""PostgreSQL: whether it keeps what it has said, who may do what in it, and whether it is as the migrations make it."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

from casino.api import health
from casino.core import direct
from casino.doctor.findings import Finding, Level, ok

PART = "database"
#: The oldest major version that the tests run on.
OLDEST = 15
#: Without these a commit that was answered may be lost with the machine.
_DURABLE = {
    "fsync": ("on",),
    "full_page_writes": ("on",),
    "synchronous_commit": ("on", "remote_apply"),
}
_LOGIN = """
SELECT session_user, current_user, rolsuper, rolcreaterole, rolbypassrls, pg_has_role(session_user, relowner, 'MEMBER')
FROM pg_roles LEFT JOIN pg_class ON relname = 'ledger_entry' AND relkind IN ('r', 'p')
WHERE rolname = session_user
"""
#: Which role each alias must work as, and what its login is for.
_ALIASES = {
    DEFAULT_DB_ALIAS: ("DATABASE_URL", settings.CASINO_APP_ROLE),
    "sequencer": ("DATABASE_SEQUENCER_URL", settings.CASINO_SEQUENCER_ROLE),
}
if settings.CASINO_SNAPSHOTS != DEFAULT_DB_ALIAS:
    _ALIASES[settings.CASINO_SNAPSHOTS] = ("DATABASE_DIRECT_URL", settings.CASINO_APP_ROLE)


def server() -> Iterator[Finding]:
    """Version and settings of the server, as a session of the application sees them."""
    found = _asked("SELECT name, setting FROM pg_settings")
    if isinstance(found, Finding):
        yield found
        return
    values = dict(found)
    major = int(values["server_version_num"]) // 10_000
    if major < OLDEST:
        yield _failure("postgresql_old", f"PostgreSQL {major}; {OLDEST} or newer is needed.", "Upgrade the server.")
    else:
        yield ok(PART, f"PostgreSQL {values['server_version']}")
    yield from _durable(values)
    if values["data_checksums"] != "on":
        yield Finding(
            PART, Level.WARNING, "no_checksums", "Pages have no checksums: a disk that errs is not noticed.",
            "Stop the server and run pg_checksums --enable.",
        )  # fmt: skip
    if values["server_encoding"] != "UTF8":
        yield _failure("encoding", f"The encoding is {values['server_encoding']}.", "Create the database with UTF8.")


def _durable(values: Mapping[str, str]) -> Iterator[Finding]:
    loose = [
        f"{name} = {values[name]}, expected {' or '.join(good)}"
        for name, good in _DURABLE.items()
        if values[name] not in good
    ]
    if loose:
        yield _failure(
            "not_durable",
            f"A commit that was answered may be lost: {'; '.join(loose)}.",
            "Set it in postgresql.conf, or for database and role.",
        )
    else:
        yield ok(PART, "a commit is on disk before it is answered")


def logins() -> Iterator[Finding]:
    """What the login of each URL may do: the application and the sequencer need far less than an owner has."""
    for alias, (name, role) in _ALIASES.items():
        if alias != DEFAULT_DB_ALIAS and not settings.CASINO_LOG_KEY:
            yield Finding(
                PART, Level.NOTE, "not_the_sequencer", f"{name} is not examined: this is not the sequencer's process."
            )
            continue
        found = _asked(_LOGIN, alias)
        if isinstance(found, Finding):
            yield found
        else:
            yield _login(name, role, *found[0])


def _login(name: str, role: str, login: str, current: str, *rights: bool | None) -> Finding:
    superuser, creates_roles, bypasses, owner = rights
    mighty = [
        words
        for has, words in (
            (superuser, "is a superuser"), (creates_roles, "may create roles"), (bypasses, "bypasses row security"),
            (owner, "owns the ledger"),
        )
        if has
    ]  # fmt: skip
    if current != role:
        return _failure("wrong_role", f"{name} works as {current}, expected {role}.", f"GRANT {role} TO {login}.")
    if mighty:
        return Finding(
            PART, Level.WARNING, "login_too_mighty",
            f"The login {login} of {name} {' and '.join(mighty)}; its sessions begin as {role}, and could leave it.",
            f"Create a login that is a member of {role} and of nothing else.",
        )  # fmt: skip
    return ok(PART, f"{name}: {login} works as {role} and may do no more")


def pooling() -> Iterator[Finding]:
    """Whether the settings say of a pooler what is so."""
    if isinstance(found := _asked("SELECT pg_backend_pid()"), Finding):
        return  # it was said already
    pooled = found[0][0] != connections[DEFAULT_DB_ALIAS].connection.info.backend_pid
    if pooled and not settings.CASINO_POOLER:
        yield Finding(
            PART, Level.WARNING, "pooler_not_named",
            "DATABASE_URL leads to a pooler, and CASINO_POOLER does not say so.",
            "Set CASINO_POOLER=transaction and DATABASE_DIRECT_URL: see docs/how-to/pool-connections.md.",
        )  # fmt: skip
    elif pooled:
        yield ok(PART, "the application's connections go through a pooler")


def health_checks() -> Iterator[Finding]:
    """What /readyz looks at, with the words that it keeps for the server's log."""
    for name, problem in health.examined():
        if problem is None:
            yield ok("readiness", name)
        else:
            yield Finding(
                "readiness",
                Level.FAILURE,
                problem.code,
                problem.detail,
                "See docs/how-to/operate.md, When /readyz says 503.",
            )


def _asked(statement: str, alias: str = DEFAULT_DB_ALIAS) -> list[tuple[Any, ...]] | Finding:
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())
    except DatabaseError as error:
        return _failure(
            "database_unreachable", f"{alias}: the database does not answer: {str(error).strip()}",
            "Start it, or mend the URL.",
        )  # fmt: skip
    except direct.BehindPoolerError as error:
        return _failure("behind_pooler", str(error), "Let its URL name PostgreSQL, not the pooler.")


def _failure(code: str, words: str, remedy: str) -> Finding:
    return Finding(PART, Level.FAILURE, code, words, remedy)
