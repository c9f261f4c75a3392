"""What can go wrong while starting the embedded services.

EmbeddedError            exit code 2, one line on stderr
|- BinariesMissing       neither the wheels nor system packages offer the programs
|- VarNotOurs            the state folder belongs to somebody else
|- SocketPathTooLong     no folder short enough for a unix socket
|- AccountRefused        root may neither `unshare` nor become `nobody`
|- DataMismatch          the data folder was made by another major version
|- Busy                  another process holds the lock for too long
|- StartFailed           a server did not come up (last log line in the message)
`- StopFailed            a server did not go down
"""

from __future__ import annotations


class EmbeddedError(Exception):
    """An expected problem; `code` is stable, the message is one line for a person."""

    code = "embedded_error"


class BinariesMissing(EmbeddedError):
    """No PostgreSQL or Valkey programs were found."""

    code = "binaries_missing"


class VarNotOurs(EmbeddedError):
    """The state folder is not a folder that this user owns."""

    code = "var_not_ours"


class SocketPathTooLong(EmbeddedError):
    """Unix socket paths are limited to about 100 characters."""

    code = "socket_path_too_long"


class AccountRefused(EmbeddedError):
    """PostgreSQL refuses root and no other account could be used."""

    code = "account_refused"


class DataMismatch(EmbeddedError):
    """The data folder belongs to another major version of PostgreSQL."""

    code = "data_mismatch"


class Busy(EmbeddedError):
    """Another `up` or `down` has held the lock for too long."""

    code = "busy"


class StartFailed(EmbeddedError):
    """A server did not become ready."""

    code = "start_failed"


class StopFailed(EmbeddedError):
    """A server is still there after it was asked to stop."""

    code = "stop_failed"
