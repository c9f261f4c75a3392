"""Sensitive reads by management commands: recorded like those over HTTP, before anything is given."""

import time

from django.core.management.base import CommandError, OutputWrapper
from django.db import transaction

from casino.audit import selectors
from casino.audit.events.reads import DataRead
from casino.audit.refusals import log_refusals
from casino.audit.services import Actor, Receipt, record
from casino.core.errors import LogRefused
from casino.houses.models import House

#: Seconds.
PATIENCE = 3.0
UNRECORDED = "write no event where the house may not write any, because its log was rolled back; note it elsewhere"


def record_read(
    house: House, command: str, parameters: list[tuple[str, str]], *, unrecorded: bool, stderr: OutputWrapper
) -> Receipt | None:
    """Record that somebody at the server's command line reads a house's data; returns the event.

    A house that may write no event, as after a restore, is just when an auditor needs an export: with `unrecorded` it
    is let pass, and `stderr` says so. In a house that may write the event is always written. Raises CommandError.
    """
    event = DataRead(operation=command, subject=house.code, parameters=[list(pair) for pair in parameters] or None)
    try:
        with log_refusals(), transaction.atomic():
            return record(chain=house.chain, house=house, actor=Actor.operator(command), event=event)
    except LogRefused as error:
        if not unrecorded:
            raise CommandError(
                f"{error.detail} [{error.code}] This read cannot be recorded. With --unrecorded it is made anyway; "
                "then note by hand who read what."
            ) from error
        stderr.write(
            f"NOT RECORDED in the audit trail: {command} of {house.code} [{error.code}]. Note who read what.\n"
        )
        return None


def wait_until_signed(house: House, receipt: Receipt, stderr: OutputWrapper) -> None:
    """Let the sequencer sign an event, for about as long as it takes it when all is well."""
    until = time.monotonic() + PATIENCE
    while not selectors.is_signed(house, receipt):
        if time.monotonic() > until:
            stderr.write(
                f"After {PATIENCE:.0f} s no checkpoint covers the event of this export, {receipt.chain}#{receipt.seq}. "
                "Does the sequencer run? By later checkpoints the end of this export will look cut off.\n"
            )
            return
        time.sleep(0.1)
