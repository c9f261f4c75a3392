"""What the scripts of a screen speak to: any write of the API, and the streams of hints."""

from http import HTTPStatus

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from casino.console import cookies, pages, said
from casino.console.door import Door, answer_of, is_json
from casino.core import languages
from casino.core.errors import NotFound

#: What a script sends along with a write, and what an operation reads.
_HEADERS = ("Idempotency-Key", "If-Match", "Approval")
#: What is answered with a token, which no script gets: it has pages of its own.
_WITH_TOKEN = frozenset({"sign-in", "reauthenticate"})


@require_POST
@pages.anybody
def do(request: HttpRequest, address: str) -> HttpResponseBase:
    """A write, as the API takes it, by the person who is signed in here, or by the seat whose key this device has; the
    answer as the API gives it, but for the words of a refusal."""
    if address in _WITH_TOKEN:
        raise NotFound(gettext("There is nothing at this address."))
    of_seat = address.startswith("seat/")
    token = cookies.seat(request) if of_seat else cookies.token(request)
    if token is None:
        return JsonResponse(
            {"title": gettext("Sign in first."), "status": 401, "code": "not_authenticated"}, status=401
        )
    headers = {f"HTTP_{name.upper().replace('-', '_')}": request.headers.get(name) for name in _HEADERS}
    door = Door(request, token, scheme="Seat") if of_seat else Door(request, token)
    response = door.send("POST", address, request.body, headers)
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE and answer_of(response).code in pages.READ_ONLY:
        response.headers[pages.READ_ONLY_HEADER] = "1"
    return _in_words(response) if response.status_code >= 400 and is_json(response) else response


def _in_words(response: HttpResponseBase) -> HttpResponseBase:
    """A refusal in the words of the reader; in English as the API gives it."""
    answer = answer_of(response)
    if languages.spoken() == languages.ENGLISH or not isinstance(answer.body, dict):
        return response
    found = JsonResponse(said.in_words(answer.body), status=response.status_code)
    if pages.READ_ONLY_HEADER in response.headers:
        found.headers[pages.READ_ONLY_HEADER] = response.headers[pages.READ_ONLY_HEADER]
    return found


@require_GET
@pages.anybody
def live(request: HttpRequest, address: str) -> HttpResponseBase:
    """A stream of hints (`tables/T1/stream`), for the person who is signed in here."""
    token = cookies.token(request)
    last = {"HTTP_LAST_EVENT_ID": request.headers.get("Last-Event-ID")}
    return Door(request, token).send("GET", address, headers=last, query=request.META.get("QUERY_STRING", ""))


urls = [path("do/<path:address>", do), path("live/<path:address>", live)]
