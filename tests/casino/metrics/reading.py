"""The metrics of a web as Prometheus reads them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

TOKEN = "a-token-of-thirty-characters-x"

#: Value by name of the series and its labels.
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def token_file(folder: Path) -> Path:
    """A file with the token."""
    path = folder / "metrics-token"
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    return path


def scraped(http: httpx.Client) -> Samples:
    """Every sample of a scrape with the token."""
    answer = http.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200, answer.text
    return parsed(answer.text)


def parsed(text: str) -> Samples:
    """Every sample of a text."""
    families = text_string_to_metric_families(text)
    return {(one.name, frozenset(one.labels.items())): one.value for family in families for one in family.samples}


def value(samples: Mapping[Any, float], name: str, **labels: str) -> float:
    """The one sample with these labels, 0 where there is none yet."""
    return samples.get((name, frozenset(labels.items())), 0.0)
