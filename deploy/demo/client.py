"""A terminal's HTTP client: signs in once, sends every write with its own key, and repeats it safely when the answer
got lost on the way."""

import logging
import time
import uuid
from typing import Any

import httpx

from deploy.demo.seed import Login

# A line for every request would drown the progress.
logging.getLogger("httpx").setLevel(logging.WARNING)

#: Seconds during which a lost answer is asked for again under the same Idempotency-Key.
PATIENCE = 60.0


class Refused(Exception):
    """The house refused a request; `problem` is its problem document."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(f"{problem.get('status')} {problem.get('code')}: {problem.get('detail')}")
        self.problem = problem

    @property
    def code(self) -> str:
        """The stable code."""
        return str(self.problem.get("code"))


class Terminal:
    """One signed-in person at one terminal."""

    def __init__(self, base_url: str, login: Login) -> None:
        self._http = httpx.Client(base_url=f"{base_url}/api/v1/", timeout=30.0)
        self.requests = 0
        answer = self._send(
            "POST",
            "sign-in",
            {
                "login": login.login,
                "password": login.password,
                "terminal": login.terminal,
                "terminal_key": login.terminal_key,
            },
            {},
        )
        self._http.headers["Authorization"] = f"Bearer {answer['token']}"

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self._send("POST", "sign-out", None, {})
        self._http.close()

    def get(self, path: str) -> Any:
        """Read something; returns the JSON body."""
        return self._send("GET", path, None, {})

    def pages(self, path: str) -> list[Any]:
        """All rows of a list that is paged by cursor."""
        rows: list[Any] = []
        url: str | None = f"{path}?page_size=1000"
        while url:
            page = self.get(url)
            rows += page["results"]
            url = page["next"]
        return rows

    def post(self, path: str, body: dict[str, Any], *, version: int | None) -> dict[str, Any]:
        """Write something that was decided on `version` (None where nothing existed before)."""
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        answer: dict[str, Any] = self._send("POST", path, body, headers)
        return answer

    def _send(self, method: str, path: str, body: dict[str, Any] | None, headers: dict[str, str]) -> Any:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.requests += 1
                response = self._http.request(method, path, json=body, headers=headers)
                break
            except httpx.TransportError:
                # The same key again: if the first one arrived, its answer comes back and nothing happens twice.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        if response.status_code == 204:
            return None
        payload = response.json()
        if response.is_error:
            raise Refused(payload)
        return payload
