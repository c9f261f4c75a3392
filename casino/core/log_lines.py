"""Lines of the server's log: what they are about, and how they are written.

A request, a task or a command says what it is about (`begin`, `note`); every line that is logged meanwhile has it. A
line is plain text, or one object of JSON (`CASINO_LOG_FORMAT`). Neither has a name, a token or a password: nothing
notes one, and what looks like one in a message is hidden.
"""

import json
import logging
import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

#: What lines can be about, in the order in which they have it.
FIELDS = ("request", "house", "table", "operation", "task", "message_id")
#: What one line can say besides, where it is logged with `extra`.
EXTRA = ("method", "status", "ms")
#: The logger of requests: one line for each that was answered.
REQUESTS = "casino.requests"
#: The header of a task's message that names the request which the task follows.
HEADER = "cukassza_request"
#: What is never shown: the token or key of a header, and the password of an address.
_HEADER = re.compile(r"\b(Bearer|Seat|Basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
#: What ends a line, or moves the cursor of a screen that shows it.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ADDRESS = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s:/@]*):[^\s@/]+@", re.IGNORECASE)

_NOTHING: Mapping[str, str] = MappingProxyType({})
_about: ContextVar[Mapping[str, str]] = ContextVar("casino_log_about", default=_NOTHING)


def begin(**fields: str) -> None:
    """From now on, lines of this thread are about this alone."""
    _about.set(fields)


def note(**fields: str) -> None:
    """Lines of this thread are about this as well, until the next `begin`."""
    _about.set({**_about.get(), **fields})


def about() -> Mapping[str, str]:
    """What lines of this thread are about."""
    return _about.get()


def hidden(text: str) -> str:
    """The same text without tokens of headers and passwords of addresses."""
    return _ADDRESS.sub(r"\1:***@", _HEADER.sub(r"\1 ***", text))


class Context(logging.Filter):
    """Gives each record what it is about, when it is logged: the thread that writes it may be another one."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        if not hasattr(record, "about"):
            record.about = about()
        return True


class Text(logging.Formatter):
    """Time, level, logger, message, and the request or the message of the outbox in brackets."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line, and one line alone: a message with another one in it shows where that begins."""
        record.message = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], record.message)
        found = getattr(record, "about", {})
        about = [f"{name}={found[name]}" for name in ("request", "message_id") if name in found]
        return super().formatMessage(record) + (f" [{' '.join(about)}]" if about else "")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with its trace."""
        return hidden(super().format(record))


class JsonLines(logging.Formatter):
    """One object of JSON a line: `time` (UTC), `level`, `logger`, `message`, what it is about, `trace` of an error."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname, "logger": record.name, "message": hidden(record.getMessage()),
        }  # fmt: skip
        found = getattr(record, "about", {})
        line |= {name: found[name] for name in FIELDS if name in found}
        line |= {name: getattr(record, name) for name in EXTRA if hasattr(record, name)}
        if record.exc_info:
            line["trace"] = hidden(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


FORMATS: dict[str, type[logging.Formatter]] = {"text": Text, "json": JsonLines}


def configuration(form: str, level: str) -> dict[str, Any]:
    """`LOGGING` of the settings: everything to stderr in this form. Requests have lines of their own in JSON only."""
    request_level = level if form == "json" else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"context": {"()": Context}},
        "formatters": {"line": {"()": FORMATS[form]}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["context"]}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # It logs every sign-in with everything masked; the audit trail records the person.
            "axes": {"level": "WARNING"},
            # It would complain each second of a collector that is away; `casino.core.spans` does so once.
            "opentelemetry": {"level": "CRITICAL"},
            REQUESTS: {"level": request_level},
            # It names the address of what is not found, which may be anything; `REQUESTS` has a line for it.
            "django.request": {"level": "ERROR"},
            # They have handlers of their own; every line of a process is to have one form.
            "gunicorn.error": {"handlers": [], "propagate": True, "level": "INFO"},
            "django.server": {"handlers": [], "propagate": True, "level": "INFO"},
        },
    }
