"""`/metrics`, for Prometheus alone."""

import logging

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from casino.api.http.problems import CONTENT_TYPE, document
from casino.metrics import exposition

log = logging.getLogger(__name__)


@require_safe
def metrics(request: HttpRequest) -> HttpResponseBase:
    """Every metric in Prometheus' text format, for who may read them; 403 for everybody else. Nothing says whether an
    address or a token was wrong."""
    try:
        allowed = exposition.may_read(request)
    except OSError as error:
        log.error("the token of /metrics cannot be read: %s", error)
        allowed = False
    if not allowed:
        refusal = document(403, "forbidden", "The metrics are for those whom the settings name.")
        return JsonResponse(refusal, status=403, content_type=CONTENT_TYPE)
    return HttpResponse(exposition.text(), content_type=CONTENT_TYPE_LATEST)


urls = [path("metrics", metrics)]
