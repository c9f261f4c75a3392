"""May this house write? Only if its log continues what the checkpoints outside the database say.

`record` asks before every event, so nothing happens in a house whose database was rolled back. An answer that all is
well is kept for half a minute, and no longer than the database connection lives: a restored database means a new one,
but behind a pooler ours outlives it. A refusal is asked for again each time, so that a new epoch (`manage.py
open_epoch`) lets writes through at once.
"""

import uuid
from pathlib import Path
from time import monotonic

from django.db import DEFAULT_DB_ALIAS

from casino.audit import outside
from casino.audit.events.log import EpochOpened
from casino.audit.models import Epoch, Log, SignedCheckpoint
from casino.audit.proofs import Hashes, HashesMissing
from casino.core import sql
from casino.core.errors import LogDamaged, LogRefused, LogRolledBack, OutsideCheckpointMissing
from casino.houses.models import House

#: The one kind of event that a house may write whose log was rolled back: it is how writing starts over.
ALLOWED = frozenset({EpochOpened.KIND})

#: Seconds for which an answer that all is well is good; asking takes about 12 ms.
GOOD_FOR = 30.0

#: By house when it was last asked for with a good answer.
_trusted: dict[uuid.UUID, float] = {}


def require(house: House) -> None:
    """Refuse with a LogRefused (503) unless every folder's last checkpoint fits the database's log."""
    now, asked = monotonic(), _trusted.get(house.id)
    if asked is None or now - asked > GOOD_FOR:
        _trusted.pop(house.id, None)
        examine(house)
        _trusted[house.id] = now


def examine(house: House, using: str = DEFAULT_DB_ALIAS) -> None:
    """Compare files and database now. Raises a LogRefused that names both sides."""
    # Files first: the database is written first, so what a file says must be in a database that is read afterwards.
    endings = [(folder, outside.ending(folder, house)) for folder in outside.folders()]
    epoch = current_epoch(house, using)
    _require_signed(house, epoch, using)
    for folder, ending in endings:
        if ending is None or ending.checkpoint is None:
            _require_new(house, folder, epoch, using)
        else:
            _require_fit(house, ending, epoch, using)


def refusal(house: House) -> LogRefused | None:
    """Why this house writes nothing, None when it may; for reports."""
    try:
        require(house)
    except LogRefused as error:
        return error
    return None


def current_epoch(house: House, using: str = DEFAULT_DB_ALIAS) -> int:
    """The newest epoch of the house's log, 0 before the log was begun."""
    newest = Log.objects.using(using).filter(house=house).order_by("-epoch").values_list("epoch", flat=True).first()
    return newest or 0


def _require_signed(house: House, epoch: int, using: str) -> None:
    """The sequencer has not refused to sign the log. It asks on its own behalf to find out whether it still refuses."""
    refused = Log.objects.using(using).filter(house=house, epoch=epoch).exclude(refusal="").first()
    if refused is not None and using == DEFAULT_DB_ALIAS:
        raise LogDamaged(f"The sequencer does not sign the log: {refused.refusal} Restore the rows that were changed.")


def _require_new(house: House, folder: Path, epoch: int, using: str) -> None:
    """A folder without a checkpoint is right while the epoch has none, or the one that is just being written."""
    checkpoints = SignedCheckpoint.objects.using(using).filter(house=house, epoch=epoch)[:2].count()
    if checkpoints > 1:
        path = outside.notes_file(folder, house)
        raise OutsideCheckpointMissing(
            f"The log has checkpoints, but {path} has none. Restore the file from another folder or a copy, or let "
            f"two people open a new epoch (manage.py open_epoch {house.code}).",
            file=str(path),
        )


def _require_fit(house: House, ending: outside.Ending, epoch: int, using: str) -> None:
    (their_epoch, their_size), checkpoint = ending.place, ending.checkpoint
    assert checkpoint is not None  # noqa: S101 - callers have made sure
    sizes = dict(Log.objects.using(using).filter(house=house).values_list("epoch", "size"))
    if their_epoch < epoch and _given_up(house, their_epoch, their_size, checkpoint.root, using):
        return
    if (their_epoch, their_size) > (epoch, sizes.get(epoch, 0)) or their_size > sizes.get(their_epoch, 0):
        raise LogRolledBack(
            f"A checkpoint outside is of epoch {their_epoch} and size {their_size}; the database's log is of epoch "
            f"{epoch} and size {sizes.get(epoch, 0)}. Nothing is written until two people open a new epoch "
            f"(manage.py open_epoch {house.code}).",
            outside={"epoch": their_epoch, "size": their_size, "root": checkpoint.root.hex()},
            database={"epoch": epoch, "size": sizes.get(epoch, 0)},
        )
    try:
        root = Hashes(house.id, their_epoch, using).root(their_size)
    except HashesMissing as error:
        raise LogDamaged(f"The log cannot be compared with the checkpoint outside: {error}.") from error
    if root != checkpoint.root:
        raise LogRolledBack(
            f"At epoch {their_epoch} and size {their_size} the database's log differs from the checkpoint outside. "
            f"Nothing is written until two people open a new epoch (manage.py open_epoch {house.code}).",
            outside={"epoch": their_epoch, "size": their_size, "root": checkpoint.root.hex()},
            database={"epoch": epoch, "size": sizes.get(epoch, 0), "root": root.hex()},
        )


def _given_up(house: House, epoch: int, size: int, root: bytes, using: str) -> bool:
    """Whether two people have begun the next epoch with this checkpoint, or a later one, before them."""
    opened = Epoch.objects.using(using).filter(house=house, epoch__gt=epoch).order_by("epoch").first()
    if opened is None or opened.outside_epoch is None or opened.outside_size is None:
        return False
    if (opened.outside_epoch, opened.outside_size) == (epoch, size):
        return bytes(opened.outside_root or b"") == root
    return (opened.outside_epoch, opened.outside_size) > (epoch, size)


def forget() -> None:
    """Ask again about every house, as a new process would."""
    _trusted.clear()


sql.forget_with_each_connection(forget)
