"""Plans of verification's statements: none is quadratic, also where PostgreSQL knows nothing of a new house."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections, transaction

from casino.core import sql
from casino.verification import unexplained_postings
from tests.casino.kit import Kit


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node of a plan and all below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


def test_the_lines_of_a_house_are_counted_once(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the joins that PostgreSQL takes where it expects a single row: 300 hands took minutes."""
    kit.worked_hand()
    kit.settle()
    asked: list[tuple[str, list[Any]]] = []
    rows = sql.rows

    def noted(statement: str, parameters: list[Any]) -> Any:
        asked.append((statement, parameters))
        return rows(statement, parameters)

    monkeypatch.setattr(sql, "rows", noted)
    assert list(unexplained_postings.of(kit.house)) == []
    statement, parameters = asked[0]
    with transaction.atomic(), connections["default"].cursor() as cursor:
        for join in ("hashjoin", "mergejoin", "material"):
            cursor.execute(f"SET LOCAL enable_{join} = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
        [[[explained]]] = cursor.fetchall()
    lines = [node for node in nodes(explained["Plan"]) if node.get("Relation Name") == "hands_handline"]
    assert [node["Actual Loops"] for node in lines] == [1]
