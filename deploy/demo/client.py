"""A terminal's HTTP client: signs in once, sends every write with its own key, and repeats it safely when the answer
got lost on the way.

The demo plays on the machine that serves it, so its client must be cheap: the standard library's connection costs a
fifth of the CPU of a full client, which the house needs for itself.
"""

import json
import time
import uuid
from http.client import HTTPConnection, HTTPException
from select import select
from shutil import copyfileobj
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from deploy.demo.logins import Login

#: Seconds during which a lost answer is asked for again under the same Idempotency-Key.
PATIENCE = 60.0
#: Seconds to wait for one answer.
TIMEOUT = 30.0
#: The status of a house that cannot do it now, and does not always know whether it has: the same key asks again.
AWAY = 503
#: The code of what waits for a second person.
APPROVAL_REQUIRED = "approval_required"


class Refused(Exception):
    """The house refused a request; `problem` is its problem document."""

    def __init__(self, problem: dict[str, Any]) -> None:
        where = f" {problem['errors']}" if "errors" in problem else ""
        super().__init__(f"{problem.get('status')} {problem.get('code')}: {problem.get('detail')}{where}")
        self.problem = problem

    @property
    def code(self) -> str:
        """The stable code."""
        return str(self.problem.get("code"))


class Connection:
    """An HTTP connection to the house on behalf of somebody whom `authorization` names."""

    def __init__(self, base_url: str, authorization: str | None = None) -> None:
        address = urlsplit(base_url)
        self._root = f"{address.path}/api/v1/"
        self._http = HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT)
        self._token: dict[str, str] = {} if authorization is None else {"Authorization": authorization}
        self.requests = 0

    def close(self) -> None:
        """Close it."""
        self._http.close()

    def get(self, path: str) -> Any:
        """Read something; returns the JSON body."""
        return self._send("GET", path, None, {})

    def _send(self, method: str, path: str, body: dict[str, Any] | None, headers: dict[str, str]) -> Any:
        content = None if body is None else json.dumps(body).encode()
        sent = self._token | headers | ({} if content is None else {"Content-Type": "application/json"})
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                status, payload = self._exchange(method, path, content, sent)
            except (OSError, HTTPException):
                # The same key again: if the first one arrived, its answer comes back and nothing happens twice.
                self._http.close()
                self.missed("no answer")
                if time.monotonic() > deadline:
                    raise
            else:
                if status < 400:
                    return payload
                if status != AWAY or time.monotonic() > deadline:
                    raise Refused(payload)
                self.missed(f"{status} {payload['code']}")
            time.sleep(0.2)

    def _exchange(self, method: str, path: str, content: bytes | None, sent: dict[str, str]) -> tuple[int, Any]:
        self.requests += 1
        if self._http.sock is not None and select([self._http.sock], [], [], 0)[0]:
            # The house has ended an idle connection, as it may: nothing was sent on it, the next one is opened.
            self._http.close()
        self._http.request(method, self._root + path, content, sent)
        response = self._http.getresponse()
        answer = response.read()
        return response.status, json.loads(answer) if answer else None

    def missed(self, why: str) -> None:
        """A request is sent again: no answer came, or the house could not do it now."""


class Terminal(Connection):
    """One signed-in person at one terminal."""

    def __init__(self, base_url: str, login: Login) -> None:
        super().__init__(base_url)
        self.base_url = base_url
        form = {
            "login": login.login,
            "password": login.password,
            "terminal": login.terminal,
            "terminal_key": login.terminal_key,
        }
        try:
            answer = self._send("POST", "sign-in", form, {})
        except BaseException:
            self.close()
            raise
        self._token = {"Authorization": f"Bearer {answer['token']}"}

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self._send("POST", "sign-out", None, {})
        self.close()

    def download(self, path: str, file: BinaryIO) -> None:
        """Write the answer, which may be of any length, into a file. Not repeated: a broken one is an error."""
        self.requests += 1
        self._http.request("GET", self._root + path, None, self._token)
        response = self._http.getresponse()
        if response.status >= 400:
            raise Refused(json.loads(response.read()))
        copyfileobj(response, file)

    def pages(self, path: str) -> list[Any]:
        """All rows of a list that is paged by cursor."""
        rows: list[Any] = []
        query = "page_size=1000"
        while query:
            page = self.get(f"{path}?{query}")
            rows += page["results"]
            query = urlsplit(page["next"] or "").query
        return rows

    def post(
        self, path: str, body: dict[str, Any], *, version: int | None, approval: int | None = None
    ) -> dict[str, Any]:
        """Write something that was decided on `version` (None where nothing existed before), with the approval of this
        number."""
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        if approval is not None:
            headers["Approval"] = str(approval)
        answer: dict[str, Any] = self._send("POST", path, body, headers)
        return answer

    def post_approved(
        self, path: str, body: dict[str, Any], approver: "Terminal", *, version: int | None = None
    ) -> dict[str, Any]:
        """Write what a second person must approve: ask, have it approved at the approver's own terminal, and send the
        same again with the approval."""
        try:
            self.post(path, body, version=version)
        except Refused as refused:
            if refused.code != APPROVAL_REQUIRED:
                raise
            number = int(refused.problem["approval"]["approval"])
        else:
            raise AssertionError(f"{path} went through, and was to wait for an approval")
        approver.post(f"approvals/{number}/approve", {}, version=None)
        return self.post(path, body, version=version, approval=number)
