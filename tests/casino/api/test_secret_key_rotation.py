"""While Django's signing key is rotated, a repeated request is known under the old key and the new one."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from tests.casino.kit import Kit
from tests.casino.scene import assert_problem


@pytest.mark.parametrize("old", ["present", "other"])
def test_a_request_whose_body_is_not_kept_is_known_again(kit: Kit, settings: Settings, old: str) -> None:
    """Both ways: a process that was not restarted yet gets the repetition of what one with the new key has done."""
    cashier = kit.cashier()
    before, new = settings.SECRET_KEY, "n" * 60
    assert settings.SECRET_KEY_FALLBACKS == []
    if old == "other":
        settings.SECRET_KEY, before, new = new, new, before
    first = cashier.post("/api/v1/players/register", {"player": "rosa"}, key="rotated")
    assert first.status_code == 201
    settings.SECRET_KEY = new
    refused = cashier.post("/api/v1/players/register", {"player": "rosa"}, key="rotated")
    assert_problem(refused, 422, "idempotency_key_reused")
    settings.SECRET_KEY_FALLBACKS = [before]
    again = cashier.post("/api/v1/players/register", {"player": "rosa"}, key="rotated")
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
    other = cashier.post("/api/v1/players/register", {"player": "nora"}, key="rotated")
    assert_problem(other, 422, "idempotency_key_reused")
