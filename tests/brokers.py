"""A user of the broker with passwords, for processes that a test starts."""

from __future__ import annotations

import os
import secrets
from urllib.parse import urlsplit, urlunsplit

from redis import Redis

from deploy.embedded.urls import broker_url


def with_login(url: str, name: str, password: str) -> str:
    """The same server and database under another login."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{name}:{password}@{parts.netloc.rpartition('@')[2]}"))


class BrokersUser:
    """A user whom only these processes are, with a first password and, once it was taken, a second one."""

    def __init__(self, url: str) -> None:
        self.name, self.passwords = f"of-{os.getpid()}", (secrets.token_hex(16), secrets.token_hex(16))
        self._url = url
        self._broker = Redis.from_url(url)
        self._set("on", f">{self.passwords[0]}", "~*", "&*", "+@all")

    def addresses(self, number: int) -> dict[str, str]:
        """The variables with the first or the second password."""
        url = with_login(self._url, self.name, self.passwords[number])
        return {"REDIS_URL": url, "CELERY_BROKER_URL": broker_url(url)}

    def take_second(self) -> None:
        """Both count."""
        self._set(f">{self.passwords[1]}")

    def drop_first(self) -> None:
        """Who has the first one is not let in again; all of them are put out."""
        self._set(f"<{self.passwords[0]}")
        self.cut()

    def cut(self) -> None:
        """End every connection of this user, all at once."""
        assert self.connections(), "nobody was this user"
        self._broker.execute_command("CLIENT", "KILL", "USER", self.name)

    def connections(self) -> int:
        """How many connections are this user's."""
        return sum(client["user"] == self.name for client in self._broker.client_list())

    def end(self) -> None:
        """There is no such user."""
        self._broker.execute_command("ACL", "DELUSER", self.name)
        self._broker.close()

    def _set(self, *rules: str) -> None:
        self._broker.execute_command("ACL", "SETUSER", self.name, *rules)
