"""Every address of the console has a picture, or a reason why not."""

from __future__ import annotations

from django.urls import resolve

from casino.console import urls
from tests.shots.screens import SHOTS, SHOWN

#: Addresses that are no screens of their own.
NO_SCREENS = {
    "": "leads to the desk of who is signed in",
    "sign-in/challenge": "an act of a screen",
    "sign-out": "an act", "theme": "an act", "language": "an act", "password": "stands in the way of a screen",
    "new-password": "stands in the way of a screen", "do/<path:address>": "an act of a screen",
    "live/<path:address>": "a stream", "tables/<slug:code>/part": "a part", "drawers/<slug:code>/part": "a part",
    "drawers/<slug:code>/lists": "a part", "drawers/<slug:code>/work": "a part",
    "drawers/<slug:code>/jobs/<slug:name>": "a part", "count/jobs/<slug:name>": "a part",
    "prints": "an act", "seat/prints": "an act", "prints/<int:number>/file": "a file",
    "seat/prints/<int:number>/file": "a file", "report-runs/<int:number>/files/<str:name>": "a file",
    "verify/<slug:digest>": "the screen of `verify` with a receipt",
    "seat/hands/<slug:name>": "the screen of `hands/<slug:name>` for a seat",
}  # fmt: skip


def test_every_screen_of_the_console_has_a_picture() -> None:
    shown = {_pattern(shot.path.partition("?")[0].format(event="ab" * 32)) for shot in SHOTS}
    every = {str(one.pattern) for one in urls.urls}
    assert shown <= every and NO_SCREENS.keys() <= every
    assert every - shown - NO_SCREENS.keys() == set()


def test_pictures_of_the_documents_are_some_of_them() -> None:
    names = [shot.name for shot in SHOTS]
    assert len(set(names)) == len(names) and set(SHOWN) <= set(names)


def _pattern(path: str) -> str:
    return resolve(f"/console/{path}").route.removeprefix("console/")
