"""The examples of the schema are requests that are accepted and answers that are given: the evening on which they were
recorded is played again. `make examples` writes them again."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from casino.api.http import contract, examples
from casino.audit.events.registry import EVENTS
from casino.urls import v1
from tests.casino.described import assert_fits, operations, schema
from tests.casino.examples import Recording


@pytest.mark.slow
def test_every_example_is_accepted_and_answered_as_it_says(whole_evening: Recording) -> None:
    played = dict(sorted(whole_evening.examples.items()))
    if os.environ.get("EXAMPLES") == "write":
        examples.FILE.write_text(json.dumps(played, ensure_ascii=False, indent=1) + "\n", "utf-8")
        for read in (examples.examples, schema, operations):
            read.cache_clear()
    shown = examples.examples()
    assert played.keys() == shown.keys()
    changed = [one for name, example in played.items() for one in differing(example, shown[name], name)]
    assert changed == [], "`make examples` records them again"


def differing(one: Any, other: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two JSON values differ: the place, and what stands there in each."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from differing(one[name], other[name], f"{place}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from differing(*pair, f"{place}[{number}]")
    elif one != other:
        yield place, one, other


#: Importing the addresses has entered their operations in the contract.
assert v1


@pytest.mark.parametrize("name", sorted(contract.OPERATIONS))
def test_the_schema_shows_an_example_that_fits_it(name: str) -> None:
    example, described = examples.examples()[name], operations()[name]
    parameters = {one["name"]: one["example"] for one in described.get("parameters", ()) if "example" in one}
    assert parameters == example["path"] | example["query"]
    body = described.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        assert body["example"] == example["request"]
        assert_fits(body["schema"], body["example"])
    answer = described["responses"][str(contract.OPERATIONS[name].status)].get("content")
    assert (answer is None) == ("answer" not in example)
    if answer is not None:
        shown = answer[example["media"]]
        assert shown["example"] == example["answer"]
        assert_fits(shown["schema"], shown["example"])


def test_no_example_is_left_of_an_operation_that_is_gone() -> None:
    assert sorted(examples.examples()) == sorted(contract.OPERATIONS)


#: Names under which a row of the database would be named by its id. Ledger transactions are named so, and by nothing
#: else: entries, statements and files of the book have these numbers, and no other rows have such.
ROWS = re.compile(r"(.*_)?(id|ids|pk)|snapshot|event|account|staff|house|terminal|drawer|table|hand|player")
OF_THE_LEDGER = "transaction_id"


def numbers_of_rows(value: Any, name: str = "") -> Iterator[str]:
    """Names in a JSON value under which a bare number of a row stands."""
    if isinstance(value, dict):
        for inner, found in value.items():
            yield from numbers_of_rows(found, inner)
    elif isinstance(value, list):
        for found in value:
            yield from numbers_of_rows(found, name)
    elif type(value) is int and name != OF_THE_LEDGER and ROWS.fullmatch(name):
        yield name


@pytest.mark.parametrize("name", sorted(contract.OPERATIONS))
def test_no_answer_names_a_row_by_its_id(name: str) -> None:
    assert [*numbers_of_rows(examples.examples()[name].get("answer"))] == []


@pytest.mark.parametrize("kind", sorted(EVENTS))
def test_no_event_names_a_row_by_its_id(kind: str) -> None:
    numbers = [one.name for one in EVENTS[kind].FIELDS if "integer" in one.json_type]
    assert [name for name in numbers if ROWS.fullmatch(name) and name != OF_THE_LEDGER] == []
