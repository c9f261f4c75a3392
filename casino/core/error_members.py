"""Members of problem documents: what each of them is, and its JSON schema.

They are used by the codes of `casino/core/error_codes.py`. A shape says what a client may find under the name, whatever
code it comes with.
"""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer"}
_MINOR: Schema = {"type": "integer", "format": "int64"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_NUMBERS: Schema = {"type": "array", "items": _NUMBER}
_CHIPS: Schema = {"type": "object", "additionalProperties": _NUMBER}
_CHECKPOINT: Schema = {"type": "object", "additionalProperties": {"oneOf": [_TEXT, _NUMBER]}}
_SCALAR: Schema = {"oneOf": [_TEXT, _NUMBER, {"type": "boolean"}]}
#: A figure of the ledger: a number, a name or a moment, ids; null where there is none.
_FIGURE: Schema = {"oneOf": [_TEXT, _NUMBER, _NUMBERS], "nullable": True}
#: What a game accepts: a value, several of them (cards by their places are lists of numbers), or values by name.
_ACCEPTED: Schema = {
    "oneOf": [
        *_SCALAR["oneOf"],
        {"type": "array", "items": {"oneOf": [*_SCALAR["oneOf"], _NUMBERS]}},
        {"type": "object", "additionalProperties": _SCALAR},
    ],
    "nullable": True,
}

#: What of a drawer is pending.
_OPEN_WORK: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["kind", "number"],
        "properties": {
            "kind": {**_TEXT, "description": "`fill`, `credit`, `chip_move`, `cash_out` or `handover`."},
            "number": {
                **_NUMBER,
                "description": "Its number, which its address has; of a handover that at the drawer.",
            },
        },
    },
}

#: Members of problem documents: JSON schema and meaning.
MEMBERS: Mapping[str, tuple[Schema, str]] = {
    "account": (_TEXT, "code of the account"),
    "accounts": (_CHIPS, "balances that are not zero, by account code, in minor units"),
    "action": (_TEXT, "the line of the log that must be the last of its request"),
    "actor": (_TEXT, "whose turn or card it is: `d` or `p1`, `p2` ..."),
    "allowed_roles": (_TEXTS, "the roles that may do this"),
    "amount": (_MINOR, "the amount, in minor units"),
    "archive": (_NUMBER, "number of the archive"),
    "approval": (
        {
            "type": "object",
            "required": ["approval", "kind", "roles", "every_role", "state", "expires_at"],
            "properties": {
                "approval": {**_NUMBER, "description": "Its number; the request names it in the header Approval."},
                "kind": {**_TEXT, "description": "What needs a second person."},
                "roles": {**_TEXTS, "description": "Who decides has one of these roles."},
                "every_role": {
                    "type": "boolean",
                    "description": "True where a person of each of these roles must approve, all different.",
                },
                "state": {**_TEXT, "description": "`requested`, or `approved` where only the request is missing."},
                "expires_at": {**_TEXT, "format": "date-time", "description": "Until when it can be used."},
            },
        },
        "the approval that waits to be decided",
    ),
    "available": ({"oneOf": [_MINOR, _CHIPS]}, "what is available: minor units, or pieces by denomination"),
    "awarded": (_MINOR, "the sum of the awards, in minor units"),
    "bank": (_MINOR, "money that the seats hold in common, in minor units"),
    "beneficiaries": (_TEXTS, "who may be paid under the law of the house, by code; empty while it has not named one"),
    "blocking": (
        {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["kind", "name", "state"],
                "properties": {
                    "kind": {**_TEXT, "description": "`hand`, `drawer` or `transfer`."},
                    "name": {**_TEXT, "description": "Name of the hand, code of the drawer, or `fill` and its number."},
                    "state": {**_TEXT, "description": "Its state."},
                },
            },
        },
        "what is not done, at most twenty of each kind",
    ),
    "bonus": (_MINOR, "the bonus that waits, in minor units"),
    "cards": (_NUMBER, "how many cards the seat holds"),
    "carry": (_MINOR, "what is carried into the deal, in minor units"),
    "change": (_CHIPS, "chips for change, pieces by denomination"),
    "charge": (_TEXT, "what the game's policy charges: `tax` or `seat`"),
    "chips": (_CHIPS, "the chips, pieces by denomination"),
    "count": (_NUMBER, "how many were expected"),
    "cukassza": (_MINOR, "the pot that is carried over, in minor units"),
    "current_version": (_NUMBER, "the version to read and decide on again"),
    "database": (_CHECKPOINT, "epoch, size and root of the log in the database"),
    "choices": (_TEXTS, "what may be named; empty where that is no short list"),
    "day": (_TEXT, "the gaming day"),
    "filter": (_TEXT, "name of the filter"),
    "button": (_NUMBER, "the seat whose turn to deal it is"),
    "dealer": ({**_TEXT, "nullable": True}, "login of the table's dealer, null if nobody has taken it over"),
    "denominations": ({"type": "array", "items": _SCALAR}, "the denominations in question, in minor units"),
    "differs": (_TEXTS, "in what the approval differs from the request"),
    "digest": (_TEXT, "the digest of what the house is now"),
    "disputed_by": (_TEXT, "login of the person who has disputed the hand"),
    "duplicate": (_TEXTS, "the cards that were named twice"),
    "exception": (
        _NUMBER,
        "number at the table of the card exception that was stored; `GET exceptions/cards` has it",
    ),
    "exceptions": (_NUMBERS, "the open card exceptions, by their numbers at the table"),
    "exclusion": (_NUMBER, "number of the exclusion"),
    "expected": ({"type": "object", "additionalProperties": _ACCEPTED}, "what would have been accepted, by name"),
    "failed": (
        {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["check", "code"],
                "properties": {
                    "check": {**_TEXT, "description": "The check."},
                    "code": {**_TEXT, "description": "Why it failed."},
                },
            },
        },
        "the checks that failed, with a code each",
    ),
    "figures": (
        {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "required": ["stakes", "deposit", "held", "refund", "kept", "borne"],
        },
        "what the settlement comes to now, in minor units, as `minors/N` has it",
    ),
    "file": (_TEXT, "the file outside the database"),
    "foreign": (_TEXTS, "the cards that the pack does not have"),
    "games": (_TEXTS, "the games that exist"),
    "giver": (_TEXT, "login of the person who set the password"),
    "hand": ({**_TEXT, "nullable": True}, "name of the hand, null if there is none"),
    "header": (_TEXT, "the request header"),
    "held": (_MINOR, "cash that is on hold there for announced cash-outs, in minor units; absent where none is"),
    "held_payouts": (
        {**_TEXT, "nullable": True},
        "address below the API's root where the chips can be taken as a held payout; null where none are brought",
    ),
    "index": (_NUMBER, "index of the card among those of the seat, from 0"),
    "least_age": (_NUMBER, "years from which on the law under which the house works lets people play"),
    "limit": (_TEXT, "what the limit is of: `loss`, `buy_in` or `time`"),
    "key": (_TEXT, "the Idempotency-Key that was used before"),
    "kind": (_TEXT, "kind of the transfer"),
    "minor": (_NUMBER, "number of the record that the player is a minor"),
    "last": (_TEXT, "the newest gaming day"),
    "linked": (
        _TEXTS,
        "windows in which what was paid before is counted with it (`gaming_day`, `linked_hours`, `linked_days`, "
        "`linked_long_days`) and reaches the amount; none where it does alone",
    ),
    "last_activity": (_TEXT, "the player's last activity"),
    "left": (_MINOR, "what is left, in minor units"),
    "login": (_TEXT, "the login that is taken"),
    "max": ({**_MINOR, "nullable": True}, "the most that is accepted"),
    "max_stack": (_MINOR, "the most chips that a player may bring to the table, in minor units"),
    "holds": (_NUMBERS, "numbers of the legal holds"),
    "logins": (_TEXTS, "logins that nobody has"),
    "min": (_MINOR, "the least that is accepted"),
    "missing": (
        {"oneOf": [_CHIPS, _TEXTS]},
        "what is missing: chips (pieces by denomination), cards, or items of the checklist",
    ),
    "mode": (_TEXT, "how the hand was dealt"),
    "month": (_TEXT, "the last month on which duty was booked"),
    "must_set": (_TEXTS, "the options that a table of the house must set"),
    "open": ({"oneOf": [_TEXTS, _OPEN_WORK]}, "the earlier days that are open, or what of the drawer is pending"),
    "opened_by": (_TEXT, "login of the person who has opened the drawer"),
    "option": (_TEXT, "the option of the game"),
    "outside": (_CHECKPOINT, "epoch, size and root of the checkpoint outside the database"),
    "owed": (_CHIPS, "what each player is owed or owes, in minor units"),
    "parameters": (_TEXTS, "the query parameters in question"),
    "params": (
        {"type": "object", "additionalProperties": _FIGURE},
        "the ledger's figures: account, balance, needed ..., in minor units",
    ),
    "player": (_TEXT, "reference of the player"),
    "return_number": (_TEXT, "number of the return, as the authority has given it"),
    "players": (_TEXTS, "references of the players"),
    "postings": (_NUMBERS, "the ledger transactions"),
    "position": (_NUMBER, "number of the last event whose hint the receiver has taken"),
    "pot": (_MINOR, "the disputed pot, in minor units"),
    "refused": (_TEXTS, "values that a table of the house must not have"),
    "rehearsal": (_NUMBER, "number of the rehearsal"),
    "remaining": (_TEXTS, "what is still open, or in circulation"),
    "report": (_TEXT, "id of the report"),
    "required": (_MINOR, "what was required, in minor units"),
    "retry_after": (_NUMBER, "seconds to wait"),
    "tries_left": (_NUMBER, "how many more may be tried"),
    "rota_entry": (_NUMBER, "number of the entry of the rota"),
    "roles": (_TEXTS, "the two roles that exclude each other"),
    "seat": (_NUMBER, "the seat"),
    "seats": ({"type": "array", "items": _SCALAR}, "the seats in question"),
    "session_under_way": ({"type": "boolean"}, "whether a session of several deals is under way"),
    "span": (_TEXT, "the stretch of time that the limit is for"),
    "short": (_NUMBERS, "denominations of which there are too few"),
    "smallest": (_MINOR, "the smallest denomination, in minor units"),
    "size": (_NUMBER, "how many leaves the newest checkpoint covers"),
    "stage": (_TEXT, "the stage of the house"),
    "state": (_TEXT, "the state now"),
    "tax": (_MINOR, "the tax, in minor units"),
    "ticket": (_NUMBER, "number on the waiting list"),
    "terminal": (_TEXT, "code of the terminal"),
    "tray": (_MINOR, "what the tray holds, in minor units"),
    "unknown": (_TEXTS, "names that are not known"),
    "until": (_TEXT, "the time until which data are kept, or a promise holds"),
    "valid_from": (_TEXT, "the moment that was asked for"),
    "value": (_MINOR, "what the pieces are worth, in minor units"),
    "verb": (_TEXT, "the verb of the action"),
    "verbs": (_TEXTS, "the verbs that are accepted here"),
}
