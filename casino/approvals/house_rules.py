"""Setting the rules of the house: an administrator says them, and once the house is live another person approves them.
What guests have read before is never edited."""

from collections.abc import Mapping

from casino.audit.events.house import HouseRulesSet
from casino.core import locks, once_live, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import rules, stages
from casino.houses.models import House, HouseRules


def change(*, command: Command, texts: Mapping[str, str], reason: str) -> Answer:
    """Set the rules, whole, in each language that is named. Raises Conflict no_change or approval_required."""

    def changed(house: House, work: Work) -> Outcome:
        before = rules.newest(house)
        if before is not None and before.texts == dict(texts):
            raise Conflict("The rules of the house say this already.", code="no_change")
        once_live.require_approval(house, work, once_live.SETTINGS)
        number = 1 + (0 if before is None else before.number)
        HouseRules.objects.create(
            house=house, number=number, texts=dict(texts), set_by=command.context.staff.login, approval=command.approval
        )
        event = HouseRulesSet(number=number, texts=dict(texts), reason=reason)
        return Outcome(event, rules.describe(house), 201, version=number)

    return write.write(command, OfHouse(office=True, lock=locks.lock_places, knowing=(stages,)), changed)
