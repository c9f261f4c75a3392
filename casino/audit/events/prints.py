"""Paper: what was printed for whom, and which copy it is."""

from collections.abc import Mapping
from typing import Annotated

from casino.audit.events.fields import JsonObject
from casino.audit.events.registry import AuditEvent, event


@event("document.printed", chain="house")
class DocumentPrinted(AuditEvent):
    """A receipt, a statement or a slip was printed. Every printing is one more copy; the first is the original."""

    printout: Annotated[int, "number of the printout, from 1 by house"]
    document: Annotated[str, "what was printed, the same name for every copy of it"]
    copy: Annotated[int, "which printing of the document it is; 1 is the original"]
    form: Annotated[str, "`slip` of 80 mm, or `a4`"]
    language: Annotated[str, "language of its words, ISO 639-1"]
    about: Annotated[
        Mapping[str, str],
        "of an event its `chain` and `seq`, of a statement `from` and `until` where they were asked for, and "
        "`paper`: `winnings`, of a certificate of winnings; `player` where it is about one",
    ]
    as_of: Annotated[
        JsonObject | None, "of a statement: the moment up to which the original knows everything; absent otherwise"
    ] = None
    sums: Annotated[
        Mapping[str, int] | None,
        "of a statement: `opening`, `came`, `went` and `closing`, of a certificate `hands`, `won` and `lost`; minor "
        "units; absent otherwise",
    ] = None
