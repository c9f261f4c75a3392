"""A person's sessions: one token at each terminal where the person is signed in. The person sees and ends them, and
some events end others. What ends one leaves its row, so that a later request with its token is recognised."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone
from knox.models import get_digest_token
from knox.settings import CONSTANTS

from casino.audit.events.staff import SessionsEnded
from casino.core import locks, write
from casino.core.canonical import fingerprint
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Staff, TerminalToken


def name_of(token: TerminalToken) -> str:
    """What the trail calls a token: SHA-256 of its stored digest, 64 hex digits."""
    return fingerprint(token.digest)


def of_person(person: Staff) -> Sequence[TerminalToken]:
    """The sessions of a person that have not ended, each with its terminal, the oldest first."""
    live = TerminalToken.objects.filter(user=person, expiry__gt=timezone.now(), terminal__revoked_at=None)
    return list(live.select_related("terminal").order_by("created"))


def end(keep: TerminalToken | None = None, **whose: Any) -> int:
    """End tokens, in the caller's transaction, which records why; returns how many had not ended yet."""
    now = timezone.now()
    found = TerminalToken.objects.filter(**whose, expiry__gt=now)
    return (found.exclude(pk=keep.pk) if keep else found).update(expiry=now)


def end_own(*, command: Command, token: TerminalToken, session: str | None) -> Answer:
    """End one session of one's own (`session`: what the trail calls its token), or with None all but that of `token`.
    Raises NotFound, Conflict own_session, no_change."""
    me = command.context.staff

    def change(house: House, work: Work) -> Outcome:
        staff = locks.lock(Staff, locks.Rank.STAFF, house=house, login=me.login)
        kept = name_of(token)
        if session is None:
            ended = end(keep=token, user=staff)
        elif session == kept:
            raise Conflict("This is the session that you ask from: sign out of it.", code="own_session")
        else:
            ended = end(user=staff, digest__in=_named(staff, session))
        if not ended:
            raise Conflict(f"{staff.login} is signed in nowhere else.", code="no_change")
        event = SessionsEnded(kept_token_sha256=kept, token_sha256=session, ended_session_count=ended)
        return Outcome(event, {"ended_session_count": ended}, version=staff.version)

    return write.write(command, OfHouse(lock=locks.lock_roster), change)


@dataclass(frozen=True, slots=True)
class Renewed:
    """A session after its person has given a proof of identity again: its new token, which is shown once, what the
    trail calls it, and when the session ends."""

    token: str = field(repr=False)
    name: str
    expires_at: datetime


def renew(token: TerminalToken) -> Renewed | None:
    """Give a session another token, in the caller's transaction, which records it and has locked the person's row: the
    old one counts no more, and the session ends when it would have ended. None where it has ended."""
    digest, text = get_digest_token("")
    live = TerminalToken.objects.filter(digest=token.digest, expiry__gt=timezone.now())
    fresh = {"digest": digest, "token_key": text[: CONSTANTS.TOKEN_KEY_LENGTH]}
    if token.expiry is None or not live.update(**fresh, last_seen_at=ClockTimestamp(), pin_failures=0):
        return None
    return Renewed(text, fingerprint(digest), token.expiry)


def _named(staff: Staff, session: str) -> list[str]:
    """The digest of a session of a person. Raises NotFound."""
    found = [one.digest for one in of_person(staff) if name_of(one) == session]
    if not found:
        raise NotFound("You have no such session.")
    return found
