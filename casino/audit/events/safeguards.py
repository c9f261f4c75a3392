"""Duties to players: exclusions, admissions, limits, interactions. What was said in words is sealed; an event has its
hash."""

from collections.abc import Sequence
from typing import Annotated

from casino.audit.events.fields import Amount, JsonObject, JsonObjects, Player
from casino.audit.events.registry import ApprovedEvent, AuditEvent, event

_MARKS = (
    "SHA-256 of each mark of the person with its salt, hexadecimal: under a key of the house, they say nothing about "
    "the person"
)
_NOTE = "SHA-256 of what was said about it, sealed, hexadecimal; absent where nothing was said"
ExclusionNumber = Annotated[int, "number of the exclusion, from 1 without gaps"]


@event("exclusion.set", chain="house")
class ExclusionSet(AuditEvent):
    """A player is excluded from now on, or somebody of whom the house has marks only. What of a hand is being played
    goes on; no other one is dealt to the player."""

    exclusion: ExclusionNumber
    player: Annotated[str | None, "reference of the player; absent for somebody without one"] = None
    marks: Annotated[Sequence[str] | None, f"{_MARKS}; absent for a player"] = None
    matched: Annotated[
        Sequence[str] | None, "references of the players whose recorded persons have such a mark; absent for a player"
    ] = None
    exclusion_kind: Annotated[str, "`self`, `house`, or `register` (a court, an authority, a public register)"]
    scope: Annotated[str, "`house`, or `play` only"]
    asked_by: Annotated[str, "`player`, `relative`, `house`, `court` or `authority`"]
    in_person: Annotated[bool, "whether that was asked for in person"]
    until: Annotated[
        str | None,
        "ISO 8601, UTC: its end; of one that the player has asked for the end of its term, after which it lasts until "
        "it is lifted; absent for none",
    ] = None
    note_sha256: Annotated[str | None, _NOTE] = None


@event("exclusion.matched", chain="house")
class ExclusionMatched(AuditEvent):
    """The person who was recorded for a player has a mark of an exclusion, which counts for that player from now on."""

    exclusion: ExclusionNumber
    player: Player


@event("exclusion.match_cleared", chain="house")
class ExclusionMatchCleared(ApprovedEvent):
    """Compliance has found, and a manager has approved, that a player whom a mark has matched is another person than
    the one who is excluded."""

    exclusion: ExclusionNumber
    player: Player


@event("exclusion.marked", chain="house")
class ExclusionMarked(AuditEvent):
    """A player who is excluded without an end is about to be forgotten: of the person nothing is kept but marks by
    which the person is found again."""

    exclusion: ExclusionNumber
    player: Player
    marks: Annotated[Sequence[str], _MARKS]


@event("exclusion.lift_asked", chain="house")
class ExclusionLiftAsked(AuditEvent):
    """The end of an exclusion was asked for; it may be lifted 24 hours later."""

    exclusion: ExclusionNumber
    player: Annotated[str | None, "reference of the player; absent for somebody without one"] = None


@event("exclusion.lifted", chain="house")
class ExclusionLifted(ApprovedEvent):
    """Compliance has lifted an exclusion, and a manager has approved it."""

    exclusion: ExclusionNumber
    player: Annotated[str | None, "reference of the player; absent for somebody without one"] = None
    cause: Annotated[str, "`revoked`: it was asked for and its term is over; `wrong_entry`"]


@event("player.admitted", chain="house")
class PlayerAdmitted(AuditEvent):
    """A player was seen to be of age, on a gaming day."""

    player: Player
    day: Annotated[str, "the gaming day"]
    document: Annotated[str, "kind of the document that was seen; its number is not recorded"]
    age_band: Annotated[str, "how old the player is: `18-24`, `25-34`, `35-49`, `50-64` or `65+`"]


@event("player.limit_set", chain="house")
class PlayerLimitSet(AuditEvent):
    """A player has set a limit: a lower one counts at once, a higher one, or none, after 24 hours."""

    number: Annotated[int, "number of the limit, from 1 without gaps"]
    player: Player
    limit: Annotated[str, "`loss`, `buy_in` or `time`"]
    span: Annotated[str, "`day` (the gaming day), `week` (7 days) or `month` (30 days)"]
    most: Annotated[int | None, "minor units, of `time` minutes; absent where there is no limit any more"] = None
    starts_at: Annotated[str, "from when on it counts, ISO 8601, UTC"]


@event("player.reality_check_due", chain="house")
class RealityCheckDue(AuditEvent):
    """A player has sat for so long that the house says so: to the floor, at the table, on the player's device."""

    number: Annotated[int, "number of the reality check, from 1 without gaps"]
    player: Player
    table: Annotated[str, "where the player sits: code of the table"]
    seat: Annotated[int, "and the seat"]
    minutes: Annotated[int, "minutes on seats within 24 hours"]


@event("player.interaction_logged", chain="house")
class InteractionLogged(AuditEvent):
    """Something was done to protect a player."""

    number: Annotated[int, "number of the interaction, from 1 without gaps"]
    player: Player
    interaction: Annotated[str, "`reality_check`, `talk`, `limit_offered`, `exclusion_offered` or `referred`"]
    note_sha256: Annotated[str | None, _NOTE] = None


MinorNumber = Annotated[int, "number of the record, from 1 without gaps"]


@event("minor.recorded", chain="house")
class MinorRecorded(AuditEvent):
    """A player was found to be a minor: nothing is paid any more but stakes that are given back. The exclusion is an
    event of its own."""

    minor: MinorNumber
    player: Player
    exclusion: Annotated[int, "number of the exclusion that was set with it"]
    least_age: Annotated[int, "years from which on the law under which the house works lets people play"]
    note_sha256: Annotated[str, "SHA-256 of the birthday and of what was said, sealed, hexadecimal"]


@event("minor.cleared", chain="house")
class MinorCleared(ApprovedEvent):
    """Compliance has found, and a manager has approved, that a player is no minor."""

    minor: MinorNumber
    player: Player


@event("minor.settled", chain="house")
class MinorSettled(ApprovedEvent):
    """The stakes of a minor are given back, and winnings kept; a manager has approved the figures. What is given back
    is a held payout."""

    minor: MinorNumber
    player: Player
    stakes: Annotated[int, "minor units paid in for play, less what was paid out; below zero where that was more"]
    deposit: Annotated[int, "minor units that lay in the deposit"]
    held: Annotated[int, "minor units that were held for the player"]
    refund: Annotated[int, "minor units that are given back: the deposit and the stakes"]
    kept: Annotated[int, "minor units of winnings, which are not paid"]
    borne: Annotated[int, "minor units of the stakes that were lost, which the house bears"]
    ended: Annotated[Sequence[int], "numbers of the held payouts that ended with it"]
    payout: Annotated[
        JsonObject | None, "the held payout that is given back, as in `cage.payout_held`; absent where nothing is"
    ] = None
    remit_by: Annotated[
        str | None, "until when the winnings are to be remitted, ISO 8601, UTC; absent where nothing is kept"
    ] = None


@event("winnings.remitted", chain="house")
class WinningsRemitted(ApprovedEvent):
    """Winnings that were kept from minors were paid by the bank to whom the law names; a manager has approved it."""

    remittance: Annotated[int, "number of the remittance, from 1 without gaps"]
    amount: Amount
    beneficiary: Annotated[str, "`state` or `charity`"]
    payee: Annotated[str, "who was paid: the office of the state, or the charity, by name"]
    note: Annotated[str, "number of the bank's note"]
    minors: Annotated[JsonObjects, "what it is made of: `minor` (number of the record), `player`, `kept` (minor units)"]
