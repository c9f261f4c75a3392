"""The house as every client needs to know it: how to write its amounts and its times."""

import re
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import (
    OVERSIGHT,
    READERS,
    Reading,
    ReadOperation,
    Reason,
    ReasonInput,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.tables import ReceiptOut
from casino.approvals import house_rules
from casino.approvals import identity as changing
from casino.chips import selectors as chips
from casino.core.commands import Answer, Command
from casino.core.errors import NotFound
from casino.golive import sandboxes, signing, stages
from casino.houses import rules as house_text
from casino.houses.identity import LegalProfile
from casino.houses.identity import describe as identity_of
from casino.houses.models import HouseStage
from casino.reports import readiness, signatures
from casino.staff.models import Role

TAG = "house"
#: Version of the API; a change that breaks clients makes another one, at another address.
API_VERSION = "1"
_LANGUAGE, _MOST_LANGUAGES = re.compile(r"[a-z]{2}\Z", re.ASCII), 10


class HouseOut(serializers.Serializer[Any]):
    """A house."""

    house = serializers.CharField()
    name = serializers.CharField(help_text="Name of the house.")
    currency = serializers.CharField()
    currency_exponent = serializers.IntegerField(
        help_text="Decimal places of the currency: with 2 an amount of 100 is one unit, with 0 an amount is units."
    )
    time_zone = serializers.CharField(help_text="IANA name of the time zone; times in answers are UTC.")
    stage = serializers.ChoiceField(choices=HouseStage.choices, help_text="What the house may do now.")
    sandbox = serializers.BooleanField(help_text="Whether it is for tests and rehearsals, and never goes live.")
    denominations = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Face values of the chips in use, the largest first; none: no chips.",
    )
    api_version = serializers.CharField(help_text="Version of this API.")


@documented("readHouse", summary="Read the house", answers=HouseOut, tag=TAG)
class HouseDetail(ReadOperation):
    """The house of the signed-in person: how many decimal places its currency has, and its time zone."""

    sensitive = False
    roles = READERS

    def get(self, request: Request) -> Response:
        """The house."""
        house = context_of(request).house
        answer = {
            "house": house.code,
            "name": house.name,
            "currency": house.currency,
            "currency_exponent": house.currency_exponent,
            "time_zone": house.time_zone,
            "stage": house.stage,
            "sandbox": house.is_sandbox,
            "denominations": sorted(chips.denominations(house), reverse=True),
            "api_version": API_VERSION,
        }
        return Response(answer)


class ClockOut(serializers.Serializer[Any]):
    """The clock of the gaming days."""

    time_zone = serializers.CharField(help_text="IANA name of the time zone.")
    day_cut_off = serializers.CharField(help_text="When a gaming day ends, on the next date: `06:00`.")


class ClockOfNowOut(ClockOut):
    """The clock that counts now."""

    due_day = serializers.CharField(help_text="The gaming day of now by this clock, YYYY-MM-DD.")


class IdentityVersionOut(ClockOut):
    """A version of the identity."""

    number = serializers.IntegerField(help_text="Its number, from 1; 0 where the house has only been founded.")
    name = serializers.CharField(help_text="Name of the house.")
    legal_name = serializers.CharField(allow_blank=True, help_text="Name of the company; empty where nobody said it.")
    tax_id = serializers.CharField(allow_blank=True, help_text="Its tax id.")
    licence_number = serializers.CharField(allow_blank=True, help_text="Number of its licence.")
    address = serializers.CharField(allow_blank=True, help_text="Its address.")
    legal_profile = serializers.ChoiceField(
        choices=LegalProfile.choices, allow_blank=True, help_text="Under which law the house works."
    )
    languages = serializers.ListField(
        child=serializers.CharField(), help_text="Languages of the room, ISO 639-1, the first one first."
    )
    currency = serializers.CharField()
    currency_exponent = serializers.IntegerField(help_text="Decimal places of the currency.")
    set_by = serializers.CharField(allow_blank=True, help_text="Login of the person who said it.")
    set_at = serializers.DateTimeField(allow_null=True, help_text="When it was said; null for what is of the founding.")
    approval = serializers.IntegerField(
        allow_null=True, help_text="Number of the approval; null where none was needed."
    )


class IdentityOut(serializers.Serializer[Any]):
    """Who the house is."""

    identity = IdentityVersionOut(help_text="The newest version.")
    clock = ClockOfNowOut(help_text="What counts for the gaming day of now: another clock counts from the next one on.")
    missing = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the parts that nobody has said yet."
    )
    history = IdentityVersionOut(many=True, help_text="Versions of before, the newest first.")


class IdentityChangedOut(IdentityOut):
    """Who the house is from now on."""

    audit = ReceiptOut()


@documented("readIdentity", summary="Read who the house is", answers=IdentityOut, tag=TAG, method="get")
@documented(
    "changeIdentity",
    summary="Change who the house is",
    answers=IdentityChangedOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=[
        "no_change", "currency_in_use", "unknown_time_zone", "unknown_currency", "too_many_places", "unknown_language",
    ],
)  # fmt: skip
class IdentityOfHouse(WriteOperation, Reading):
    """What is left out stays. Nothing is edited: each change makes a version, and those of before stay readable. Time
    zone and cut-off count from the next gaming day on, the rest at once; the currency stays once there are chips, a
    drawer, a table or capital (`currency_in_use`). Once the house is live, a manager approves it
    (`approval_required`). No If-Match: an administrator says the parts that change."""

    @extend_schema_serializer(component_name="ChangeIdentityInput")
    class Input(StrictInput):
        """The parts that change, one at least, and why."""

        name = StrictText(max_length=120, required=False, help_text="Name of the house.")
        legal_name = StrictText(max_length=200, required=False, help_text="Name of the company.")
        tax_id = StrictText(max_length=64, required=False, help_text="Its tax id.")
        licence_number = StrictText(max_length=64, required=False, help_text="Number of its licence.")
        address = StrictText(max_length=300, required=False, help_text="Its address.")
        legal_profile = StrictChoice(
            choices=LegalProfile.choices, required=False, help_text="Under which law the house works."
        )
        languages = serializers.ListField(
            child=StrictPattern(r"^[a-z]{2}\Z"), min_length=1, max_length=20, required=False,
            help_text="Languages of the room, ISO 639-1, the first one first.",
        )  # fmt: skip
        currency = StrictPattern(r"^[A-Z]{3}\Z", required=False)
        currency_exponent = StrictInteger(
            min_value=0, max_value=3, required=False, help_text="Decimal places of the currency."
        )
        time_zone = StrictText(max_length=64, required=False, help_text="IANA name of the time zone.")
        day_cut_off = StrictPattern(
            r"^([01][0-9]|2[0-3]):[0-5][0-9]\Z", required=False, help_text="When a gaming day ends, on the next date."
        )
        reason = Reason()

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """One part at least; no language twice."""
            if len(attrs) < 2:
                raise serializers.ValidationError("Name a part of the identity.")
            languages = attrs.get("languages", [])
            if len(set(languages)) < len(languages):
                raise serializers.ValidationError({"languages": "A language is named once."})
            return attrs

    sensitive = False
    roles = (Role.ADMIN,)
    readers = READERS
    versioned = False
    approvable = True
    input = Input

    def get(self, request: Request) -> Response:
        """The identity."""
        return Response(identity_of(context_of(request).house))

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        reason = data.pop("reason")
        return changing.change(command=command, parts=data, reason=reason)


class RulesVersionOut(serializers.Serializer[Any]):
    """A version of the rules of the house, without its texts."""

    number = serializers.IntegerField(help_text="Its number, from 1.")
    sha256 = serializers.CharField(help_text="SHA-256 of its texts as canonical JSON, in hex.")
    languages = serializers.ListField(child=serializers.CharField(), help_text="Languages that it is in, ISO 639-1.")
    set_at = serializers.DateTimeField(help_text="From when on it is in force.")
    set_by = serializers.CharField(help_text="Login of the person who said it.")
    approval = serializers.IntegerField(
        allow_null=True, help_text="Number of the approval; null where none was needed."
    )


class RulesOut(RulesVersionOut):
    """A version of the rules of the house."""

    texts = serializers.DictField(child=serializers.CharField(), help_text="The whole text by language.")


class HouseRulesOut(serializers.Serializer[Any]):
    """The rules of the house."""

    rules = RulesOut(allow_null=True, help_text="The version in force; null where nobody has set one.")
    history = RulesVersionOut(many=True, help_text="Every version, the newest first.")


class HouseRulesSetOut(HouseRulesOut):
    """The rules of the house from now on."""

    audit = ReceiptOut()


@documented("readHouseRules", summary="Read the rules of the house", answers=HouseRulesOut, tag=TAG, method="get")
@documented(
    "setHouseRules", summary="Set the rules of the house", answers=HouseRulesSetOut, status=201, tag=TAG, method="post",
    refuses=["no_change"],
)  # fmt: skip
class RulesOfHouse(WriteOperation, Reading):
    """The rules as guests read them: fees and tax, what becomes of a carried pot, how chips are redeemed, how disputes
    are decided, who hears complaints. Each setting makes a version, in force at once; those of before stay readable,
    and the log says which was in force when a hand was dealt. Once the house is live, a manager approves it
    (`approval_required`). No If-Match: an administrator says the whole text."""

    @extend_schema_serializer(component_name="SetHouseRulesInput")
    class Input(StrictInput):
        """The whole text in every language that it is in, and why."""

        texts = serializers.DictField(
            child=StrictText(max_length=20_000), allow_empty=False, help_text="The whole text by language, ISO 639-1."
        )
        reason = Reason()

        def validate_texts(self, texts: dict[str, str]) -> dict[str, str]:
            """Languages are named by two letters, at most ten of them."""
            if len(texts) > _MOST_LANGUAGES or not all(_LANGUAGE.match(name) for name in texts):
                raise serializers.ValidationError("Name each language by its two letters (ISO 639-1), ten at most.")
            return texts

    sensitive = False
    roles = (Role.ADMIN,)
    readers = tuple(Role)
    versioned = False
    approvable = True
    input = Input

    def get(self, request: Request) -> Response:
        """The rules."""
        return Response(house_text.describe(context_of(request).house))

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return house_rules.change(command=command, texts=data["texts"], reason=data["reason"])


@documented(
    "readHouseRulesVersion", summary="Read a version of the rules of the house", answers=RulesOut, tag=TAG,
    refuses=["not_found"],
)  # fmt: skip
class RulesVersion(ReadOperation):
    """A version of the rules of the house, by its number: also one that is not in force any more."""

    sensitive = False
    roles = tuple(Role)

    def get(self, request: Request, rules: int) -> Response:
        """The version."""
        house = context_of(request).house
        found = house_text.version(house, rules)
        if found is None:
            raise NotFound(f"The rules of this house have no version {rules}.")
        return Response(house_text.whole(found))


class ItemOut(serializers.Serializer[Any]):
    """An item of the checklist."""

    item = serializers.ChoiceField(choices=list(readiness.CHECKS), help_text="What is looked at.")
    ready = serializers.BooleanField(help_text="Whether nothing of it is missing.")
    missing = serializers.ListField(child=serializers.CharField(), help_text="What is missing, in words.")
    who = serializers.ListField(
        child=serializers.CharField(),
        help_text="Roles of which a person can put it right; `operator`: the person who operates the server.",
    )


class SignatureOut(serializers.Serializer[Any]):
    """A signature before going live."""

    role = serializers.ChoiceField(choices=Role.choices, help_text="In which role the person signed.")
    login = serializers.CharField(help_text="Login of the person who signed.")
    at = serializers.DateTimeField(help_text="When it was signed.")
    void = serializers.BooleanField(help_text="Whether the house has changed since, so that it must be signed again.")


class SignaturesOut(serializers.Serializer[Any]):
    """Who has signed what the house is, and who has not."""

    digest = serializers.CharField(help_text="SHA-256 of what the house is now, in hex: what a signature names.")
    signed = SignatureOut(many=True, help_text="The newest signatures under one digest, the oldest first.")
    missing = serializers.ListField(
        child=serializers.ChoiceField(choices=Role.choices), help_text="Roles that have not signed this digest."
    )


class ReadinessOut(serializers.Serializer[Any]):
    """Whether the house can receive guests."""

    ready = serializers.BooleanField(help_text="Whether nothing is missing.")
    stage = serializers.ChoiceField(choices=HouseStage.choices, help_text="What the house may do now.")
    items = ItemOut(many=True, help_text="What was looked at, in the order in which a house is founded.")
    signatures = SignaturesOut(help_text="Who signs before the house goes live.")


@documented("readReadiness", summary="Read what the house still lacks", answers=ReadinessOut, tag=TAG)
class Readiness(ReadOperation):
    """The checklist before the first evening: identity, people, pairs of them for what takes two, cashier, manager
    and compliance for the largest trades, which take three, second factors, chips, vault, drawers, tables and trays,
    floats, cash cover, terminals, checkpoints outside the database, the rehearsal, the signatures before going live,
    the gaming day. It says what is there, not whether it is right. `signatures.digest` is what the three sign."""

    sensitive = False
    roles = (*OVERSIGHT, Role.MANAGER)

    def get(self, request: Request) -> Response:
        """The checklist."""
        house = context_of(request).house
        items = readiness.checklist(house)
        return Response(
            {
                "ready": not any(item.missing for item in items),
                "stage": house.stage,
                "items": [one.as_json() for one in items],
                "signatures": signatures.describe(house),
            }
        )


class SignedOut(serializers.Serializer[Any]):
    """The house after a signature."""

    stage = serializers.ChoiceField(choices=HouseStage.choices, help_text="`live` after the third signature.")
    digest = serializers.CharField(help_text="What was signed.")
    signers = serializers.DictField(child=serializers.CharField(), help_text="Login of the person who signed, by role.")
    missing = serializers.ListField(
        child=serializers.ChoiceField(choices=Role.choices), help_text="Roles that have not signed yet."
    )
    void = serializers.ListField(
        child=serializers.ChoiceField(choices=Role.choices),
        help_text="Roles that had signed another digest and must sign again.",
    )
    audit = ReceiptOut()


@documented(
    "signGoLive",
    summary="Sign that the house goes live",
    answers=SignedOut,
    status=201,
    tag=TAG,
    refuses=["house_wrong_stage", "house_not_ready", "house_changed", "signed_already", "four_eyes"],
)
class SignGoLive(WriteOperation):
    """An administrator, an auditor and a manager, three people, each sign the digest that the checklist shows (`GET
    house/readiness`); nobody signs beside a person whom they hired or gave a password to, or who hired them or gave
    them one (`four_eyes`). Refused while the checklist lacks anything but the gaming day and people for the largest
    trades (`house_not_ready`), and for another digest than that of now (`house_changed`). A signature under another
    digest is void with the next one. With the third one the house is live. No If-Match: the digest says on what it was
    decided."""

    @extend_schema_serializer(component_name="SignGoLiveInput")
    class Input(StrictInput):
        """What is signed."""

        digest = StrictPattern(r"^[0-9a-f]{64}\Z", help_text="The digest that the checklist shows.")

    roles = signatures.SIGNERS
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sign."""
        return signing.sign(command=command, digest=data["digest"])


class StageOut(serializers.Serializer[Any]):
    """The house in its next stage."""

    house = serializers.CharField()
    stage = serializers.ChoiceField(choices=HouseStage.choices, help_text="What the house may do now.")
    audit = ReceiptOut()


class _ToStage(WriteOperation):
    """A manager asks, an auditor approves."""

    roles = (Role.MANAGER,)
    versioned = False
    approvable = True
    input = ReasonInput


@documented("suspendHouse", summary="Suspend the house", answers=StageOut, tag=TAG, refuses=["house_wrong_stage"])
class Suspend(_ToStage):
    """No table opens, no hand is dealt and no chips are sold until the house is resumed (`house_not_live`); what is
    owed is paid, and what is open is counted and closed. A manager asks, an auditor approves. No If-Match: the stage
    is looked at."""

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Suspend."""
        return stages.suspend(command=command, reason=data["reason"])


@documented("resumeHouse", summary="Open a suspended house again", answers=StageOut, tag=TAG,
            refuses=["house_wrong_stage"])  # fmt: skip
class Resume(_ToStage):
    """A manager asks, an auditor approves. No If-Match: the stage is looked at."""

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Resume."""
        return stages.resume(command=command, reason=data["reason"])


@documented("closeHouse", summary="Close the house for ever", answers=StageOut, tag=TAG,
            refuses=["house_wrong_stage", "house_not_empty"])  # fmt: skip
class Close(_ToStage):
    """For ever: with no day, table or drawer open and no chips in circulation (`house_not_empty` names them). A manager
    asks, an auditor approves. No If-Match: the stage is looked at."""

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return stages.close(command=command, reason=data["reason"])


class SandboxLogin(serializers.Serializer[Any]):
    """A way in."""

    login = serializers.CharField()
    password = serializers.CharField(help_text="First password; a password alone is enough in a sandbox.")


class SandboxTerminal(serializers.Serializer[Any]):
    """A terminal of the next sandbox."""

    terminal = serializers.CharField()
    key = serializers.CharField()


class ResetOut(serializers.Serializer[Any]):
    """The sandbox that was closed, and the next one. Only the first answer has passwords and keys: the house does not
    keep them."""

    house = serializers.CharField(help_text="Code of the sandbox that is closed.")
    stage = serializers.ChoiceField(choices=HouseStage.choices, help_text="Its stage: `closed`.")
    successor = serializers.CharField(help_text="Code of the next sandbox.")
    logins = SandboxLogin(many=True, required=False, help_text="One person of each role; absent where repeated.")
    terminals = SandboxTerminal(many=True, required=False, help_text="Terminals by place; absent where repeated.")
    audit = ReceiptOut()


@documented(
    "resetSandbox",
    summary="Replace the sandbox by a clean one",
    answers=ResetOut,
    status=201,
    tag=TAG,
    refuses=[
        "not_a_sandbox", "house_wrong_stage", "house_code_too_long", "sandbox_exists", "no_chip_set", "vault_not_open",
    ],
)  # fmt: skip
class ResetSandbox(WriteOperation):
    """For who tries programs in a sandbox (`not_a_sandbox` elsewhere): this one is closed for ever with everything that
    is open there, and the next one is set up as it is, with its capital, its chips and what its trays were stocked
    with. The answer has passwords and keys once; if it is lost, the operator makes another sandbox. No If-Match:
    the stage is looked at."""

    roles = (Role.ADMIN,)
    versioned = False
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Reset."""
        return sandboxes.reset(command=command, reason=data["reason"])


urls = [
    path("house/reset", ResetSandbox.as_view()),
    path("house/go-live", SignGoLive.as_view()),
    path("house/suspend", Suspend.as_view()),
    path("house/resume", Resume.as_view()),
    path("house/close", Close.as_view()),
    path("house/identity", IdentityOfHouse.as_view()),
    path("house/rules", RulesOfHouse.as_view()),
    path("house/rules/<int:rules>", RulesVersion.as_view()),
    path("house/readiness", Readiness.as_view()),
    path("house", HouseDetail.as_view()),
]
