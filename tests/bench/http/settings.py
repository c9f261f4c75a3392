"""The product's settings, and the address of the bare view beside the product's own."""

from casino.settings import *  # noqa: F403

ROOT_URLCONF = "tests.bench.http.urls"
