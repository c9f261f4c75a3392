"""Approvals, for who asked and for who decides, and the control points of the house."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    Amount,
    Reading,
    ReadOperation,
    Reason,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    WriteOperation,
    context_of,
    documented,
    signed_in,
)
from casino.api.http.shapes import Shaped
from casino.api.parts import login_of, minor_units
from casino.api.passkey_parts import PasskeyAnswer, PasskeyAsked, assertion_in
from casino.api.tables import ReceiptOut
from casino.approvals import control_points, selectors, services
from casino.approvals.models import Approval, ApprovalKind, ApprovalState
from casino.core.commands import Answer, Command
from casino.core.errors import NotFound
from casino.houses.control_points import AMOUNTS, BOUNDS, NAMES
from casino.staff.decisions import WithCode
from casino.staff.models import Role

TAG = "approvals"
#: Who may have to ask, and who may have to decide.
ASK = (
    Role.DEALER, Role.FLOOR, Role.CASHIER, Role.CAGE_SUPERVISOR, Role.COMPLIANCE, Role.MANAGER, Role.ADMIN,
)  # fmt: skip
DECIDE = (Role.CAGE_SUPERVISOR, Role.COMPLIANCE, Role.MANAGER, Role.AUDITOR)
EITHER = tuple(dict.fromkeys((*DECIDE, *ASK)))
#: Refusals of a decision: of the person, and of the approval.
_NOT_BY = (
    "four_eyes", "code_required", "code_refused", "passkey_refused", "passkey_challenge_refused", "passkey_cloned",
    "too_many_attempts",
)  # fmt: skip
_PASSKEY = "Instead of the code: what a passkey has answered to a challenge for this decision."
_DECIDED = tuple(f"approval_{state}" for state in ApprovalState if state != ApprovalState.REQUESTED)
_WORD_OR_NUMBER = {"oneOf": [{"type": "string"}, {"type": "integer", "format": "int64"}]}
#: Members of the requests that are kept.
_BODY = {
    "type": "object",
    "additionalProperties": {
        "oneOf": [
            {"type": "string"},
            {"type": "integer", "format": "int64"},
            {"type": "object", "additionalProperties": {"type": "integer", "format": "int64"}},
            {
                "type": "array",
                "items": {
                    "oneOf": [
                        *_WORD_OR_NUMBER["oneOf"],
                        {"type": "object", "additionalProperties": _WORD_OR_NUMBER},
                    ]
                },
            },
        ]
    },
}


class AssentOut(serializers.Serializer[Any]):
    """What one person has approved of a request that a person of every role must approve."""

    role = serializers.ChoiceField(choices=Role.choices, help_text="The role for which the person approved.")
    given_by = login_of("approved")
    given_at = serializers.DateTimeField(help_text="When the person approved.")
    terminal = serializers.CharField(help_text="Where the person approved.")


class ApprovalOut(serializers.Serializer[Any]):
    """An approval with the whole request that it is for."""

    approval = serializers.IntegerField(help_text="Number of the approval in its house, from 1 without gaps.")
    kind = serializers.ChoiceField(choices=ApprovalKind.choices, help_text="What needs a second person.")
    state = serializers.ChoiceField(choices=ApprovalState.choices)
    operation = serializers.CharField(help_text="Operation of this API.")
    path = serializers.CharField(help_text="Address of the request.")
    body = Shaped(_BODY, help_text="Body of the request, in full.")
    request_hash = serializers.CharField(help_text="SHA-256 of method, address and body, hexadecimal.")
    amount = minor_units("What the control point looked at; null where it looks at no amount", allow_null=True)
    replay = serializers.CharField(
        allow_null=True, help_text="Address below `/api/v1/` of the hand that is to be voided; null for all else."
    )
    roles = serializers.ListField(
        child=serializers.ChoiceField(choices=Role.choices), help_text="Who decides has one of these roles."
    )
    every_role = serializers.BooleanField(
        help_text="True where a person of each of these roles must approve, all different; otherwise one is enough."
    )
    assents = AssentOut(many=True, help_text="Where every role must: who has approved, in that order; otherwise empty.")
    waits_for = serializers.ListField(
        child=serializers.ChoiceField(choices=Role.choices),
        help_text="Where every role must: those that have not approved yet; otherwise empty.",
    )
    requested_by = login_of("sent the request")
    requested_at = serializers.DateTimeField(help_text="When the request was refused, and stored to be decided.")
    terminal = serializers.CharField(help_text="Terminal of the request.")
    expires_at = serializers.DateTimeField(help_text="Until when it can be decided and used.")
    decided_by = login_of("approved, as the last, or refused; null before that", allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True, help_text="When it was approved or refused.")
    decided_terminal = serializers.CharField(allow_null=True, help_text="Where it was approved or refused.")
    reason = serializers.CharField(allow_blank=True, help_text="Why it was refused; empty otherwise.")
    ended_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was used or withdrawn, or marked as expired; null before that."
    )


class ApprovalChanged(ApprovalOut):
    """An approval as it is now, and the receipt of the event."""

    audit = ReceiptOut()


@documented("listApprovals", summary="List approvals", tag=TAG)
class ApprovalList(CursorList):
    """Approvals: one's own requests, and those that one's roles may decide; managers and auditors see all. `from` and
    `until` select by the time of the request. One that has run out is `expired` only once that is recorded, within a
    minute; `state` in the row is that of now."""

    sensitive = False

    @extend_schema_serializer(component_name="ApprovalListRow")
    class Row(ApprovalOut):
        """An approval in a list."""

        def to_representation(self, instance: Approval) -> dict[str, Any]:
            """As it is read by itself."""
            return selectors.describe(instance)

    roles = EITHER
    model = Approval
    serializer_class = Row
    filters = {
        "state": "state", "kind": "kind", "requested_by": "requested_by__login", "decided_by": "decided_by__login",
        "role": "roles__contains",
    }  # fmt: skip
    choices = {"state": ApprovalState.values, "kind": ApprovalKind.values, "role": Role.values}
    time = "requested_at"

    def rows(self) -> Any:
        """Those that concern the person."""
        return selectors.seen_by(signed_in(self.request)[0])

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """A role is one of those that may decide."""
        return {self.filters[name]: [value]} if name == "role" else super().lookup(name, value)


@documented("readApproval", summary="Read an approval", answers=ApprovalOut, tag=TAG, refuses=["not_found"])
class ApprovalDetail(ReadOperation):
    """An approval with the whole request that it is for."""

    sensitive = False
    roles = EITHER

    def get(self, request: Request, approval: int) -> Response:
        """The approval."""
        found = selectors.seen_by(signed_in(request)[0]).filter(number=approval).first()
        if found is None:
            raise NotFound(f"There is no approval {approval} that concerns you.")
        return Response(selectors.describe(found))


class _Decision(WriteOperation):
    """At any terminal of the house, with a code or passkey of the second factor where the house asks for one."""

    roles = DECIDE
    versioned = False
    redact_fields = frozenset({"code", "passkey"})

    def given(self, data: dict[str, Any]) -> WithCode:
        """What was sent to show who decides."""
        asked_for = bool(getattr(self.request, "second_factor", False))
        actor = context_of(self.request).actor
        return WithCode(data.get("code", ""), asked_for, self.request._request, assertion_in(data), actor)


class _Code(StrictPattern):
    """A code of the second factor."""

    def __init__(self) -> None:
        meaning = "The code that the app shows now; due where the house asks for a second factor."
        super().__init__(r"^[0-9]{6}\Z", required=False, help_text=meaning)


@documented("approve", summary="Approve a request", answers=ApprovalChanged, tag=TAG, refuses=[*_NOT_BY, *_DECIDED])
class Approve(_Decision):
    """Approve what another person asked for. Refused for the person who asked, whose own entry it changes, who hired
    that person or was hired by them, and for anybody who may know the passwords of both (`four_eyes`). Where a person
    of every role must approve (`every_role`), this is for the first of one's roles that has not (`waits_for`), once for
    each person, who depends on none of those before (`four_eyes`); it is approved with the last. Where the house
    asks for a second factor this takes a new code, or a passkey that has signed a challenge for this very decision
    (`approvals/N/challenge`), otherwise `code_required`; a wrong one, or one that was used, counts as a failed sign-in
    (`code_refused`, `passkey_refused`, `passkey_challenge_refused`, `passkey_cloned`)."""

    @extend_schema_serializer(component_name="ApproveInput")
    class Input(StrictInput):
        """The code or the passkey, where one is due."""

        code = _Code()
        passkey = PasskeyAnswer(required=False, help_text=_PASSKEY)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Approve."""
        return services.approve(command=command, number=path["approval"], given=self.given(data))


@documented(
    "refuseApproval", summary="Refuse a request", answers=ApprovalChanged, tag=TAG, refuses=[*_NOT_BY, *_DECIDED]
)
class Refuse(_Decision):
    """Refuse what another person asked for, with a reason: one no is enough where every role must approve, until all
    have. Refused as an approval is (`four_eyes`), and takes a code or a passkey as an approval does."""

    @extend_schema_serializer(component_name="RefuseApprovalInput")
    class Input(StrictInput):
        """Why, and the code or the passkey, where one is due."""

        reason = Reason()
        code = _Code()
        passkey = PasskeyAnswer(required=False, help_text=_PASSKEY)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Refuse."""
        return services.refuse(command=command, number=path["approval"], given=self.given(data), reason=data["reason"])


@documented(
    "challengeForApproval", summary="Ask for a challenge for a decision", answers=PasskeyAsked, status=201, tag=TAG,
    refuses=["not_found"],
)  # fmt: skip
class Challenge(ReadOperation):
    """A challenge that one of one's passkeys signs for one decision on this approval: for exactly its request, once,
    for two minutes, at this terminal. It is for `navigator.credentials.get`; the answer goes with `approve` or
    `refuse`."""

    @extend_schema_serializer(component_name="ChallengeForApprovalInput")
    class Input(StrictInput):
        """What is to be decided."""

        decision = StrictChoice(choices=["approve", "refuse"], help_text="The decision that it is for.")

    #: There is nothing to read here.
    sensitive = False
    roles = DECIDE
    input = Input

    def post(self, request: Request, approval: int) -> Response:
        """Make one."""
        given = self.Input(data=request.data)
        given.is_valid(raise_exception=True)
        person, token = signed_in(request)
        asked = services.passkey_challenge(
            staff=person, terminal=token.terminal, number=approval, decision=given.validated_data["decision"],
            request=request._request,
        )  # fmt: skip
        return Response(asked, status=201)


@documented(
    "withdrawApproval", summary="Withdraw a request", answers=ApprovalChanged, tag=TAG,
    refuses=[code for code in _DECIDED if code != "approval_approved"],
)  # fmt: skip
class Withdraw(WriteOperation):
    """Withdraw what one asked for oneself, before it is used."""

    roles = ASK
    versioned = False

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Withdraw."""
        return services.withdraw(command=command, number=path["approval"])


# --- Control points -------------------------------------------------------------------------------------------------


class PointsByName(serializers.Serializer[Any]):
    """Every control point by its name, in minor units."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """One for each."""
        return {
            name: minor_units(meaning) if name in AMOUNTS else serializers.IntegerField(help_text=f"{meaning}.")
            for name, meaning in _MEANINGS.items()
        }


#: What each control point says.
_MEANINGS = {
    "float_by_manager_above": "A float or replenishment above this needs a manager's signature",
    "float_most": "A float or replenishment above this is refused",
    "skim_above": "Cash of a drawer above this asks for a skim",
    "no_buy_in_above": "Cash of a drawer above this refuses buy-ins",
    "identity_from": "A buy-in or cash-out from this on needs a player of whom it is recorded who it is",
    "log_floor": "Cash from this on is in the log of transactions",
    "exchange_by_supervisor_from": "A buy-in or cash-out from this on needs a cage supervisor",
    "exchange_by_manager_from": "A buy-in or cash-out from this on needs a manager and compliance",
    "difference_accepted": "A drawer's difference is accepted up to this",
    "difference_by_manager_above": "A drawer's difference above this is signed by a manager",
    "transfer_approved_from": "A fill or credit from this on needs a second approval",
    "void_by_manager_above": "A void of a hand with a pot above this needs a manager",
    "opener_required_above": "A table whose tray is worth more opens only with a confirmed opener",
    "bonus_approved_from": "A bonus for a 41 from this on waits for an approval",
    "difference_alarm_from": "A person's difference in one count from this on is an alarm",
    "tray_difference_alarm_from": "A tray's difference from this on is an alarm",
    "tray_difference_reported_from": "A tray's difference from this on is reported to the authority",
    "idle_minutes_at_tables": "Minutes without a request after which a table's terminal asks for the password",
    "idle_minutes_at_drawers": "Minutes without a request after which a drawer's terminal asks for the password",
    "idle_minutes_in_office": "Minutes without a request after which an office terminal asks for the password",
    "pin_tries": "Wrong PINs in a row after which only the password wakes a table's terminal; 0: no PIN does",
    "second_factor_required": "1 where people with privileged roles act with a second factor only, otherwise 0",
    "approval_minutes_at_tables": "Minutes for which an approval asked for at a table can be decided and used",
    "approval_minutes_at_drawers": "Minutes for which an approval asked for at a drawer can be decided and used",
    "approval_minutes_in_office": "Minutes for which an approval asked for in the office can be decided and used",
    "transfer_late_minutes": "Minutes after which a transfer under way is late",
    "transfer_exception_minutes": "Minutes after which a transfer under way is an exception, and an alarm",
    "dispute_minutes": "Minutes after which a disputed hand is an alarm",
    "drawer_close_minutes": "Minutes after which a counted drawer that is not closed is an alarm",
    "bag_bank_days": "Bank days after which a bag in transit is an alarm",
    "set_aside_days": "Days after which chips that are set aside are an alarm",
    "uncounted_box_days": "A box that was not counted when so many gaming days have ended is an alarm",
    "uncounted_vault_days": "A vault that was not counted for so many whole gaming days is an alarm",
    "alarm_days": "Over how many days differences and approvals are looked at",
    "differences_of_one_sign": "So many differences of a person, all short or all over, are an alarm",
    "reverse_pair_percent": "Two people who give each other more than this part (percent) of their approvals are an "
    "alarm",
    "reverse_pair_least": "As long as two people have given each other fewer approvals, they are no alarm",
    "linked_hours": "What a person has paid in so many hours is added up for the thresholds; 0: not looked at",
    "linked_days": "The same in so many days",
    "linked_long_days": "The same in so many days, over a longer time",
    "closer_required": "1 where a table closes only with a closer counted, otherwise 0",
    "box_change_count_required": "1 where a box is taken off a table only with a count of its tray, otherwise 0",
    "admission_required": "1 where a player is seated and sold chips only once admitted on the gaming day, otherwise 0",
    "reality_check_hours": "Hours on seats after which, and again after as many more, the house says so; 0: never",
    "complaint_answer_days": "Days after which a complaint must be answered",
    "remittance_days": "Days after a settlement within which winnings kept from a minor are to be remitted",
    "retain_books_days": "Days for which books and packages of gaming days are kept",
    "retain_laundering_days": "Days for which what the rules on money laundering ask for is kept, and who players are",
    "retain_operations_days": "Days for which records of operations are kept",
    "retain_transient_days": "Days for which files are kept that can be made again",
    "retain_answers_days": "Days for which the answer to a request is kept; then its Idempotency-Key is a new one",
    "small_house": "1 where one person may be both floor and cage supervisor, in a house of at most 3 tables; else 0",
}
if tuple(_MEANINGS) != NAMES:
    raise AssertionError("every control point has a meaning")


class ControlPointsFrom(serializers.Serializer[Any]):
    """Control points from a moment on."""

    number = serializers.IntegerField(help_text="Number of these control points, from 1; 0: the defaults.")
    valid_from = serializers.DateTimeField(allow_null=True, help_text="From when on; null: from the beginning.")
    points = PointsByName(help_text="Every control point.")
    set_by = serializers.CharField(allow_blank=True, help_text="Login of the person who proposed them.")
    set_at = serializers.DateTimeField(allow_null=True, help_text="When they were set.")
    approval = serializers.IntegerField(
        allow_null=True, help_text="Number of the approval; null for those of the founding."
    )


class ControlPointsOut(serializers.Serializer[Any]):
    """What the house demands: now, later, and before."""

    in_force = ControlPointsFrom(help_text="What is in force now.")
    to_come = ControlPointsFrom(many=True, help_text="What will be in force, the next first.")
    history = ControlPointsFrom(many=True, help_text="What was set before, the newest first.")


class ControlPointsChanged(ControlPointsOut):
    """The control points, and the receipt of the change."""

    audit = ReceiptOut()


@documented("readLimits", summary="Read the control points", answers=ControlPointsOut, tag=TAG, method="get")
@documented(
    "changeLimits",
    summary="Change the control points",
    answers=ControlPointsChanged,
    status=201,
    tag=TAG,
    method="post",
    refuses=["limits_in_the_past", "too_many_tables"],
)
class ControlPoints(WriteOperation, Reading):
    """Amounts from which a second person is needed, and what sign-ins take. An administrator proposes, a manager or an
    auditor approves; the control points that are not named stay. They begin at once or at a moment to come
    (`limits_in_the_past`); what was in force before stays known. An auditor approves `small_house`, which a house of
    more than three tables cannot have (`too_many_tables`), and which does not count while it has more. No If-Match:
    nothing is edited."""

    @extend_schema_serializer(component_name="ChangeLimitsInput")
    class Input(StrictInput):
        """The control points that change, from when on, and why."""

        @extend_schema_serializer(component_name="ControlPointsInput")
        class Points(StrictInput):
            """Control points; amounts in minor units, 0: always. One at least."""

            def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
                """One for each."""
                return {
                    name: Amount(min_value=0, required=False, help_text=f"{meaning}, in minor units.")
                    if name in AMOUNTS
                    else StrictInteger(
                        min_value=BOUNDS[name][0], max_value=BOUNDS[name][1], required=False, help_text=f"{meaning}."
                    )
                    for name, meaning in _MEANINGS.items()
                }

            def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
                """One at least."""
                if not attrs:
                    raise serializers.ValidationError("Name a control point.")
                return attrs

        points = Points(help_text="The control points that change.")
        valid_from = serializers.DateTimeField(
            required=False, help_text="From when on, with its time zone; at once where it is left out."
        )
        reason = Reason()

    roles = (Role.ADMIN,)
    readers = EITHER
    sensitive = False
    versioned = False
    approvable = True
    input = Input

    def get(self, request: Request) -> Response:
        """The control points."""
        return Response(selectors.limits(context_of(request).house))

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return control_points.change(
            command=command, points=data["points"], valid_from=data.get("valid_from"), reason=data["reason"]
        )


urls = [
    path("approvals", ApprovalList.as_view()),
    path("approvals/<int:approval>", ApprovalDetail.as_view()),
    path("approvals/<int:approval>/approve", Approve.as_view()),
    path("approvals/<int:approval>/challenge", Challenge.as_view()),
    path("approvals/<int:approval>/refuse", Refuse.as_view()),
    path("approvals/<int:approval>/withdraw", Withdraw.as_view()),
    path("limits", ControlPoints.as_view()),
]
