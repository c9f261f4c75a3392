"""Types that several events share, each with its sentence for the reference page. Amounts are minor units."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

#: An object or a list of objects whose members the field's sentence names.
JsonObject = Mapping[str, Any]
JsonObjects = Sequence[JsonObject]

Amount = Annotated[int, "minor units"]
Pieces = Annotated[Mapping[str, int], "chips: number of pieces by denomination in minor units"]
LedgerTransaction = Annotated[int, "id of the ledger transaction"]

Player = Annotated[str, "reference of the player"]
Seat = Annotated[int, "number of the seat at the table, from 1"]
Login = Annotated[str, "login of the member of staff"]
Roles = Annotated[Sequence[str], "roles, in alphabetical order"]
RevokedTerminals = Annotated[Sequence[str] | None, "codes of the terminals that were revoked with it; absent for none"]
EndedSessions = Annotated[int, "number of tokens that ended with it"]

Hand = Annotated[str, "name of the hand"]
HandActor = Annotated[str, "seat of the hand: `p1` is the first in play order"]
CardIndex = Annotated[int, "index of the card among the cards of that seat, from 0 in the order of dealing"]
FirstLine = Annotated[int, "number in the log of the first of `lines`, from 1"]
Lines = Annotated[Sequence[str], "new lines of the log as everybody sees them; a face-down card is `??`"]
DIGEST = (
    "SHA-256 of the engine's final state, hexadecimal; in electronic mode that of the canonical JSON `[hand, SHA-256 "
    "of the state, seed]`"
)
Digest = Annotated[str, DIGEST]
Result = Annotated[
    JsonObject,
    "what the hand came to: `net` and `bonus` per seat, `tax`, `carry_out` (minor units), `ending`, `winner` (seat "
    "number, 0 for nobody or several), and `series` where the game has one",
]
Commitment = Annotated[str, "commitment to the seed, hexadecimal"]
OpenedEntries = Annotated[
    JsonObjects,
    "entered cards that everybody has seen by then, at the end of the hand: `number` (of the entry in the hand, from "
    "1), `actor`, `index`, `card`, `salt`",
]

Reason = Annotated[str, "the reason given"]
Approver = Annotated[str, "login of the second person, who approved"]

TemplateNumber = Annotated[int, "number of the template at its drawer or table, from 1 without gaps"]
TemplateFrom = Annotated[str, "from when on it is in force, ISO 8601, UTC"]
TemplateSet = Annotated[str, "code of the chip set whose pieces it names"]
