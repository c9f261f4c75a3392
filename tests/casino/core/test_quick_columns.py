"""Columns that hash quickly: what Django calls equal hashes the same, and queries stay what they were."""

from __future__ import annotations

import itertools

import pytest
from django.apps import apps
from django.db import models
from django.db.models import F
from django.db.models.expressions import Col, Expression

from casino.core import quick_columns
from casino.houses.models import House, OutboxMessage
from casino.tables.models import Table


def columns() -> list[Col]:
    """Every column of two models, under two aliases, each made twice."""
    return [
        Col(alias, field)
        for alias in ("a", "b")
        for model in (House, Table)
        for field in model._meta.concrete_fields
        for _ in range(2)
    ]


def test_columns_hash_by_alias_and_name_without_their_identity() -> None:
    for column in columns():
        assert hash(column) == hash((column.alias, column.target.name))
        assert "identity" not in column.__dict__


def test_equal_columns_hash_the_same_and_columns_of_a_table_differ() -> None:
    found = columns()
    for one, other in itertools.combinations(found, 2):
        same = one.identity == other.identity
        assert (one == other) is same
        if same:
            assert hash(one) == hash(other)
    assert len({*found}) == len(found) // 2
    here = [Col("a", field) for field in Table._meta.concrete_fields]
    assert len({hash(column) for column in here}) == len(here)


@pytest.mark.parametrize("model", [*apps.get_app_config("houses").get_models()])
def test_queries_are_the_same_as_with_django_s_hash(model: type[models.Model], monkeypatch: pytest.MonkeyPatch) -> None:
    def queries() -> list[str]:
        every = model._default_manager.all()
        return [
            str(queryset.query)
            for queryset in (
                every.order_by("pk"), every.order_by(F("pk").desc()), every.annotate(named=F("pk")).order_by("named"),
                every.values("pk").order_by(F("pk")), every.reverse(), every.order_by("pk").reverse(),
            )
        ]  # fmt: skip

    quick = queries()
    monkeypatch.setattr(Col, "__hash__", Expression.__hash__)
    assert quick == queries()


def test_an_order_over_a_joined_table_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = OutboxMessage.objects.select_related("house").order_by("house__code", "id").distinct()
    quick = str(asked.query)
    monkeypatch.setattr(Col, "__hash__", Expression.__hash__)
    assert quick == str(asked.all().query)


def test_django_still_needs_it() -> None:
    """Where Django has made it quick itself, `quick_columns` can go."""
    assert Col.__hash__ is quick_columns._quick
    assert Expression.__hash__.__code__.co_names == ("hash", "identity")
