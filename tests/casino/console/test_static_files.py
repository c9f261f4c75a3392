"""The files of the screens: compressed where that is accepted, asked for again by their date."""

import gzip
from contextlib import closing

import pytest
from django.contrib.staticfiles import finders
from django.http.response import HttpResponseBase
from django.test import Client

PATH = "console/htmx.min.js"


def asked(**headers: str) -> tuple[HttpResponseBase, bytes]:
    """The answer and what it holds."""
    with closing(Client().get(f"/static/{PATH}", headers=headers)) as answer:
        return answer, b"".join(answer.streaming_content) if answer.streaming else answer.content


@pytest.mark.parametrize("accepts", ["gzip", ""])
def test_a_file_is_sent_as_the_browser_accepts_it(accepts: str) -> None:
    found = finders.find(PATH)
    assert isinstance(found, str)
    with open(found, "rb") as file:  # noqa: PTH123 - the finder gives a string
        whole = file.read()
    answer, sent = asked(**{"Accept-Encoding": accepts})
    assert answer.status_code == 200
    if accepts:
        assert answer["Content-Encoding"] == "gzip"
        assert len(sent) < len(whole) / 2
        assert gzip.decompress(sent) == whole
    else:
        assert sent == whole
    assert "Accept-Encoding" in answer["Vary"]


def test_a_compressed_file_is_not_sent_again_while_it_is_the_same() -> None:
    first, _ = asked(**{"Accept-Encoding": "gzip"})
    assert not first.has_header("ETag")
    again, sent = asked(**{"Accept-Encoding": "gzip", "If-Modified-Since": first["Last-Modified"]})
    assert (again.status_code, sent) == (304, b"")
