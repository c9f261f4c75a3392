"""The catalogue of the release after this one, for processes that still run while the database is already as that
release makes it.

`CASINO_NEWER_RELEASE` names a tree of code, by default the one that the process was started from, in which a new
version may have been laid meanwhile. Its word counts as much as the program itself, which comes from there; the
database is not asked, because a person who changed it could also change what it says of itself. It counts only while
that tree promises to bear this version. Where anything is missing, or is another release than the next, nothing but the
own catalogue is accepted.
"""

import logging
from collections.abc import Mapping
from types import MappingProxyType

from django.conf import settings

import casino
from casino.core import release
from ledger import catalogue

log = logging.getLogger(__name__)

#: The files of a tree that declare the catalogue.
FILES = ("ledger/catalogue.txt", "casino/verification/catalogue.txt")
_NOTHING: Mapping[str, str] = MappingProxyType({})


def declared() -> Mapping[str, str]:
    """The digests by object that the release after this one declares; nothing where there is none that bears this
    version, or only this release itself. The files are read again each time: call it when something differs."""
    tree = settings.CASINO_NEWER_RELEASE
    try:
        found = release.of(tree)
        if found == release.own() or found.before != casino.__version__:
            return _NOTHING
        parts = [catalogue.declared_in(tree / file) for file in FILES]
    except (release.NoRelease, OSError, ValueError) as error:
        log.error("no newer release is accepted: %s", error)
        return _NOTHING
    return {name: digits for part in parts for name, digits in part.items()}
