"""The signed go-live: an administrator, an auditor and a manager each sign what the house is, as one digest, and with
the third signature the house is live in the same transaction."""

from casino.audit.events import AuditEvent
from casino.audit.events.house import GoLiveSigned, HouseWentLive
from casino.core import canonical, locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.golive.stages import require_stage, to_stage
from casino.houses.models import GoLiveSignature, House, HouseStage
from casino.reports import configuration, readiness, signatures
from casino.staff import independence
from casino.staff.models import Staff

#: Items of the checklist that come after going live, or with it; and what a house can do without.
_NOT_NEEDED = ("day", "signatures", "largest_trades")


def sign(*, command: Command, digest: str) -> Answer:
    """Sign that the house is ready, under the digest that the checklist shows. A signature under another digest is void
    when this one is given.

    Raises Conflict house_wrong_stage, house_not_ready with what is missing, house_changed for another digest than that
    of now, signed_already for a role that has signed; Forbidden four_eyes for a person who has signed in another role,
    or is not independent of one who has.
    """

    def change(house: House, work: Work) -> Outcome:
        require_stage(house, HouseStage.FOUNDING)
        _require_ready(house)
        signed = configuration.to_sign(house)
        now = canonical.sha256(signed)
        if digest != now:
            raise Conflict(
                "The house is not as it was when you read the checklist. Read it again.", code="house_changed",
                digest=now,
            )  # fmt: skip
        before = signatures.standing(house)
        holding = [one for one in before if one.digest == digest]
        _require_first(command, holding)
        role, login = str(command.context.role), command.context.staff.login
        number = 1 + (before[-1].number if before else 0)
        work.insert(GoLiveSignature(house=house, number=number, role=role, digest=digest, signed_by=login))
        signers = {one.role: one.signed_by for one in holding} | {role: login}
        missing = [str(one) for one in signatures.SIGNERS if one not in signers]
        void = sorted(one.role for one in before if one.digest != digest)
        given = GoLiveSigned(signature=number, role=role, digest=digest, void=void or None)
        event: AuditEvent = given if missing else _went_live(house, work, given, signers, signed)
        body = {"stage": _stage(missing), "digest": digest, "signers": signers, "missing": missing, "void": void}
        return Outcome(event, body, 201, version=number)

    return write.write(command, OfHouse(lock=locks.lock_places, office=True), change)


def _stage(missing: list[str]) -> str:
    return str(HouseStage.FOUNDING if missing else HouseStage.LIVE)


def _went_live(
    house: House, work: Work, third: GoLiveSigned, signers: dict[str, str], signed: dict[str, object]
) -> HouseWentLive:
    rehearsal = configuration.passed(house)
    if rehearsal is None:
        raise AssertionError("a house that is ready has passed a rehearsal")
    to_stage(house, work, HouseStage.LIVE)
    return HouseWentLive(
        signature=third.signature, role=third.role, digest=third.digest, signers=signers, rehearsal=rehearsal.number,
        signed=signed,
    )  # fmt: skip


def _require_ready(house: House) -> None:
    missing = [item.code for item in readiness.checklist(house, but=_NOT_NEEDED) if item.missing]
    if missing:
        raise Conflict(f"The house is not ready: {', '.join(missing)}.", code="house_not_ready", missing=missing)


def _require_first(command: Command, holding: list[GoLiveSignature]) -> None:
    role = command.context.role
    if any(one.role == role for one in holding):
        raise Conflict(f"The role {role} has signed this already.", code="signed_already")
    signers = Staff.objects.filter(house=command.context.house, login__in=[one.signed_by for one in holding])
    independence.require_another(command.context.staff, "have signed in another role", signers.order_by("login"))
