"""The house behind a real nginx: what of a request counts, what is limited, and what is said where nobody answers."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from casino.core.error_codes import ERROR_CODES
from casino.staff.models import Role, TerminalKind
from casino.staff.services import enrol_terminal
from deploy import web
from tests import debian
from tests.casino.kit import ACTOR, Kit
from tests.casino.live.readers import happen
from tests.deploy import nginx
from tests.deploy.nginx import HOUSE, Nginx
from tests.deploy.web_and_hints import Running, running
from tests.services import free_port

pytestmark = pytest.mark.slow


@dataclass
class Front:
    """nginx in front of a house, and the clients that are open."""

    nginx: Nginx
    clients: ExitStack

    def client(
        self, *, address: str = "127.0.0.1", host: str = HOUSE, token: str = "", tls: bool = True
    ) -> httpx.Client:
        """A client with this address, over TLS that it checks."""
        trusted = ssl.create_default_context(cafile=str(self.nginx.certificate))
        transport = httpx.HTTPTransport(verify=trusted, local_address=address)
        scheme, port = ("https", self.nginx.tls) if tls else ("http", self.nginx.plain)
        headers = {"Host": host} | ({"Authorization": f"Bearer {token}"} if token else {})
        client = httpx.Client(transport=transport, base_url=f"{scheme}://127.0.0.1:{port}", headers=headers, timeout=30)
        client.event_hooks["request"].append(lambda request: request.extensions.update(sni_hostname=HOUSE))
        return self.clients.enter_context(client)


@pytest.fixture(scope="module")
def behind(django_db_setup: None) -> Iterator[Running]:
    """Web and hints of a house of its own name."""
    with running(**{web.PROXY: "127.0.0.1", "CASINO_ALLOWED_HOSTS": f"{HOUSE},127.0.0.1"}) as up:
        yield up


@pytest.fixture
def front(live_db: None, behind: Running) -> Iterator[Front]:
    """The same with an nginx of the test's own before them."""
    with TemporaryDirectory(prefix="cukassza-n-") as folder:
        try:
            with nginx.running(Path(folder), nginx.house(behind.port)) as before, ExitStack() as clients:
                yield Front(before, clients)
        except debian.NotUnpacked as error:
            pytest.skip(f"no nginx: {error}")


def test_nginx_has_nothing_to_say_against_the_configuration(tmp_path: Path) -> None:
    try:
        program = nginx.program()
    except debian.NotUnpacked as error:
        pytest.skip(f"no nginx: {error}")
    main, *_ = nginx.written(tmp_path, nginx.house(8000))
    log = tmp_path / "error.log"
    said = subprocess.run([program, "-t", "-p", tmp_path, "-e", log, "-c", main], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert "[warn]" not in said.stderr + log.read_text()


def test_its_own_refusals_are_the_houses() -> None:
    """Codes, statuses and members of the problem documents that stand in the configuration."""
    from casino.api.http import problems

    text = nginx.CONFIGURATION.read_text(encoding="utf-8")
    said = re.findall(r"return (\d+) '(\{.*\})';", text)
    assert len(said) == 5
    for status, body in said:
        found = httpx.Response(int(status), content=body).json()
        code = ERROR_CODES[found["code"]]
        assert found["status"] == code.status == int(status)
        assert found.keys() == problems.document(0, "", "").keys() | set(code.members), found["code"]
        assert found["title"] == problems.TITLES[int(status)]


def test_tls_names_and_what_is_not_for_guests(front: Front) -> None:
    plain = front.client(tls=False).get("/console/sign-in?next=/console/floor")
    assert (
        plain.status_code == 308 and plain.headers["Location"] == f"https://{HOUSE}/console/sign-in?next=/console/floor"
    )
    untold = front.client(tls=False, token="a" * 64).get("/api/v1/house")
    assert untold.status_code == 403 and untold.json()["code"] == "forbidden" and "Location" not in untold.headers
    found = front.client().get("/console/terminal")
    assert found.status_code == 200
    assert found.headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"
    cookies = found.headers.get_list("Set-Cookie")
    assert cookies and all(one.startswith("__Host-") and "; Secure" in one for one in cookies), cookies
    assert front.client(host="other.example").get("/api/v1/tables").status_code == 404
    assert front.client().get("/healthz").status_code == 200
    assert front.client(address="127.0.0.2").get("/healthz").status_code == 403


def test_tls_takes_no_cipher_without_forward_secrecy(front: Front) -> None:
    def agreed(ciphers: str) -> str:
        offered = ssl.create_default_context(cafile=str(front.nginx.certificate))
        offered.maximum_version = ssl.TLSVersion.TLSv1_2
        offered.set_ciphers(ciphers)
        plain = socket.create_connection(("127.0.0.1", front.nginx.tls))
        with plain, offered.wrap_socket(plain, server_hostname=HOUSE) as secured:
            return str(secured.cipher()[0])  # type: ignore[index]

    assert agreed("ECDHE+AESGCM+AES128:ECDHE+AESGCM+AES256") == "ECDHE-ECDSA-AES256-GCM-SHA384"
    with pytest.raises(ssl.SSLError):
        agreed("ECDHE-ECDSA-AES256-SHA:AES256-SHA")


def test_attempts_count_for_the_address_that_nginx_sees(front: Front) -> None:
    """One who guesses locks the own address out, not the house's; and nobody names another one."""
    kit = Kit.found()
    _, key = enrol_terminal(house=kit.house, code="desk-1", kind=TerminalKind.OFFICE, location="", actor=ACTOR)
    body = {"login": f"nobody@{kit.house.code}", "password": "a wrong one 1", "terminal": "desk-1", "terminal_key": key}
    guesser, other = (front.client(address=f"127.0.0.{last}") for last in (5, 6))
    forged = {"X-Forwarded-For": "127.0.0.6"}
    answers = [guesser.post("/api/v1/sign-in", json=body, headers=forged).status_code for _ in range(7)]
    assert answers[-1] == 429 and answers[0] == 403, answers
    assert other.post("/api/v1/sign-in", json=body).status_code == 403
    kit.close()


def test_too_many_requests_of_one_are_refused_and_others_served(front: Front) -> None:
    greedy, calm = (front.client(address=f"127.0.0.{last}") for last in (7, 8))
    with ThreadPoolExecutor(40) as at_once:
        answers = list(at_once.map(lambda _: greedy.get("/console/sign-in"), range(80)))
    refused = [one for one in answers if one.status_code == 429]
    assert 0 < len(refused) < 80 and len(refused) + sum(one.status_code < 400 for one in answers) == 80
    for one in refused:
        assert one.json()["code"] == "too_many_requests" and one.headers["Retry-After"] == "1"
        assert one.headers["Content-Type"] == "application/problem+json"
    assert calm.get("/console/sign-in").status_code < 400


def test_hints_come_through(front: Front) -> None:
    kit = Kit.found()
    kit.table()
    client = front.client(token=kit.token(Role.FLOOR, TerminalKind.OFFICE, ""))
    with client.stream("GET", "/api/v1/tables/T1/stream") as stream:
        lines = stream.iter_lines()
        assert any(line.startswith("data: ") for line in lines)
        seq = happen(kit.house, "table/T1", version=7)
        began = time.monotonic()
        assert any(f'"seq":{seq},' in line for line in lines)
        assert time.monotonic() - began < 10
    kit.close()


def test_idle_and_slow_clients_stop_nobody(front: Front) -> None:
    kit = Kit.found()
    kit.table()
    token = kit.token(Role.FLOOR, TerminalKind.OFFICE, "")
    held = [
        socket.create_connection(("127.0.0.1", front.nginx.tls), source_address=(f"127.0.1.{n % 4 + 1}", 0))
        for n in range(400)
    ]
    try:
        client = front.client(token=token)
        assert [client.get("/api/v1/tables/T1").status_code for _ in range(20)] == [200] * 20
    finally:
        for one in held:
            one.close()
    kit.close()


def test_where_no_answer_comes_it_is_said_that_nobody_knows(tmp_path: Path) -> None:
    try:
        with nginx.running(tmp_path, nginx.house(free_port())) as before, ExitStack() as clients:
            client = Front(before, clients).client()
            answer = client.post("/api/v1/tables/T1/open", json={}, headers={"Idempotency-Key": "k1"})
    except debian.NotUnpacked as error:
        pytest.skip(f"no nginx: {error}")
    assert answer.status_code == 503 and answer.json()["code"] == "outcome_unknown", answer.text
    assert answer.headers["Retry-After"] == "2"
