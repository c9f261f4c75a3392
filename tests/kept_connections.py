"""Connections of verifications, which go on from one to the next.

A verification reads a house over half a dozen connections of its own, in one snapshot. To open them, and to learn every
table on each, costs several times what there is to be read of a test's house. What a transaction has set ends with
it, and what a session has set is put back; a connection that is not whole is closed.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

#: Connections that nobody uses, by what they were opened with.
_kept: dict[str, list[psycopg.Connection[Any]]] = {}
#: So many at most: as many as one verification has open together.
_MOST = 8


def install() -> None:
    """Let the verifications of this process take their connections from here."""
    from casino.verification import snapshot_reader

    snapshot_reader.connections = _Copied()  # type: ignore[assignment]


def close() -> None:
    """Close what is kept: nobody waits for it, and nothing keeps the database."""
    while _kept:
        for connection in _kept.popitem()[1]:
            connection.close()


class _Copied:
    """As `django.db.connections`, for who asks for copies alone."""

    def __getitem__(self, alias: str) -> _Source:
        return _Source(alias)


class _Source:
    def __init__(self, alias: str) -> None:
        self._alias = alias

    def copy(self) -> BaseDatabaseWrapper:
        from django.db import connections

        found = connections[self._alias].copy()
        found.__class__ = _kept_class(type(found))
        return found


_classes: dict[type[Any], type[Any]] = {}


def _kept_class(base: type[Any]) -> type[Any]:
    if base not in _classes:

        class Kept(base):  # type: ignore[misc]
            """A connection that is taken from those that are kept, and given back."""

            def get_new_connection(self, parameters: dict[str, Any]) -> psycopg.Connection[Any]:
                self._opened_with = repr(sorted(copy.copy(parameters).items(), key=lambda one: one[0]))
                waiting = _kept.get(self._opened_with, [])
                while waiting:
                    taken = waiting.pop()
                    if _is_whole(taken):
                        return taken
                    taken.close()
                return super().get_new_connection(parameters)  # type: ignore[no-any-return]

            def _close(self) -> None:
                waiting = _kept.setdefault(self._opened_with, [])
                if len(waiting) < _MOST and _put_back(self.connection):
                    waiting.append(self.connection)
                else:
                    super()._close()

        _classes[base] = Kept
    return _classes[base]


def _put_back(connection: psycopg.Connection[Any]) -> bool:
    """Whether the connection is as new: nothing is under way on it any more."""
    if connection.closed or connection.info.transaction_status not in (
        TransactionStatus.IDLE,
        TransactionStatus.INTRANS,
        TransactionStatus.INERROR,
    ):
        return False
    try:
        connection.rollback()
        connection.autocommit = True
    except psycopg.Error:
        return False
    return True


def _is_whole(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server still knows the connection; no more is set on it than on a new one."""
    try:
        connection.execute("RESET ALL", prepare=False)
    except psycopg.Error:
        return False
    return True
