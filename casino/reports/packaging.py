"""Makes the packages of closed gaming days, as messages of the outbox ask for them."""

from dataclasses import asdict

from casino.core import outbox
from casino.days import packages
from casino.houses.models import OutboxMessage
from casino.reports import package
from casino.reports.frame import as_of
from casino.reports.verifying import verification_from_mark


def work_off(message_id: int) -> str:
    """Make the package that an outbox message asks for, unless it is there; returns its SHA-256. Safe to call any
    number of times. The house is verified for it, as it is by then. Raises what making it raises."""
    message = OutboxMessage.objects.select_related("house").get(id=message_id)
    house, name = message.house, message.subject
    kept = packages.of_day(house, name)
    if kept is not None:
        outbox.done(message_id)
        return str(kept.sha256)
    known = as_of.checkpoint(house)
    made = package.make(house, name, None if known is None else asdict(known), verification_from_mark(house))
    return packages.keep(message_id, house, name, made)
