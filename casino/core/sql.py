"""Plain SQL for the few statements that every action runs, and the way to send several statements in one round trip.

Building a query with the ORM costs 0.3 to 0.6 ms of CPU, PostgreSQL answers these in about 0.1 ms; an action runs a
dozen of them. Everything that is not on that path goes through the ORM, whose queries `together` sends too.
"""

import select
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import psycopg
from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.core.signals import request_started
from django.db import (
    DEFAULT_DB_ALIAS,
    close_old_connections,
    connection,
    connections,
    models,
    reset_queries,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.models.expressions import DatabaseDefault
from django.db.models.sql import InsertQuery, UpdateQuery
from psycopg.pq import TransactionStatus
from psycopg.types.datetime import TimestamptzLoader

from casino.core import tracing

M = TypeVar("M", bound=models.Model)


def drop_lost_connections(**_: Any) -> None:
    """Close idle connections that the server has closed, so that the next statement opens a new one.

    An idle connection has nothing to read; if there is something, the server has closed it. That costs a microsecond
    for each, where asking the server (`CONN_HEALTH_CHECKS`) costs a round trip with every request.
    """
    for there in connections.all(initialized_only=True):
        held = there.connection
        if held is None or there.in_atomic_block:
            continue
        if held.closed or select.select([held.fileno()], [], [], 0)[0]:
            there.close()


request_started.connect(drop_lost_connections)
# Django looks at every connection again before a request, for what it has looked for after the one before (that stays),
# and empties its lists of statements, which it keeps only while it debugs.
request_started.disconnect(close_old_connections)
if not settings.DEBUG:
    request_started.disconnect(reset_queries)


class _Moment(TimestamptzLoader):
    """A moment in a session whose time is UTC, read as ISO 8601; psycopg would take it apart with an expression."""

    timezone = UTC

    def load(self, data: Any) -> datetime:
        """The moment. Raises DataError for one that Python does not have."""
        try:
            found = datetime.fromisoformat(str(data, "ascii"))
        except ValueError:
            return super().load(data)
        return found if found.tzinfo is UTC else found.astimezone(UTC)


def _read_moments(connection: Any, **_: Any) -> None:
    if connection.timezone_name == "UTC":
        connection.connection.adapters.register_loader("timestamptz", _Moment)


connection_created.connect(_read_moments)


def forget_with_each_connection(forget: Callable[[], None]) -> None:
    """Call this whenever the application opens a connection. What a process remembers of the database is true of that
    database only: a new connection may lead to one that was restored, where ids and versions were given out again."""

    def opened(connection: Any, **_: Any) -> None:
        if connection.alias == DEFAULT_DB_ALIAS:
            forget()

    connection_created.connect(opened, weak=False)


class NotSilentError(Exception):
    """A query was made in a place where the database must not be used."""


class Silence:
    """A stretch in which every statement on the application's connection is refused."""

    def __init__(self) -> None:
        self.ended = self.broken = self.may_have_sent = False

    def __enter__(self) -> "Silence":
        connection.execute_wrappers.append(self._refuse)
        return self

    def __exit__(self, *_: object) -> None:
        if not self.ended:
            connection.execute_wrappers.remove(self._refuse)

    def end(self) -> None:
        """Let statements through again, over a connection that is there: only from now on may anything have been sent.
        Raises NotSilentError where a statement was refused, even if its error was caught, and errors of connecting."""
        connection.execute_wrappers.remove(self._refuse)
        self.ended = True
        if self.broken:
            raise NotSilentError
        connection.ensure_connection()
        self.may_have_sent = True

    def _refuse(self, *_: Any) -> Any:
        self.broken = True
        raise NotSilentError


#: Ours are the tables that unqualified names mean, whatever the database, a role or a temporary table puts in front.
OUR_TABLES = "SET LOCAL search_path = pg_catalog, public, pg_temp"


@contextmanager
def our_tables() -> Iterator[None]:
    """A transaction of the application's connection in which unqualified names mean the tables of the house."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(OUR_TABLES)
        yield


@contextmanager
def joined() -> Iterator[None]:
    """A transaction, or part of the one that there is, without a savepoint: what fails here ends all of it."""
    with transaction.atomic(savepoint=False):
        yield


#: A statement with its parameters.
Statement = tuple[str, Sequence[Any]]


class Bound(NamedTuple):
    """A statement whose parameters the server binds, so that it stays prepared on its connection; for those that are
    sent so often that planning them would cost more than their work. Every parameter needs a cast (`%s::text`)."""

    statement: str
    parameters: Sequence[Any]


def together(*asked: Statement | models.QuerySet[Any, Any], using: str = DEFAULT_DB_ALIAS) -> list[list[Any]]:
    """Run statements and querysets in one round trip, in this order; returns the rows or objects of each.

    Each sees what was committed before it began, as if it were sent by itself: what is read after a lock is as new as
    the lock. Where one fails, those after it are not run. The first of a transaction take its BEGIN along; psycopg
    believes then that it commits by itself, so that rows of a cursor on the server (`iterator`) are read elsewhere.
    """
    if not asked:
        return []
    there = connections[using]
    reads = [_Read(one, using) if isinstance(one, models.QuerySet) else one for one in asked]
    wanted = [read.statement if isinstance(read, _Read) else read for read in reads]
    sent = [statement for statement in wanted if statement is not None]
    found = iter(_results(there, sent) if sent else ())
    raw = [[] if statement is None else next(found) for statement in wanted]
    return [read.objects(rows) if isinstance(read, _Read) else rows for read, rows in zip(reads, raw, strict=True)]


def updating(queryset: models.QuerySet[Any, Any], **values: Any) -> Statement:
    """What `queryset.update(**values)` sends, for who sends it with something else; nothing is updated where the
    queryset can find nothing."""
    query = cast(UpdateQuery, queryset.query.chain(UpdateQuery))
    query.add_update_values(values)
    try:
        statement: Statement = query.get_compiler(queryset.db).as_sql()
    except EmptyResultSet:
        return "SELECT WHERE false", ()
    return statement


def inserting(row: models.Model, using: str = DEFAULT_DB_ALIAS) -> Statement:
    """What `row.save(force_insert=True)` sends for a new row, for who sends it with something else. What the database
    makes of it, its id and its defaults, is not read back."""
    fields = [one for one in row._meta.local_concrete_fields if one is not row._meta.auto_field and not one.generated]
    query = InsertQuery(type(row))
    query.insert_values(fields, [row])
    found: list[Statement] = query.get_compiler(using).as_sql()
    [statement] = found
    return statement


class _Read:
    """A queryset as one statement; None where it can find nothing."""

    def __init__(self, queryset: models.QuerySet[Any, Any], using: str) -> None:
        self._queryset = queryset.using(using)
        self._compiler = self._queryset.query.get_compiler(using)
        self.statement: Statement | None
        try:
            self.statement = self._compiler.as_sql()
        except EmptyResultSet:
            self.statement = None

    def objects(self, rows: list[tuple[Any, ...]]) -> list[Any]:
        """What the queryset makes of these rows."""
        if self.statement is None:
            return []
        # The queryset asks its compiler, which has the rows already.
        self._compiler.execute_sql = lambda *_, **__: [rows]
        self._queryset.query.get_compiler = lambda *_, **__: self._compiler  # type: ignore[method-assign]
        return list(self._queryset)


def _results(there: BaseDatabaseWrapper, asked: Sequence[Statement]) -> list[list[tuple[Any, ...]]]:
    if any(isinstance(one, Bound) for one in asked) and not _listened_to(there):
        return cast("list[list[tuple[Any, ...]]]", tracing.counted(_piped, there, asked))
    parameters = [value for _, values in asked for value in values]
    with _begun(there) as begin, there.cursor() as cursor:
        cursor.execute("; ".join([*begin, *(statement for statement, _ in asked)]), parameters)
        found = [_fetched(cursor)]
        while cursor.nextset():
            found.append(_fetched(cursor))
    return found[len(begin) :]


def _listened_to(there: BaseDatabaseWrapper) -> bool:
    """Whether somebody listens to Django's cursors, which know only one way to send a statement."""
    return there.queries_logged or any(one is not tracing.counted for one in there.execute_wrappers)


def _piped(there: BaseDatabaseWrapper, asked: Sequence[Statement]) -> list[list[tuple[Any, ...]]]:
    """Statements in one message of PostgreSQL's extended protocol, which knows those that are prepared."""
    with _begun(there) as begin, there.wrap_database_errors:
        raw = there.connection
        with raw.pipeline() as pipeline:
            # psycopg would send each by itself, and look for its answer; the end of the block sends all.
            pipeline._communicate_gen = _nothing_yet
            every = [*((statement, ()) for statement in begin), *asked]
            try:
                cursors = [_queued(raw, one) for one in every]
            except BaseException:
                # A value that cannot be sent: nothing is, and nothing has been prepared.
                pipeline.command_queue.clear()
                pipeline.result_queue.clear()
                raw._prepared.clear()
                raise
            finally:
                del pipeline._communicate_gen
            while pipeline.command_queue:
                pipeline.command_queue.popleft()()
        return [_fetched(cursor) for cursor in cursors[len(begin) :]]


def _nothing_yet() -> Iterator[None]:
    return iter(())


def _queued(raw: psycopg.Connection[Any], one: Statement) -> Any:
    statement, parameters = one
    if isinstance(one, Bound):
        return psycopg.Cursor(raw).execute(statement, parameters)
    return psycopg.ClientCursor(raw).execute(statement, parameters or None)


def _fetched(cursor: Any) -> list[tuple[Any, ...]]:
    # As `cursor.description` would say, without a description of every column.
    return cursor.fetchall() if cursor.pgresult.nfields else []


@contextmanager
def _begun(there: BaseDatabaseWrapper) -> Iterator[list[str]]:
    """BEGIN, where a transaction has sent nothing yet: it goes with what is sent inside."""
    there.ensure_connection()
    raw = there.connection
    if not _waits_for_begin(there):
        yield []
        return
    with there.wrap_database_errors:
        raw.autocommit = True  # psycopg sends no BEGIN of its own
    try:
        yield ["BEGIN"]
    finally:
        if raw.info.transaction_status == TransactionStatus.IDLE:
            with there.wrap_database_errors:
                raw.autocommit = False


def _waits_for_begin(there: BaseDatabaseWrapper) -> bool:
    raw = there.connection
    idle = raw is not None and not raw.autocommit and raw.info.transaction_status == TransactionStatus.IDLE
    return there.in_atomic_block and idle and raw.isolation_level is None


def may_commit(using: str = DEFAULT_DB_ALIAS) -> bool:
    """Whether the next statement may be sent with the COMMIT of its transaction: the transaction is the outermost."""
    there = connections[using]
    return there.in_atomic_block and len(there.atomic_blocks) == 1 and not there.savepoint_ids


def last(*statements: Statement, using: str = DEFAULT_DB_ALIAS) -> list[tuple[Any, ...]]:
    """Run the last statements of a transaction together with its COMMIT, and return the rows of the last one."""
    return together(*statements, ("COMMIT", []), using=using)[-2]


def rows(statement: str, parameters: Sequence[Any], using: str = DEFAULT_DB_ALIAS) -> list[tuple[Any, ...]]:
    """Run one statement, on the application's connection unless another is named, and return its rows."""
    [found] = together((statement, parameters), using=using)
    return found


def bound(statement: str, parameters: Sequence[Any], using: str = DEFAULT_DB_ALIAS) -> list[tuple[Any, ...]]:
    """As `rows`, with parameters that the server binds (:class:`Bound`)."""
    there = connections[using]
    there.ensure_connection()
    if _listened_to(there) or _waits_for_begin(there):
        [found] = together(Bound(statement, parameters), using=using)  # BEGIN goes with it
        return found
    with there.wrap_database_errors, psycopg.Cursor(there.connection) as cursor:
        tracing.counted(cursor.execute, statement, parameters)
        return cursor.fetchall()


def read(asked: Statement) -> list[tuple[Any, ...]]:
    """Run a statement that somebody else may send with another one, and return its rows: one that is :class:`Bound`
    stays prepared, and is prepared in the same round trip."""
    [found] = together(asked)
    return found


def database_time() -> datetime:
    """The moment by the database's clock, which decides what is in force."""
    [(now,)] = read(DATABASE_TIME)
    found: datetime = now
    return found


#: What `database_time` reads, for who reads it with something else.
DATABASE_TIME: Statement = ("SELECT clock_timestamp()", ())


def numbers(values: Iterable[int]) -> str:
    """Integers as PostgreSQL writes an array: psycopg would look at each to find a type for all."""
    return f"{{{','.join(map(str, values))}}}"


def texts(values: Iterable[str]) -> str:
    """Texts as PostgreSQL writes an array, as `numbers`."""
    quoted = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "{" + ",".join([f'"{value}"' for value in quoted]) + "}"


def binaries(values: Iterable[bytes]) -> str:
    """Bytes as PostgreSQL writes an array, as `numbers`."""
    return "{" + ",".join([f'"\\\\x{value.hex()}"' for value in values]) + "}"


def insert(row: models.Model) -> None:
    """Insert a new row as `row.save(force_insert=True)` does, by a statement that stays prepared. Its id, and what the
    database fills in, are set."""
    fields = row._meta.concrete_fields
    made = tuple(one.auto_created or isinstance(getattr(row, one.attname), DatabaseDefault) for one in fields)
    given = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in _those(fields, made, False)]
    [found] = bound(_inserting(type(row), made), given)
    for field, value in zip(_those(fields, made, True), found, strict=True):
        convert = getattr(field, "from_db_value", None)
        setattr(row, field.attname, value if convert is None else convert(value, None, connection))
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def _those(fields: Iterable[Any], made: Iterable[bool], wanted: bool) -> list[Any]:
    return [field for field, one in zip(fields, made, strict=True) if one is wanted]


@lru_cache
def _inserting(model: type[models.Model], made: tuple[bool, ...]) -> str:
    """The statement of `insert`; `made`: which columns the database makes. A type has no length in it: what is longer
    is refused, not cut."""
    fields = model._meta.concrete_fields
    given = _those(fields, made, False)
    values = ", ".join(f"%s::{str(one.db_type(connection)).partition('(')[0]}" for one in given)
    names, returned = (", ".join(one.column for one in those) for those in (given, _those(fields, made, True)))
    table = model._meta.db_table
    return f"INSERT INTO {table} ({names}) VALUES ({values}) RETURNING {returned}"  # noqa: S608 - names from the code


def change(statement: str, parameters: Sequence[Any]) -> int:
    """Run one statement that returns nothing; returns the number of changed rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        touched: int = cursor.rowcount
    return touched


def instances(model: type[M], tail: str, parameters: Sequence[Any]) -> list[M]:
    """Rows of one model as instances: `tail` is what follows FROM and the table's name."""
    statement = f"SELECT {columns(model)} FROM {model._meta.db_table} {tail}"  # noqa: S608 - names from the code only
    return [built(model, row) for row in rows(statement, parameters)]


@lru_cache
def columns(model: type[models.Model], of: str = "") -> str:
    """Every column of a model, in the order that `built` reads, for a SELECT from its table, or from a row that `of`
    names: `(hand)` for a composite value."""
    return ", ".join(f"{of or model._meta.db_table}.{field.column}" for field in model._meta.concrete_fields)


def parts(row: Sequence[Any], *kinds: type[models.Model]) -> list[Any]:
    """Instances of several models out of one row that begins with the `columns` of each; what follows them comes last,
    as it is."""
    found: list[Any] = []
    begin = 0
    for model in kinds:
        end = begin + len(model._meta.concrete_fields)
        found.append(built(model, row[begin:end]))
        begin = end
    return [*found, *row[begin:]]


def built(model: type[M], values: Sequence[Any]) -> M:
    """An instance out of the values of `columns`, as the ORM would build it, but for its signals: no model of ours
    listens to them, nor has a constructor of its own."""
    names, converters = _reading(model)
    read = list(values)
    for at, convert in converters:
        read[at] = convert(read[at], None, connection)
    return _filled(model.__new__(model), dict(zip(names, read, strict=True)), adding=False, db=DEFAULT_DB_ALIAS)


@lru_cache
def _reading(model: type[models.Model]) -> tuple[list[str], list[tuple[int, Callable[..., Any]]]]:
    """Attribute names of a model's columns, and which of the values need converting (JSON, for example)."""
    fields = model._meta.concrete_fields
    converting = [(at, field.from_db_value) for at, field in enumerate(fields) if hasattr(field, "from_db_value")]
    return [field.attname for field in fields], converting


def copied(row: M) -> M:
    """A row again, without what it is related to, so that it may be changed; its values are shared."""
    return _filled(type(row).__new__(type(row)), row.__dict__, adding=row._state.adding, db=row._state.db)


def _filled(row: M, values: Mapping[str, Any], *, adding: bool, db: str | None) -> M:
    row.__dict__.update(values)
    row._state = models.base.ModelState()
    row._state.adding, row._state.db = adding, db
    return row
