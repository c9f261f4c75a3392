"""The languages of screens and files of reports: what is shown to people. Answers of the API are in English always.

English is the language of the sources: a text is its own key in the catalogues of `casino/locale`, beside a context
that says what kind of text it is. `casino/reference/messages.py` lists them; `make messages` writes the catalogues.
"""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from enum import StrEnum
from functools import cache
from gettext import GNUTranslations
from pathlib import Path
from zoneinfo import ZoneInfo

from django.utils.translation import get_language, override, pgettext

FOLDER = Path(__file__).resolve().parent.parent / "locale"
#: The language of the sources, and of the API.
ENGLISH = "en"
#: Languages by their codes (ISO 639-1), each with its own name.
NAMES: Mapping[str, str] = {ENGLISH: "English", "hu": "Magyar", "de": "Deutsch"}
#: Catalogues: texts of the server, and words of scripts.
DOMAIN, SCRIPTS = "django", "djangojs"

_MOMENTS = {ENGLISH: "%Y-%m-%d %H:%M:%S", "hu": "%Y. %m. %d. %H:%M:%S", "de": "%d.%m.%Y, %H:%M:%S"}
_MINUTES = {ENGLISH: "%m-%d %H:%M", "hu": "%m. %d. %H:%M", "de": "%d.%m. %H:%M"}
_DAYS = {ENGLISH: "{0}-{1}-{2}", "hu": "{0}. {1}. {2}.", "de": "{2}.{1}.{0}"}
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z", re.ASCII)


class Kind(StrEnum):
    """What kind of text a declaration has: the context of its message. Texts without one are those of pages."""

    OPERATION = "operation"
    TAG = "tag"
    FIELD = "field"
    HELP = "help"
    CODE = "code"
    ERROR = "error"
    PROBLEM = "problem"
    GAME = "game"
    VERB = "verb"
    PHASE = "phase"
    TABLE = "table"
    REPORT = "report"
    TERM = "term"


def said(kind: Kind | str, text: str) -> str:
    """A declared text in the language of the reader; in English, or where the catalogue does not have it, itself."""
    return pgettext(str(kind), text) if text else text


def word(code: str) -> str:
    """A code of a list of the house, or the name of a figure, in the language of the reader."""
    found = said(Kind.CODE, code)
    return said(Kind.FIELD, code) if found == code else found


def local(moment: datetime, zone: str, language: str = "") -> str:
    """A moment by the clocks of a time zone (IANA), to the second, as the language that is spoken, or this one, writes
    it; with its offset in the hour that comes twice when clocks are put back, in which card rooms are open."""
    there = moment.astimezone(ZoneInfo(zone))
    twice = there.utcoffset() != there.replace(fold=1 - there.fold).utcoffset()
    return there.strftime(_MOMENTS[language or spoken()]) + (there.isoformat()[-6:] if twice else "")


def minute(there: datetime) -> str:
    """A moment of a clock on the wall to the minute, without its year, as the language writes it."""
    return there.strftime(_MINUTES[spoken()])


def day(text: str) -> str:
    """A day (ISO 8601) as the language writes it; any other text as it is."""
    found = _DAY.match(text)
    return _DAYS[spoken()].format(*found.groups()) if found else text


def decimal_mark() -> str:
    """What stands before decimals in the language of the reader."""
    return "." if spoken() == ENGLISH else ","


def speaking(language: str) -> AbstractContextManager[object]:
    """Everything within is said in this language."""
    return override(language)


def spoken() -> str:
    """The language in which things are said now; English where it is none of ours."""
    found = (get_language() or ENGLISH).partition("-")[0]
    return found if found in NAMES else ENGLISH


@cache
def of_scripts(language: str) -> dict[str, str]:
    """The words of the scripts in a language, by the English ones; none for English, which the scripts have."""
    if language == ENGLISH:
        return {}
    with (FOLDER / language / "LC_MESSAGES" / f"{SCRIPTS}.mo").open("rb") as file:
        found = GNUTranslations(file)
    return {text: words for text, words in found._catalog.items() if text and isinstance(text, str)}  # type: ignore[attr-defined]
