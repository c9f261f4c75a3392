"""Everything that is declared, in Prometheus' text format, and who may read it."""

import hmac
import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric as Family
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from casino.core import measured
from casino.metrics.state import State

#: Characters that a token has at least: a shorter one is no token.
LEAST = 20
_STATE = State()


class _Counted(Collector):
    """What this process has counted, or all processes of the web that share a folder."""

    def collect(self) -> Iterator[Family]:
        """The families. Raises OSError where the folder cannot be read."""
        if settings.CASINO_METRICS_DIR is None:
            yield from measured.REGISTRY.collect()
        else:
            shared: Any = MultiProcessCollector  # without annotations
            yield from shared(None, str(settings.CASINO_METRICS_DIR)).collect()


def text() -> bytes:
    """Every metric now."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Counted())
    registry.register(_STATE)
    return generate_latest(registry)


def may_read(request: HttpRequest) -> bool:
    """Whether a request may read the metrics: it comes from an address of `CASINO_METRICS_FROM`, and has the token of
    `CASINO_METRICS_TOKEN_FILE`, of these two those that are set. Where neither is set nobody may."""
    conditions = []
    if settings.CASINO_METRICS_FROM:
        conditions.append(_comes_from(request.META.get("REMOTE_ADDR", "")))
    if settings.CASINO_METRICS_TOKEN_FILE is not None:
        conditions.append(_has_token(settings.CASINO_METRICS_TOKEN_FILE, request.headers.get("Authorization", "")))
    return bool(conditions) and all(conditions)


def _comes_from(address: str) -> bool:
    try:
        there = ipaddress.ip_address(address)
    except ValueError:
        return False  # a unix socket: what stands before it is asked
    return any(there in network for network in settings.CASINO_METRICS_FROM)


def token_of(file: Path) -> str:
    """The token in a file; empty where there is none, or one that is too short. Raises OSError."""
    token = file.read_text(encoding="utf-8", errors="replace").strip()
    return token if len(token) >= LEAST else ""


def _has_token(file: Path, header: str) -> bool:
    token = token_of(file)
    scheme, _, given = header.partition(" ")
    right = hmac.compare_digest(given.strip().encode(), token.encode())
    return scheme.lower() == "bearer" and bool(token) and right
