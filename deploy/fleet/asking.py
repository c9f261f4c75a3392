"""How each stack is, as its web processes say: alive, ready, which version, what its metrics find wrong."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from deploy.fleet.stacks import Stack

#: Seconds that a stack has for an answer.
PATIENCE = 10.0
#: Metrics above 0 that a person has to look at, by what is said of them.
WRONG = {
    "cukassza_house_read_only": "houses read-only",
    "cukassza_disputed_tables": "disputed tables",
    "cukassza_imbalances": "imbalances",
    "cukassza_verification_findings": "findings of the last verification",
    "cukassza_guards_off": "guards off",
}
BUILD = "cukassza_build_info"


@dataclass(frozen=True, slots=True)
class Health:
    """A stack: `ready` as /readyz says; `problems` what is wrong, in words; versions where its metrics may be read."""

    stack: Stack
    ready: bool
    houses: int | None = None
    versions: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def well(self) -> bool:
        """Nothing is to be done; a stack that is drained need not be ready."""
        return not self.problems and (self.ready or self.stack.drained)


def health(stack: Stack) -> Health:
    """Ask one stack; what cannot be asked is a problem, never an exception."""
    try:
        status, body = _get(stack, "/readyz")
        ready, problems = status == 200, _said(status, json.loads(body))
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
        return Health(stack, ready=False, problems=(f"no answer: {type(error).__name__} {error}".strip(),))
    if stack.token_file is None:
        return Health(stack, ready, problems=problems)
    try:
        houses, versions, found = _measured(stack)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Health(stack, ready, problems=(*problems, f"no metrics: {error}"))
    return Health(stack, ready, houses, versions, (*problems, *found))


def _said(status: int, answer: dict[str, Any]) -> tuple[str, ...]:
    """What /readyz finds wrong. Raises KeyError and TypeError for what is no answer of it."""
    if status != 200:
        return (f"not ready: {', '.join(one['check'] for one in answer['failed'])}",)
    return () if answer["status"] == "ready" else (str(answer["status"]),)


def _measured(stack: Stack) -> tuple[int, tuple[str, ...], list[str]]:
    """Number of houses that are no sandboxes, versions of the code, what is wrong. Raises OSError and ValueError."""
    status, body = _get(stack, "/metrics", token=stack.token)
    if status != 200:
        raise ValueError(f"status {status}")
    houses: set[str] = set()
    versions: set[str] = set()
    wrong: dict[str, float] = {}
    for family in text_string_to_metric_families(body.decode()):
        for sample in family.samples:
            if sample.name == BUILD:
                versions.add(sample.labels["version"])
            if sample.labels.get("sandbox") == "0":
                houses.add(sample.labels["house"])
            if sample.name in WRONG and sample.labels.get("sandbox") != "1":
                wrong[sample.name] = wrong.get(sample.name, 0) + sample.value
    found = [f"{value:g} {WRONG[name]}" for name, value in wrong.items() if value > 0]
    return len(houses), tuple(sorted(versions)), found


def _get(stack: Stack, path: str, token: str | None = None) -> tuple[int, bytes]:
    """From the stack itself, under the first of its names."""
    connection = http.client.HTTPConnection(stack.web, timeout=PATIENCE)
    headers = {"Host": stack.hosts[0], "X-Forwarded-Proto": "https"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
