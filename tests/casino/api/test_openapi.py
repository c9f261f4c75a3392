"""The description of the API, the page that shows it without any other host, and the two probes."""

import importlib
import io
import pkgutil
import re
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
import yaml
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import OperationalError, connections
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

from casino import api
from casino.api import health
from casino.api.http import contract
from casino.api.http.operations import WriteOperation
from casino.core import heartbeat
from casino.staff.models import Role
from casino.urls import v1
from tests.casino.contract import operation_of
from tests.casino.described import assert_described, assert_fits
from tests.casino.kit import Desk, Kit

#: Routes that describe the API are not part of it.
UNDESCRIBED = {"schema", "docs"}
PROBLEM = "application/problem+json"


def described() -> dict[tuple[str, str], type]:
    """Every operation of the urlconf that the schema must have, as (method, OpenAPI path), with its view."""
    found = {}
    for pattern in v1:
        route = str(pattern.pattern)
        if route in UNDESCRIBED:
            continue
        path = "/api/v1/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route)
        view = pattern.callback.view_class
        for method in ("get", "post", "put", "patch", "delete"):
            if hasattr(view, method):
                found[method, path] = view
    return found


@pytest.fixture
def http(live_db: None) -> Iterator[httpx.Client]:
    """A client that is not signed in; it needs no house."""
    with httpx.Client(transport=httpx.WSGITransport(app=get_wsgi_application()), base_url="http://localhost") as client:
        yield client


#: The schema as it was served first: it is the same for every test, and takes seconds to make and to read.
_served: dict[str, Any] = {}


@pytest.fixture
def schema(http: httpx.Client) -> dict[str, Any]:
    """The schema as served. Nobody changes it."""
    if not _served:
        answer = http.get("/api/v1/schema")
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].startswith("application/vnd.oai.openapi")
        _served.update(yaml.load(answer.text, Loader=yaml.CSafeLoader))
    return _served


def operations(schema: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The schema's operations by method and path."""
    return {(method, path): found for path, methods in schema["paths"].items() for method, found in methods.items()}


@pytest.mark.slow
def test_the_schema_is_made_without_a_warning(live_db: None) -> None:
    out, err = io.StringIO(), io.StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=out, stderr=err)
    assert "openapi: 3" in out.getvalue()
    assert err.getvalue().strip() == ""


@pytest.mark.slow
def test_the_schema_is_valid_and_offered_as_json_too(http: httpx.Client, schema: dict[str, Any]) -> None:
    validate_schema(schema)
    as_json = http.get("/api/v1/schema", headers={"Accept": "application/vnd.oai.openapi+json"})
    assert as_json.json() == schema
    assert as_json.headers["Content-Type"].startswith("application/vnd.oai.openapi+json")


def test_the_schema_is_made_once_in_a_process(http: httpx.Client, schema: dict[str, Any], monkeypatch: Any) -> None:
    """Anybody may ask for it, as often as they like, with whatever parameters."""

    def make(*_: object, **__: object) -> None:
        raise AssertionError("it was made already")

    monkeypatch.setattr(SchemaGenerator, "get_schema", make)
    for query in ("", "?version=9", "?lang=hu"):
        answer = http.get(f"/api/v1/schema{query}")
        assert answer.status_code == 200 and answer.text.startswith("openapi: 3")
        assert "inline" in answer.headers["Content-Disposition"]


def test_the_schema_has_every_operation_under_a_name_of_its_own(schema: dict[str, Any]) -> None:
    found = operations(schema)
    assert found.keys() == described().keys()
    names = [operation["operationId"] for operation in found.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][A-Za-z]+", name) for name in names), names
    assert all(operation["summary"] and operation["tags"] for operation in found.values())


def test_parts_of_the_schema_have_names_that_stay_apart_in_other_languages(schema: dict[str, Any]) -> None:
    """Generators of clients drop what their language has no name for, as a leading underscore, and then two are one."""
    names = list(schema["components"]["schemas"])
    assert [name for name in names if not name[0].isupper()] == []
    assert len({name.replace("_", "").lower() for name in names}) == len(names)


def test_every_operation_of_every_module_has_an_address() -> None:
    # One that has none has no schema either, and no test that reads the schema would miss it.
    for module in pkgutil.iter_modules(api.__path__, f"{api.__name__}."):
        importlib.import_module(module.name)
    views = [pattern.callback.view_class for pattern in v1]
    reached = [operation.id for view in views for operation in getattr(view, "operations", {}).values()]
    assert sorted(reached) == sorted(contract.OPERATIONS)


def test_every_write_states_its_preconditions_and_refusals(schema: dict[str, Any]) -> None:
    posted = {key: view for key, view in described().items() if key[0] != "get"}
    writes = {key: view for key, view in posted.items() if issubclass(view, WriteOperation)}
    others = {path for (_, path), view in posted.items() if view not in writes.values()}
    assert others == {
        "/api/v1/sign-in",
        "/api/v1/sign-in/challenge",
        "/api/v1/passkeys/begin",
        "/api/v1/passkeys/challenge",
        "/api/v1/approvals/{approval}/challenge",
        "/api/v1/sign-out",
        "/api/v1/reauthenticate",
        "/api/v1/seat/seed",
        "/api/v1/seat/actions",
        "/api/v1/seat/commitment",
        "/api/v1/seat/device",
        "/api/v1/seat/prints",
    }
    for key, view in writes.items():
        operation = operations(schema)[key]
        required = {p["name"] for p in operation["parameters"] if p["in"] == "header" and p.get("required")}
        optional = {p["name"] for p in operation["parameters"] if p["in"] == "header" and not p.get("required")}
        assert optional == ({"Approval"} if view.approvable else set()), key
        assert required == ({"Idempotency-Key", "If-Match"} if view.versioned else {"Idempotency-Key"}), key
        assert {"400", "401", "403", "404", "413", "415", "422", "428", "503"} <= operation["responses"].keys()
        assert ("412" in operation["responses"]) == view.versioned, key
        good = next(found for status, found in operation["responses"].items() if status.startswith("2"))
        assert good["headers"].keys() == {"ETag", "Idempotency-Replayed", "X-Request-Id"}, key


def test_every_operation_answers_something_and_refuses_with_problem_documents(schema: dict[str, Any]) -> None:
    for key, operation in operations(schema).items():
        good = [status for status in operation["responses"] if status.startswith("2")]
        assert len(good) == 1, key
        assert good == ["204"] or operation["responses"][good[0]]["content"], key
        refusals = {status: found for status, found in operation["responses"].items() if status.startswith(("4", "5"))}
        assert refusals, key
        for status, found in refusals.items():
            assert list(found["content"]) == [PROBLEM], (key, status)
            reference = found["content"][PROBLEM]["schema"]["$ref"]
            problem = schema["components"]["schemas"][reference.removeprefix("#/components/schemas/")]
            promised = contract.OPERATIONS[operation["operationId"]]
            assert problem["properties"]["code"]["enum"] == list(promised.codes[int(status)]), (key, status)
            assert problem["properties"]["status"]["enum"] == [int(status)]
            assert_fits(problem, problem["example"])


def properties(part: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property of a schema with the names that lead to it."""
    if isinstance(part, list):
        for item in part:
            yield from properties(item, path)
    if not isinstance(part, dict):
        return
    for name, inner in part.items():
        if name == "properties" and isinstance(inner, dict):
            yield from ((f"{path}.{prop}", found) for prop, found in inner.items())
        if name not in ("example", "enum", "default"):
            yield from properties(
                inner, path if name in ("properties", "items", "allOf", "oneOf") else f"{path}.{name}"
            )


def test_every_property_and_parameter_is_described(schema: dict[str, Any]) -> None:
    found = [(name, one) for name, one in properties(schema["components"]["schemas"]) if ".Problem." not in name]
    assert len(found) > 1_000
    assert [name for name, one in found if not one.get("description")] == []
    parameters = [parameter for one in operations(schema).values() for parameter in one.get("parameters", ())]
    assert [parameter["name"] for parameter in parameters if not parameter.get("description")] == []


#: Objects that may have members that the schema does not name: a game adds its own to the view of a hand and to its
#: seats, the fields of an event depend on its kind (`docs/reference/events.md` has them), and the columns of a
#: file on its part.
OPEN = (
    ".view", ".view.seats[]", "TableOut.last_event", "KeyOut.last_event", "PersonalDataFile.head",
    "PersonalDataFile.sections[]",
)  # fmt: skip


def shapeless(part: dict[str, Any], path: str) -> Iterator[str]:
    """Where a schema says nothing of a value: of which type it is, what a list holds, what an object may have."""
    named, others, items = part.get("properties", {}), part.get("additionalProperties"), part.get("items")
    silent = {
        "object": others in (True, {}) or not (named or others),
        "array": not items,
        "": not {"$ref", "allOf", "oneOf", "anyOf", "enum"} & part.keys(),
    }
    if silent.get(part.get("type", ""), False):
        yield path
    inner = [(f".{name}", one) for name, one in named.items()]
    inner += [("", one) for choice in ("allOf", "oneOf", "anyOf") for one in part.get(choice, ())]
    inner += [(suffix, one) for suffix, one in (("[]", items), (".*", others)) if isinstance(one, dict) and one]
    for suffix, one in inner:
        yield from shapeless(one, path + suffix)


def test_everything_that_is_sent_or_answered_has_a_shape(schema: dict[str, Any]) -> None:
    components = schema["components"]["schemas"]
    assert len(components) > 250
    found = {where for name, one in components.items() for where in shapeless(one, name)}
    for key, operation in operations(schema).items():
        contents = [one for answer in operation["responses"].values() for one in answer.get("content", {}).values()]
        contents += operation.get("requestBody", {}).get("content", {}).values()
        for one in (*contents, *operation.get("parameters", ())):
            found.update(shapeless(one["schema"], f"{operation['operationId']} {key}"))
    assert {where for where in found if not where.endswith(OPEN)} == set()
    assert all(any(where.endswith(end) for where in found) for end in OPEN), "an exception that nothing needs"


@pytest.mark.parametrize(
    "said_nothing",
    [{}, {"description": "x"}, {"type": "object"}, {"type": "array"}, {"type": "object", "additionalProperties": {}},
     {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": True}],
)  # fmt: skip
def test_a_value_without_a_shape_is_found_wherever_it_stands(said_nothing: dict[str, Any]) -> None:
    assert list(shapeless(said_nothing, "Out")) == ["Out"]
    assert list(shapeless({"type": "object", "properties": {"a": said_nothing}}, "Out")) == ["Out.a"]
    assert list(shapeless({"oneOf": [{"type": "string"}, said_nothing]}, "Out")) == ["Out"]
    assert list(shapeless({"type": "array", "items": {"allOf": [said_nothing]}}, "Out")) == ["Out[]"]
    assert list(shapeless({"type": "object", "additionalProperties": {"oneOf": [said_nothing]}}, "Out")) == ["Out.*"]


#: What nobody need sign in for.
PUBLIC = {
    ("post", "/api/v1/sign-in"), ("post", "/api/v1/sign-in/challenge"), ("get", "/api/v1/receipts/{hash}"),
}  # fmt: skip


def test_who_must_sign_in_is_stated(schema: dict[str, Any]) -> None:
    assert schema["components"]["securitySchemes"]["terminalToken"] == {"type": "http", "scheme": "bearer"}
    for key, operation in operations(schema).items():
        scheme = "seatKey" if key[1].startswith("/api/v1/seat/") else "terminalToken"
        public = key in PUBLIC
        expected = [] if public else [{scheme: []}]
        assert operation.get("security", []) == expected, key


def test_answers_are_as_described(kit: Kit, schema: dict[str, Any]) -> None:
    kit.table("T1")
    dealer, office, cashier = kit.seated("T1"), kit.office(), kit.cashier()
    hand = dealer.post("hands", {"mode": "physical"})
    dealer.act("p1 po 100")
    answers = {
        ("post", "/api/v1/tables/{table}/hands"): hand,
        ("get", "/api/v1/tables/{table}"): dealer.get(),
        ("get", "/api/v1/tables/{table}/hand"): dealer.get("hand"),
        ("get", "/api/v1/tables/{table}/hand/legal-actions"): dealer.get("hand/legal-actions"),
        ("get", "/api/v1/tables"): office.get("tables"),
        ("get", "/api/v1/players"): office.get("players"),
        ("get", "/api/v1/hands"): office.get("hands"),
        ("get", "/api/v1/reports/hands"): office.get("reports/hands"),
        ("get", "/api/v1/audit/events"): office.get("audit/events"),
        ("get", "/api/v1/drawers/{drawer}"): cashier.get(),
        ("post", "/api/v1/days"): kit.office(Role.FLOOR).post("days", {"day": "2020-02-29"}),
        ("get", "/api/v1/days"): office.get("days"),
        ("get", "/api/v1/days/{day}"): office.get("days/2020-02-29"),
        ("get", "/api/v1/ledger/accounts"): office.get("ledger/accounts"),
        ("get", "/api/v1/ledger/accounts/{account}/balance"): office.get("ledger/accounts/1010/balance"),
        ("get", "/api/v1/ledger/accounts/{account}/statement"): office.get("ledger/accounts/1010/statement"),
        ("post", "/api/v1/drawers/{drawer}/buy-ins"): cashier.post("buy-ins", {"player": "T1-u1", "amount": 100}),
        ("post", "/api/v1/players/register"): cashier.post("/api/v1/players/register", {"player": "new"}),
    }
    for key, answer in answers.items():
        assert_answers(schema, key, answer)
    assert_described(cashier.post("open", {"cash": 0, "pieces": {}}))


def test_answers_of_cage_and_floor_are_as_described(kit: Kit, schema: dict[str, Any]) -> None:
    kit.table("T1")
    dealer, office, cashier = kit.seated("T1"), kit.office(), kit.cashier()
    fill = {"table": "T1", "pieces": {"100": 5}}
    drop = {"kind": "drop", "number": "drop-1"}
    counted: dict[str, Any] = {"cash": 0, "pieces": {}}
    sent = cashier.post("fills", fill)
    keeper, duty = kit.office(Role.CAGE_SUPERVISOR), {"amount": 5, "reason": "November"}
    received = f"fills/{sent.json()['last_event']['transfer']['serial']}/receive"
    answers = {
        ("post", "/api/v1/drawers/{drawer}/fills"): sent,
        ("get", "/api/v1/transfers"): office.get("transfers"),
        ("post", "/api/v1/tables/{table}/fills/{fill}/receive"): dealer.post(
            received, {"pieces": {"100": 5}, "carrier": kit.runner()}
        ),
        ("post", "/api/v1/tables/{table}/buy-ins"): dealer.post("buy-ins", {"seat": 1, "amount": 100}),
        ("post", "/api/v1/tables/{table}/tips"): dealer.post("tips", {"seat": 1, "amount": 100}),
        ("get", "/api/v1/tables/{table}/chips"): office.get("tables/T1/chips"),
        ("post", "/api/v1/tables/{table}/boxes"): dealer.post("boxes", drop),
        ("get", "/api/v1/boxes"): office.get("boxes"),
        ("get", "/api/v1/tronc/pools"): office.get("tronc/pools"),
        ("post", "/api/v1/duty"): keeper.post("duty", duty, headers=kit.approval(keeper, "duty", duty)),
    }
    box = dealer.post("boxes", drop | {"number": "drop-2", "seal": "S-1"}).json()["last_event"]["taken"]["box"]
    team, supervisor = (kit.office(Role.COUNT), kit.office(Role.COUNT)), kit.office(Role.CAGE_SUPERVISOR)
    answers |= {
        ("post", "/api/v1/boxes/{box}/bring"): team[0].post(f"boxes/{box}/bring", {"seal": "S-1"}),
        ("post", "/api/v1/boxes/{box}/counts"): [desk.post(f"boxes/{box}/counts", counted) for desk in team][1],
        ("post", "/api/v1/boxes/{box}/receive"): supervisor.post(f"boxes/{box}/receive"),
    }
    for key, answer in answers.items():
        assert answer.is_success, (key, answer.text)
        assert_answers(schema, key, answer)


def test_answers_of_the_office_are_as_described(kit: Kit, schema: dict[str, Any]) -> None:
    kit.table("T1")
    kit.players("anna")
    office, cashier, login = kit.office(Role.ADMIN), kit.cashier(), f"bea@{kit.house.code}"
    hired = {"login": login, "name": "Bea", "roles": ["dealer"], "password": "seven-of-acorns-19"}
    device, why = {"terminal": "t-1", "kind": "table", "location": "T1"}, {"reason": "a good reason"}
    person = {"person": {"name": "Anna", "born": "1980-02-29", "document": "1"}, "reason": "first_record"}
    answers = {
        ("post", "/api/v1/staff"): office.post("staff", hired),
        ("get", "/api/v1/staff"): office.get("staff"),
        ("post", "/api/v1/staff/{login}/deactivate"): office.post(f"staff/{login}/deactivate", why, version=1),
        ("post", "/api/v1/terminals"): office.post("terminals", device),
        ("get", "/api/v1/terminals"): office.get("terminals"),
        ("post", "/api/v1/terminals/{terminal}/revoke"): office.post("terminals/t-1/revoke", why, version=1),
        ("post", "/api/v1/players/{player}/person"): cashier.post("/api/v1/players/anna/person", person, version=1),
        ("get", "/api/v1/players/{player}/person"): cashier.get("/api/v1/players/anna/person"),
    }
    floor = hired | {"login": f"flo@{kit.house.code}"}
    office.ok("staff", floor)
    key = office.post("terminals", device | {"terminal": "t-2"}).json()["key"]
    form = {"login": floor["login"], "password": floor["password"], "terminal": "t-2", "terminal_key": key}
    token = kit.http(None).post("/api/v1/sign-in", json=form).json()["token"]
    body = {"old": floor["password"], "new": "eight-of-leaves-23"}
    answers["post", "/api/v1/password"] = Desk(kit.http(token), "/api/v1").post("password", body)
    for operation, answer in answers.items():
        assert answer.is_success, (operation, answer.text)
        assert_answers(schema, operation, answer)


def assert_answers(schema: dict[str, Any], key: tuple[str, str], answer: httpx.Response) -> None:
    """The answer is that of this operation, and as its description says."""
    operation = operation_of(answer.request.method, answer.request.url.path)
    assert operation is not None and operation.id == operations(schema)[key]["operationId"]
    assert_described(answer)


def test_the_swagger_page_needs_no_other_host(http: httpx.Client) -> None:
    page = http.get("/api/v1/docs")
    assert page.status_code == 200
    links = re.findall(r"""(?:src|href)\s*=\s*["']([^"']+)["']""", page.text)
    assert any(link.endswith(".js") for link in links)
    assert any(link.endswith(".css") for link in links)
    for link in links:
        parts = urlsplit(urljoin("http://localhost/api/v1/docs", link))
        assert parts.hostname == "localhost", link
        served = http.get(parts.path)
        assert served.status_code == 200, link
        assert served.content, link
    hosts = {urlsplit(link).hostname for link in re.findall(r"https?://[^\s\"'<>]+", page.text)}
    assert hosts <= {"localhost"}, hosts
    assert "/api/v1/schema" in http.get("/api/v1/docs?script=").text


@pytest.mark.parametrize("page", ["schema", "docs"])
@pytest.mark.parametrize(
    ("method", "query", "accept", "status", "code"),
    [
        ("POST", "", "*/*", 405, "method_not_allowed"),
        ("GET", "", "image/png", 406, "not_acceptable"),
        ("GET", "?format=exe", "*/*", 404, "not_found"),
    ],
)
def test_here_too_a_refusal_is_a_problem_document(
    http: httpx.Client, page: str, method: str, query: str, accept: str, status: int, code: str
) -> None:
    answer = http.request(method, f"/api/v1/{page}{query}", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, PROBLEM)
    assert (answer.json()["status"], answer.json()["code"]) == (status, code)


def test_static_files_are_only_those_of_the_applications(http: httpx.Client) -> None:
    assert http.get("/api/v1/docs").headers["X-Content-Type-Options"] == "nosniff"
    assert http.get("/static/../casino/settings.py").status_code == 404
    assert http.get("/static/").status_code == 404


# --- Probes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["livez", "healthz"])
def test_livez_asks_nothing(http: httpx.Client, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(health, "connection", None)
    monkeypatch.setattr(heartbeat, "broker", None)
    answer = http.get(f"/{name}")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.usefixtures("all_running")
def test_readyz_names_what_it_has_checked(http: httpx.Client, services: Any) -> None:
    answer = http.get("/readyz")
    assert answer.status_code == 200, answer.text
    # Houses that other tests have rolled back are read-only, and stay so.
    assert answer.json()["status"] in ("ready", "degraded", "read_only")
    assert answer.json()["checks"] == [
        "database", "migrations", "role", "guards", "catalogue", "outbox", "broker", "beat", "worker", "log",
        "sequencer", "workers", "streams", "replicas",
    ]  # fmt: skip


@pytest.mark.usefixtures("all_running")
@pytest.mark.parametrize("broker", ["refused", "silent", "no such socket"])
def test_readyz_says_so_when_the_broker_is_away(
    http: httpx.Client, settings: Any, broker: str, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if broker == "silent":
            listener.listen()
        settings.REDIS_URL = f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
        if broker == "no such socket":
            settings.REDIS_URL = f"unix://{tmp_path}/none.sock"
        answer = http.get("/readyz")
    assert (answer.status_code, answer.headers["Content-Type"]) == (503, PROBLEM)
    problem = answer.json()
    assert (problem["code"], problem["failed"]) == (
        "not_ready", [{"check": "broker", "code": "broker_unreachable"}]
    )  # fmt: skip
    # Where it looked and what it was answered is for the log.
    assert set(problem) == {"type", "title", "status", "code", "detail", "failed"}
    assert problem["detail"] == "Not ready: broker. The server's log says why."
    assert "The broker does not answer: Error" in caplog.text or "The broker does not answer: Timeout" in caplog.text
    assert http.get("/healthz").status_code == 200


def test_readyz_refuses_a_role_that_is_too_mighty(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "connection", connections["owner"])
    answer = http.get("/readyz")
    assert (answer.status_code, answer.json()["failed"][0]) == (503, {"check": "role", "code": "role_too_mighty"})


@pytest.mark.usefixtures("all_running")
def test_readyz_does_not_show_what_the_database_answered(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Gone:
        def ensure_connection(self) -> None:
            raise OperationalError('connection to server at "10.1.2.3", user "casino_app" failed')

    monkeypatch.setattr(health, "connection", Gone())
    answer = http.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["failed"] == [{"check": "database", "code": "database_unreachable"}]
    assert "10.1.2.3" not in answer.text and "10.1.2.3" in caplog.text
