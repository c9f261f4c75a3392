"""Plain SQL for the few statements that every action runs, and the way to send several statements in one round trip.

Building a query with the ORM costs 0.3 to 0.6 ms of CPU, PostgreSQL answers these in about 0.1 ms; an action runs a
dozen of them. Everything that is not on that path goes through the ORM, whose queries `together` sends too.
"""

import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar, cast

import psycopg
from django.core.exceptions import EmptyResultSet
from django.core.signals import request_started
from django.db import DEFAULT_DB_ALIAS, connection, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.models.sql import InsertQuery, UpdateQuery
from psycopg.pq import TransactionStatus

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
    parameters = [value for _, values in asked for value in values]
    with _begun(there) as begin, there.cursor() as cursor:
        cursor.execute("; ".join([*begin, *(statement for statement, _ in asked)]), parameters)
        found = [_fetched(cursor)]
        while cursor.nextset():
            found.append(_fetched(cursor))
    return found[len(begin) :]


def _fetched(cursor: Any) -> list[tuple[Any, ...]]:
    return cursor.fetchall() if cursor.description else []


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
    """As `rows`, with parameters that the server binds, so that the statement stays prepared on its connection; for the
    few whose planning would cost more than their work. Every parameter needs a cast (`%s::text`)."""
    there = connections[using]
    there.ensure_connection()
    if there.execute_wrappers or there.queries_logged or _waits_for_begin(there):
        return rows(statement, parameters, using)  # somebody listens to Django's cursors, or BEGIN goes with it
    with there.wrap_database_errors, psycopg.Cursor(there.connection) as cursor:
        cursor.execute(statement, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


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
    """An instance out of the values of `columns`, as the ORM would build it."""
    names, converters = _reading(model)
    read = list(values)
    for at, convert in converters:
        read[at] = convert(read[at], None, connection)
    return model.from_db(connection.alias, names, read)


@lru_cache
def _reading(model: type[models.Model]) -> tuple[list[str], list[tuple[int, Callable[..., Any]]]]:
    """Attribute names of a model's columns, and which of the values need converting (JSON, for example)."""
    fields = model._meta.concrete_fields
    converting = [(at, field.from_db_value) for at, field in enumerate(fields) if hasattr(field, "from_db_value")]
    return [field.attname for field in fields], converting


def copied(row: M) -> M:
    """A row again, without what it is related to, so that it may be changed; its values are shared."""
    again = type(row).__new__(type(row))
    again.__dict__.update(row.__dict__)
    again._state = models.base.ModelState()
    again._state.adding, again._state.db = row._state.adding, row._state.db
    return again
