"""Acting in a sandbox copy as its people do: the same services as over HTTP, each with a command of a person at a
terminal, and approvals that another person decides."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from casino.approvals import services as approvals
from casino.core import canonical
from casino.core.commands import Answer, Asked, Command, RequestContext
from casino.core.errors import Conflict
from casino.golive.copying import Copy
from casino.staff.models import Role, TerminalKind

#: What the requests of a rehearsal are called in the audit trail.
REQUEST = "rehearsal"


@dataclass(frozen=True, slots=True)
class Cast:
    """The people of a sandbox copy at its terminals."""

    copy: Copy
    #: Called before every act; what it raises ends the evening.
    before: Callable[[], None] = lambda: None

    def at(self, role: Role, kind: TerminalKind = TerminalKind.OFFICE, place: str = "") -> RequestContext:
        """Somebody of this role at a place. Raises Conflict house_not_ready where nobody has it."""
        people = self.copy.people.get(role)
        if not people:
            raise Conflict(f"Nobody has the role {role}.", code="house_not_ready", missing=["people"])
        return RequestContext(
            house=self.copy.house, staff=people[0], role=role, terminal=self.copy.terminals[kind, place],
            request_id=REQUEST,
        )  # fmt: skip

    def write(
        self, context: RequestContext, service: Callable[[Command], Answer], asked: Asked | None = None
    ) -> Answer:
        """Carry out a write; what waits for a second person is approved by one, and sent again."""
        self.before()
        command = command_of(context, asked)
        try:
            return service(command)
        except Conflict as held:
            if held.code != "approval_required":
                raise
            approval = held.extra["approval"]
            number, roles, every_role = approval["approval"], approval["roles"], approval["every_role"]
        for role in roles if every_role else roles[:1]:
            approvals.approve(command=command_of(self.at(Role(role))), number=number, given=None)
        return service(replace(command, approval=number))


def command_of(context: RequestContext, asked: Asked | None = None) -> Command:
    """A command with a key of its own, as a request for it would be."""
    request = {} if asked is None else {"method": "POST", "path": asked.path, "body": asked.body}
    return Command(
        context=context, key=str(uuid.uuid4()), request_hash=canonical.sha256(request), expected_version=None,
        asked=asked,
    )  # fmt: skip
