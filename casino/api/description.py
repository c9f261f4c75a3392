"""The OpenAPI document, and the page that shows it; everybody may read them."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.permissions import AllowAny

# Registers how both ways to sign in are described. Only who reads the description needs it: workers start without.
from casino.api.http import schema  # noqa: F401

_OPEN = {"authentication_classes": [], "permission_classes": [AllowAny]}

urls = [
    path("schema", SpectacularAPIView.as_view(**_OPEN), name="schema"),
    path("docs", SpectacularSwaggerView.as_view(url_name="schema", **_OPEN), name="docs"),
]
