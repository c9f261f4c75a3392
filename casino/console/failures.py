"""Pages for what cannot be answered."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language_from_request, gettext

from casino.console import pages
from casino.core import languages


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without the token that every page of ours has: it came from elsewhere, or from a page that is very old."""
    with languages.speaking(get_language_from_request(request)):
        problem = {
            "title": gettext("This page is out of date. Open it again and repeat what you did."),
            "code": "stale_page",
        }
        return pages.closed(pages.show(request, "refused", {"problem": problem | {"status": 403}}, 403))
