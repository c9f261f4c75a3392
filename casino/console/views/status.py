"""Whether everything runs: worker, beat, sequencer, database, settlement and log, in words."""

from collections.abc import Mapping

from django.http import HttpResponse
from django.urls import path
from django.utils.translation import gettext, gettext_noop

from casino.console import pages
from casino.console.pages import Screen
from casino.metrics.status import Condition, Part

#: What the condition of a part means for who is at work.
MEANING: Mapping[tuple[str, str], str] = {
    (Part.WORKER, Condition.IN_ORDER): gettext_noop("Hands are settled, reports are made."),
    (Part.WORKER, Condition.SILENT): gettext_noop("Hands can be played, but none is settled. Tell the technician."),
    (Part.BEAT, Condition.IN_ORDER): gettext_noop("Time to act runs out, holds end, checks are made."),
    (Part.BEAT, Condition.SILENT): gettext_noop("No time to act runs out, no check is made. Tell the technician."),
    (Part.SEQUENCER, Condition.IN_ORDER): gettext_noop("The audit log is signed."),
    (Part.SEQUENCER, Condition.SILENT): gettext_noop("The audit log is not signed; play goes on. Tell the technician."),
    (Part.SETTLEMENT, Condition.IN_ORDER): gettext_noop("No hand waits to be settled."),
    (Part.SETTLEMENT, Condition.STANDS_STILL): gettext_noop(
        "A hand is over and has not been settled for more than a minute. Its table waits."
    ),
    (Part.LOG, Condition.IN_ORDER): gettext_noop("Every event is in the log."),
    (Part.LOG, Condition.BEHIND): gettext_noop("Events have waited for the log for more than a minute."),
    (Part.LOG, Condition.READ_ONLY): gettext_noop(
        "The house writes nothing until two people have decided: log and checkpoints outside do not fit."
    ),
    (Part.DATABASE, Condition.IN_ORDER): gettext_noop("The database answers."),
    (Part.DATABASE, Condition.WAITS): gettext_noop("The database waits for its standby: no write is confirmed."),
    (Part.HINTS, Condition.IN_ORDER): gettext_noop("Consoles learn at once what has changed."),
    (Part.HINTS, Condition.SILENT): gettext_noop("Consoles ask every few seconds what has changed."),
}
_UNKNOWN = gettext_noop("The broker does not answer: nobody knows whether this part runs.")
#: Conditions in which play goes on.
_MILD = frozenset({(Part.HINTS, Condition.SILENT), (Part.SEQUENCER, Condition.SILENT), (Part.LOG, Condition.BEHIND)})


@pages.signed_in
def status(screen: Screen) -> HttpResponse:
    """Every part, those that need somebody first."""
    rows = [
        {**one, "level": _level(one["part"], one["condition"]), "text": _text(one["part"], one["condition"])}
        for one in screen.door.read("house/status")["parts"]
    ]
    rows.sort(key=lambda one: ("bad", "warn", "ok").index(one["level"]))
    live = "HX-Request" in screen.request.headers
    return screen.show("status_part" if live else "status", {"rows": rows, "worst": rows[0]["level"]})


def _text(part: str, condition: str) -> str:
    return gettext(MEANING.get((part, condition), _UNKNOWN))


def _level(part: str, condition: str) -> str:
    if condition == Condition.IN_ORDER:
        return "ok"
    return "warn" if (part, condition) in _MILD or condition == Condition.UNKNOWN else "bad"


urls = [path("status", status)]
