"""A real PostgreSQL and Valkey for every checkout, without root, Docker or configuration.

`ensure()` starts what the environment does not name and returns the addresses; `python -m deploy.embedded` is
the same for a shell. Nothing here imports the application.
"""

from deploy.embedded.errors import EmbeddedError
from deploy.embedded.keeper import Keeper
from deploy.embedded.layout import hints_socket, var_dir
from deploy.embedded.services import ServiceStatus, dead, down, ensure, given, remove, status, urls
from deploy.embedded.urls import ServiceUrls, broker_url

__all__ = [
    "EmbeddedError",
    "Keeper",
    "ServiceStatus",
    "ServiceUrls",
    "broker_url",
    "dead",
    "down",
    "ensure",
    "given",
    "hints_socket",
    "remove",
    "status",
    "urls",
    "var_dir",
]
