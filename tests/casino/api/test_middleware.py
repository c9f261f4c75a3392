"""What every answer has, whatever the operation: language, compression, leave for pages of other origins."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from casino.api.http.measuring import PROBES
from casino.houses.models import House
from tests.casino.kit import PIECES, Kit

PAGE = "https://consoles.example"


def test_the_house_says_how_its_amounts_and_times_are_read(kit: Kit) -> None:
    answer = kit.office().get("house")
    assert answer.json() == {
        "house": kit.house.code, "name": "Test house", "currency": "HUF", "currency_exponent": 0, "time_zone": "UTC",
        "stage": "sandbox", "sandbox": True, "api_version": "1",
        "denominations": sorted(PIECES, reverse=True),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("exponent", "amount", "text"),
    [(0, 1_234_567, "1,234,567 EUR"), (2, 1_234_567, "12,345.67 EUR"), (2, 5, "0.05 EUR"), (3, -1_234, "-1.234 EUR")],
)
def test_amounts_are_written_with_the_decimal_places_of_the_currency(exponent: int, amount: int, text: str) -> None:
    assert House(currency="EUR", currency_exponent=exponent).money(amount) == text


def test_a_time_zone_is_one_of_ianas() -> None:
    House(code="H", name="H", currency="HUF", time_zone="Europe/Budapest").clean_fields()
    with pytest.raises(ValidationError, match="time zone"):
        House(code="H", name="H", currency="HUF", time_zone="Europe/Buda").clean_fields()


def test_every_answer_is_in_english_and_says_so(kit: Kit) -> None:
    office = kit.office()
    for path, language in (("house", "hu"), ("tables/none", "hu, en;q=0.5"), ("house", "en")):
        answer = office.get(path, **{"Accept-Language": language})
        assert answer.headers["Content-Language"] == "en"


def test_no_answer_is_a_page_in_a_frame_or_is_kept(kit: Kit) -> None:
    office = kit.office()
    for answer in (office.get("house"), office.get("tables/none"), office.http.get("/livez"), office.http.get("/none")):
        policy = answer.headers["Content-Security-Policy"].split("; ")
        assert {"default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "sandbox"} <= set(policy)
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
    script = office.http.get("/static/console/console.js")
    assert script.status_code == 200 and "no-store" not in script.headers["Cache-Control"]
    assert script.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("probe", sorted(PROBES))
def test_probes_ask_a_process_by_its_address_and_nothing_else_does(kit: Kit, settings: Any, probe: str) -> None:
    """The check of a container and Prometheus know the address of a process, not the name of a house."""
    settings.ALLOWED_HOSTS = ["house.example"]
    http = kit.http(None)
    asked = {"Host": "127.0.0.1:8000"}
    # `/metrics` is shown to who has the token, and `/readyz` may lack a worker here.
    assert http.get(f"/{probe}", headers=asked).status_code in (200, 401, 403, 404, 503)
    for other in (f"/{probe}/", "/api/v1/docs", "/console/sign-in"):
        assert http.get(other, headers=asked).status_code == 400
    assert http.get("/console/sign-in", headers={"Host": "house.example"}).status_code != 400


def test_the_page_of_operations_runs_scripts_of_the_house_only(kit: Kit) -> None:
    http = kit.office().http
    page = http.get("/api/v1/docs")
    assert "script-src 'self';" in page.headers["Content-Security-Policy"] and "<script>" not in page.text
    script = http.get("/api/v1/docs?script=")
    assert script.headers["Content-Type"].startswith("application/javascript") and "/api/v1/schema" in script.text


def test_long_answers_are_compressed_and_versions_stay_strong(kit: Kit) -> None:
    office, gzip = kit.office(), {"Accept-Encoding": "gzip"}
    games = office.get("games", **gzip)
    assert games.headers["Content-Encoding"] == "gzip" and len(games.json()) > 5
    kit.table("T1")
    table = kit.dealer("T1").get(**gzip)
    assert "Content-Encoding" not in table.headers and table.headers["ETag"] == '"1"'


def test_pages_of_other_origins_are_let_in_only_where_the_setting_names_them(kit: Kit, settings: Any) -> None:
    office, preflight = kit.office(), {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    assert "Access-Control-Allow-Origin" not in office.get("house", Origin=PAGE).headers
    assert "Access-Control-Allow-Methods" not in office.http.options("/api/v1/house", headers=preflight).headers
    settings.CASINO_CORS_ORIGINS = (PAGE,)
    answer = office.get("house", Origin=PAGE)
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE and "Origin" in answer.headers["Vary"]
    assert "ETag" in answer.headers["Access-Control-Expose-Headers"]
    allowed = office.http.options("/api/v1/house", headers=preflight)
    assert allowed.status_code == 204 and "If-Match" in allowed.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Origin" not in office.get("house", Origin="https://evil.example").headers
