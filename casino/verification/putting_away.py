"""Putting away: texts of events that archives have leave the database; bringing back puts them there again.

The rows keep their hashes, and an excerpt by which they are found: who did what, when, in which hand. Reads of whole
events, exports and verification take the texts from the archive. It is done in one transaction of the owner's.
"""

import os
from pathlib import Path

from django.db import transaction

from casino.audit import archives
from casino.audit.events.log import BroughtBack, PutAway
from casino.audit.models import Archive
from casino.audit.refusals import log_refusals, owner_needed
from casino.audit.services import Actor, record
from casino.core import sql
from casino.core.errors import Conflict, NotFound, ProofFailed
from casino.houses.models import House
from casino.verification.archiving import proved

#: Who puts away: the application may not.
ALIAS = "owner"
#: Events that are brought back together.
_PORTION = 1024
_PUT_AWAY = "SELECT audit_put_away(%s, %s)"
_BRING_BACK = "SELECT audit_bring_back(%s, %s, %s::bigint[], %s::text[])"
_AWAY = """
SELECT leaf.leaf_index, event.leaf_hash FROM audit_leaf leaf JOIN audit_event event ON event.id = leaf.event_id
WHERE leaf.house_id = %s AND leaf.epoch = %s AND leaf.leaf_index >= %s AND leaf.leaf_index < %s AND event.archive = %s
ORDER BY leaf.leaf_index
"""


def put_away(*, house: House, number: int, actor: Actor, approver: str, reason: str) -> int:
    """Take the texts of an archive out of the database; returns how many. It takes two people, which the caller checks.

    Raises NotFound, Conflict `no_change` where they are away, `archive_copies` where fewer than two folders have a copy
    that proves itself, Forbidden `owner_needed`, a LogRefused.
    """
    archive = _archive(house, number)
    # One folder that is named twice, or by a link, has one copy.
    places = {os.path.realpath(copy.folder) for copy in archives.copies(archive)}
    good = [place for place in sorted(places) if not proved(house, Path(place), archive.sha256).found]
    if len(good) < archives.LEAST_COPIES:
        raise Conflict(
            f"{len(good)} folders have a copy of archive {number} that proves itself, not {archives.LEAST_COPIES}.",
            code="archive_copies",
        )
    with owner_needed("Putting events away"), log_refusals(), transaction.atomic(using=ALIAS, durable=True):
        _turn(archive, is_put_away=True)
        [(count,)] = sql.rows(_PUT_AWAY, [house.id, number], ALIAS)
        event = PutAway(number=number, events=count, reason=reason, approver=approver)
        record(chain=f"log/{house.code}", house=house, actor=actor, event=event, using=ALIAS)
    return int(count)


def bring_back(*, house: House, number: int, actor: Actor, reason: str) -> int:
    """Put the texts of an archive into the database again; returns how many. Each has the hash that its row has.

    Raises NotFound, Conflict `no_change`, ArchiveUnreadable, Forbidden `owner_needed`, a LogRefused.
    """
    archive = _archive(house, number)
    copies = archives.Copies(archive)
    with owner_needed("Bringing events back"), log_refusals(), transaction.atomic(using=ALIAS, durable=True):
        _turn(archive, is_put_away=False)
        section = [house.id, archive.epoch, archive.first, archive.size, number]
        leaves = sql.rows(_AWAY, section, ALIAS)
        count = 0
        for start in range(0, len(leaves), _PORTION):
            found = dict(copies.of_leaves(dict(leaves[start : start + _PORTION])))
            texts = [text.decode() for text in found.values()]
            [(back,)] = sql.rows(_BRING_BACK, [house.id, number, list(found), texts], ALIAS)
            count += back
        if count != len(leaves):
            raise ProofFailed(f"{count} of {len(leaves)} events of archive {number} were brought back.")
        event = BroughtBack(number=number, events=count, reason=reason)
        record(chain=f"log/{house.code}", house=house, actor=actor, event=event, using=ALIAS)
    return count


def _archive(house: House, number: int) -> Archive:
    found = archives.of(house, number)
    if found is None:
        raise NotFound(f"{house.code} has no archive {number}.")
    return found


def _turn(archive: Archive, *, is_put_away: bool) -> None:
    """Say of an archive that its texts are away or not, and lock it by that. Raises Conflict `no_change`."""
    others = Archive.objects.using(ALIAS).filter(id=archive.id, is_put_away=not is_put_away)
    if not others.update(is_put_away=is_put_away):
        said = "put away" if is_put_away else "in the database"
        raise Conflict(f"The texts of archive {archive.number} are {said} already.", code="no_change")
