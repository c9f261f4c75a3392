"""Every stable error code in one table: its HTTP status, its meaning, and the members of its problem documents, which
state what was expected.

Errors are classes (`casino/core/errors.py`, `engine/errors.py`, `ledger/errors.py`). They use only the codes and
members of this table; a test compares the source with it. The API's schema and the reference page of errors are
generated from it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
        "required": ["kind", "number", "id"],
        "properties": {
            "kind": {**_TEXT, "description": "`fill`, `credit`, `chip_move` or `handover`."},
            "number": {**_NUMBER, "description": "Its serial, of a handover its number at the drawer."},
            "id": {**_NUMBER, "description": "What its address names it by."},
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
    "duplicate": (_TEXTS, "the cards that were named twice"),
    "exception": (_NUMBER, "the card exception that was stored with this refusal; `GET exceptions/cards` has it"),
    "exceptions": (_NUMBERS, "the open card exceptions of the table"),
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
    "file": (_TEXT, "the file outside the database"),
    "foreign": (_TEXTS, "the cards that the pack does not have"),
    "games": (_TEXTS, "the games that exist"),
    "giver": (_TEXT, "login of the person who set the password"),
    "hand": ({**_TEXT, "nullable": True}, "name of the hand, null if there is none"),
    "header": (_TEXT, "the request header"),
    "held_payouts": (
        {**_TEXT, "nullable": True},
        "address below the API's root where the chips can be taken as a held payout; null where none are brought",
    ),
    "index": (_NUMBER, "index of the card among those of the seat, from 0"),
    "key": (_TEXT, "the Idempotency-Key that was used before"),
    "kind": (_TEXT, "kind of the transfer"),
    "last": (_TEXT, "the newest gaming day"),
    "last_activity": (_TEXT, "the player's last activity"),
    "login": (_TEXT, "the login that is taken"),
    "max": ({**_MINOR, "nullable": True}, "the most that is accepted"),
    "max_stack": (_MINOR, "the most chips that a player may bring to the table, in minor units"),
    "logins": (_TEXTS, "logins that nobody has"),
    "min": (_MINOR, "the least that is accepted"),
    "missing": (
        {"oneOf": [_CHIPS, _TEXTS]},
        "what is missing: chips (pieces by denomination), cards, or items of the checklist",
    ),
    "mode": (_TEXT, "how the hand was dealt"),
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
    "players": (_TEXTS, "references of the players"),
    "postings": (_NUMBERS, "the ledger transactions"),
    "pot": (_MINOR, "the disputed pot, in minor units"),
    "refused": (_TEXTS, "values that a table of the house must not have"),
    "remaining": (_TEXTS, "what is still open, or in circulation"),
    "report": (_TEXT, "id of the report"),
    "required": (_MINOR, "what was required, in minor units"),
    "retry_after": (_NUMBER, "seconds to wait"),
    "rota_entry": (_NUMBER, "number of the entry of the rota"),
    "roles": (_TEXTS, "the two roles that exclude each other"),
    "seat": (_NUMBER, "the seat"),
    "seats": ({"type": "array", "items": _SCALAR}, "the seats in question"),
    "session_under_way": ({"type": "boolean"}, "whether a session of several deals is under way"),
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


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One stable code; `members` are those of MEMBERS that its problem documents may have."""

    code: str
    status: int
    meaning: str
    members: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """The meanings of the members as one sentence; empty if there are none."""
        return "; ".join(f"`{name}`: {MEMBERS[name][1]}" for name in self.members)


def _codes(status: int, *rows: tuple[str, str] | tuple[str, str, str]) -> tuple[ErrorCode, ...]:
    """Codes of one status, each with its meaning and the names of its members."""
    return tuple(ErrorCode(code, status, meaning, tuple(" ".join(members).split())) for code, meaning, *members in rows)


#: Refusals of the HTTP layer: reading the request, signing in, rights, preconditions.
HTTP = (
    *_codes(
        400,
        ("malformed_json", "The body is not the strict JSON that this API accepts."),
        ("invalid_request", "A field, header or parameter is wrong; `errors` points at the fields.", "header"),
        ("invalid_parameter", "A query parameter is unknown, missing or unreadable.", "parameters"),
    ),
    *_codes(401, ("not_authenticated", "The token or the seat's key is missing, unknown, expired or revoked.")),
    *_codes(
        403,
        ("forbidden", "The signed-in person may not do this.", "allowed_roles"),
        ("wrong_terminal", "The token is for a terminal in another place."),
        ("password_change_required", "The person must first change the password that the office set."),
        ("sign_in_refused", "Login, password, code, terminal or its key is wrong; the answer does not say which."),
        ("not_your_drawer", "Another person has opened the drawer and answers for it.", "opened_by"),
        ("four_eyes", "This takes a second person.", "giver"),
        ("reauthentication_required", "The terminal was left alone for too long: the password is asked for again."),
        ("code_required", "A code of the second factor must be given with this."),
        ("code_refused", "The code of the second factor is wrong, too old, or was used before."),
        ("second_factor_required", "The person must first set up a second factor."),
        (
            "roles_exclude_each_other",
            "The person has, or would have, two roles that nobody may hold together.",
            "roles",
        ),
        ("other_cashier", "The shift was another cashier's."),
        ("manager_needed", "Only a manager may sign so large an amount."),
        ("owner_needed", "The command needs the rights of the owner of the tables."),
    ),
    *_codes(404, ("not_found", "The house has nothing with this name or number.", "games")),
    *_codes(405, ("method_not_allowed", "The address does not accept this method.")),
    *_codes(406, ("not_acceptable", "The answer is not available in any media type that Accept names.")),
    *_codes(
        408,
        ("request_timeout", "The request did not arrive whole within 15 seconds. Nothing was changed; send it again."),
    ),
    *_codes(410, ("person_forgotten", "The personal data of this player were destroyed.")),
    *_codes(412, ("version_conflict", "If-Match names another version than the current one.", "current_version")),
    *_codes(413, ("body_too_large", "The body is larger than any operation accepts.")),
    *_codes(415, ("unsupported_media_type", "The body is not application/json.")),
    *_codes(422, ("idempotency_key_reused", "The Idempotency-Key was used for another request.", "key")),
    *_codes(428, ("precondition_required", "Idempotency-Key or If-Match is missing.", "header")),
    *_codes(429, ("too_many_attempts", "Too many wrong passwords or keys; wait.", "retry_after")),
    *_codes(429, ("too_many_requests", "Too many requests; wait.", "retry_after")),
    *_codes(
        429, ("too_many_streams", "The token has as many streams and waiting requests as one may have.", "retry_after")
    ),
    *_codes(
        500,
        (
            "server_error",
            "The request failed on the server. It is unknown whether it was carried out: send a write again under "
            "the same Idempotency-Key.",
        ),
        ("proof_failed", "Two records of the same fact disagree; nothing was written."),
        ("posting_not_ours", "The event names postings that its transaction did not make.", "postings"),
    ),
    *_codes(
        503,
        (
            "log_rolled_back",
            "The audit log is shorter than a checkpoint outside it; the house is read-only.",
            "outside database",
        ),
        ("log_damaged", "The parts of the audit log contradict each other; the house is read-only."),
        ("outside_checkpoint_missing", "A checkpoint outside the database is missing.", "file"),
        ("outside_checkpoint_unreadable", "A checkpoint outside the database cannot be read.", "file"),
        (
            "database_unavailable",
            "The database cannot be reached, or has no room left. Nothing was changed; try again.",
            "retry_after",
        ),
        (
            "outcome_unknown",
            "The database was lost before it confirmed the commit, or after it. It is unknown whether the write was "
            "carried out: send it again under the same Idempotency-Key.",
            "retry_after",
        ),
        (
            "busy",
            "Somebody has held a lock that this request needs for too long. Nothing was changed; try again under the "
            "same Idempotency-Key.",
            "retry_after",
        ),
        ("key_unavailable", "A key of the house cannot be used: its file cannot be read, or its command fails."),
        ("seal_key_wrong", "What the house seals is sealed under another seal key than the server has."),
        (
            "seal_key_retired",
            "A house of the installation was rotated away from this seal key. It wraps no new data key; set "
            "CASINO_SEAL_KEY to the key that replaced it.",
        ),
        ("streams_full", "As many streams are open as the house takes; try again, or do not wait.", "retry_after"),
        ("not_ready", "A check of /readyz failed.", "failed"),
        ("database_unreachable", "The database does not answer."),
        ("migrations_missing", "Migrations have not been applied to the database."),
        ("role_too_mighty", "The application's database role has too many rights."),
        ("guards_off", "A trigger that protects the database's rows is off."),
        ("catalogue_differs", "An object of the database is not as the migrations make it."),
        ("broker_unreachable", "The broker does not answer."),
        ("beat_silent", "Beat has sent no task for some time: nothing is swept, no clock runs."),
        ("worker_silent", "No worker has run a task for some time: no hand is settled."),
        ("outbox_stands_still", "A message of the outbox has been open for too long: a hand is not settled."),
    ),
)

#: Refusals at a table: its state, seats, terms, deals and hands.
TABLES = (
    *_codes(
        409,
        ("table_closed", "The table is closed.", "state"),
        ("table_open", "The table is open and no hand is being played.", "state"),
        ("fee_in_chips", "The table charges its fee in chips, with each hand.", "amount"),
        ("table_retired", "The table was retired and is never opened again.", "state"),
        ("place_not_empty", "Money or chips are left in the place; `detail` names the accounts."),
        ("table_playing", "A hand is being played.", "state"),
        ("table_settling", "A hand is over and not settled yet.", "state"),
        ("table_disputed", "The last hand is disputed; the floor must void it or rule on it.", "state"),
        ("seat_taken", "The seat is taken."),
        ("already_seated", "The player already sits at a table."),
        ("no_change", "The request would change nothing."),
        ("already_waiting", "The player waits for this game already.", "ticket"),
        ("waiting_ended", "The player does not wait any more.", "state"),
        ("not_first", "A player who came earlier waits for the table; give a reason.", "ticket"),
        ("other_table", "The player waits for another table or game."),
        ("not_called", "The player was not called to the table."),
        ("not_the_dealer", "Another dealer has taken the table over."),
        ("dealer_elsewhere", "The dealer deals at another table."),
        ("dealer_differs", "The table has another dealer than the request names.", "dealer"),
        ("no_dealer", "No dealer has taken the table over."),
        ("no_device", "The seat has no device.", "seat"),
        ("seat_has_device", "Only the player's device can give the seat's seed.", "seat"),
        ("deal_prepared", "An electronic deal is prepared; deal it or abandon it.", "hand"),
        ("no_deal_prepared", "This deal is not prepared.", "hand"),
        ("seed_taken", "The seat has already given its seed.", "seat"),
        ("commitments_closed", "Seeds of the deal are revealed now; no seat can commit to one any more.", "hand"),
        ("commitments_open", "Seats can still commit to seeds of the deal; none is revealed yet.", "hand"),
        ("no_seed_commitment", "The seat has not committed to a seed of this deal.", "seat"),
        ("client_seeds_unrevealed", "Some seats have committed to a seed and not revealed it.", "seats hand"),
        ("deal_seats_changed", "The deal is prepared for other players.", "seats hand"),
        ("too_many_abandoned", "Too many prepared deals in a row were abandoned at the table.", "max"),
        ("client_seeds_missing", "Some seats have not given their seeds yet.", "seats hand"),
        ("carryover_open", "The carryover must be played for first.", "cukassza bank session_under_way"),
        ("closer_required", "The tray was not counted as a closer, or has changed since."),
        ("opener_required", "The tray was not counted as an opener since the table was closed."),
        ("session_under_way", "A session of several deals is under way.", "owed"),
        ("carry_without_players", "No player is left to take the carryover.", "cukassza"),
        ("too_few_players", "The game needs more players.", "min"),
        ("button_already_known", "The button is known already; only the first hand of a session names it.", "button"),
        ("no_cukassza", "This is possible only in a deal that begins with a cukassza.", "carry"),
        ("no_hand", "No hand is being played.", "state"),
        ("hand_in_play", "The hand is still being played."),
        ("hand_over", "The hand is over.", "state expected"),
        ("not_physical", "The house deals the hand and knows its cards.", "mode"),
        ("no_card_commitments", "The house did not deal the hand from a seed."),
        ("cards_exception_open", "Card exceptions of the table are open.", "exceptions"),
        ("already_cleared", "The exception has been cleared already."),
        ("correction_changes_play", "With these cards the hand would have been played differently."),
        ("pot_empty", "The disputed pot is empty; the hand can only be voided."),
        ("other_hand", "The hand at the table, or the disputed one, is another.", "hand"),
        ("hand_not_over", "No money of the hand has moved yet that a later ruling could put right.", "state"),
        ("not_seated", "Players whom the ruling concerns do not sit at the table.", "players"),
        ("no_bonus_held", "No bonus waits for an approval at the table.", "state"),
        ("bonus_differs", "The bonus that waits is of another hand, or of another amount.", "hand bonus"),
        ("bonus_refused", "A manager has refused to approve the bonus; the hand goes to a ruling.", "hand"),
        ("tray_too_small", "The tray cannot pay the bonuses of a hand.", "min tray"),
    ),
    *_codes(
        422,
        ("no_such_seat", "The seat does not exist, or is not dealt in.", "seats min max"),
        ("refund_too_high", "The hand has not paid so much tax that was not refunded.", "max tax"),
        ("stack_out_of_range", "The stack is outside the table's limits.", "min max"),
        ("seats_out_of_range", "The game cannot be played with this number of seats.", "min max"),
        ("min_stack_too_small", "The smallest stack does not cover what a hand can cost.", "min"),
        ("not_at_house_tables", "A table of the house must not have this value of the option.", "option refused"),
        ("no_seat_fee", "The table charges no seat fee.", "charge max_stack"),
        ("seed_differs", "The seed is not the one that the seat committed to.", "seat"),
        ("seed_malformed", "A seed is 1 to 64 visible ASCII characters."),
        ("must_be_last", "This action must be the last of its request.", "action"),
        ("commitment_needed", "The action needs a commitment."),
        ("cards_known_to_the_house", "The house knows the cards: name places, not cards.", "verb"),
        ("wrong_places", "These places are not accepted.", "count min max"),
        ("not_beside", "The verb can be used only on turn.", "verbs"),
        ("no_such_line", "The log has no such line.", "max"),
        ("no_card_line", "The line names no cards.", "verbs"),
        ("no_such_card", "The seat has no card of this index.", "actor cards"),
        ("no_such_entry", "No card was entered at this index."),
        ("card_known", "The card is known already.", "actor index"),
        (
            "card_entered_twice",
            "The card is already in another place; a card exception was stored.",
            "exception duplicate",
        ),
        ("cards_differ", "The cards are not those that were entered; a card exception was stored.", "exception"),
        (
            "deck_incomplete",
            "The pack is not complete; a card exception was stored.",
            "exception missing duplicate foreign",
        ),
        ("nothing_corrected", "The cards are already recorded like this."),
        ("awards_do_not_add_up", "Awards and tax do not add up to the pot.", "pot awarded tax"),
        ("tax_too_high", "The tax is higher than the table's tax on such a pot.", "max tax"),
    ),
)

#: Refusals about chips, drawers, transfers, counts and days.
MONEY = (
    *_codes(
        409,
        ("account_off", "The account is not in use in this house.", "account"),
        ("approval_required", "A second person must approve this first.", "approval"),
        ("approval_differs", "The approval is for something else.", "differs"),
        ("approval_requested", "The approval was not decided yet."),
        ("approval_approved", "The approval was given already."),
        ("approval_refused", "The approval was refused."),
        ("approval_used", "The approval was used."),
        ("approval_expired", "The time of the approval has run out."),
        ("approval_withdrawn", "The approval was withdrawn."),
        ("chip_set_in_use", "The chip set is in use."),
        ("chip_set_exists", "The house has a chip set of this code."),
        ("chip_set_withdrawn", "The chip set is withdrawn."),
        ("chip_set_not_withdrawn", "The chip set was not withdrawn."),
        ("chip_set_lapsed", "The chip set has lapsed."),
        ("chip_set_retired", "The chip set is retired."),
        ("chip_set_too_coarse", "The smallest chip of the set does not make the house's amounts.", "smallest"),
        ("chips_attributed", "The house owes chips of this set to known players.", "amount"),
        ("notice_runs", "The notice of the withdrawn chip set is not over.", "until"),
        ("vault_not_open", "The chips of the first set are not in the vault yet."),
        ("no_chip_set", "The house has no chip set."),
        ("vault_count_counting", "The vault is being counted.", "state"),
        ("vault_count_counted", "The vault was counted and differs from the books; a manager signs it off.", "state"),
        ("vault_count_accepted", "The count of the vault was accepted.", "state"),
        ("bag_in_use", "A bag of this number is on its way."),
        ("bag_arrived", "The bag has arrived.", "state"),
        ("bag_other_way", "The bag goes the other way: from the bank instead of to it, or to it instead of from it."),
        ("reference_used", "Another buy-in has this reference."),
        ("statement_used", "This line of the statement was entered before."),
        ("clearing_settled", "The money of the buy-in has come before."),
        ("clearing_differs", "The buy-ins are worth something else than the line of the statement.", "amount"),
        ("found_ended", "The found chips have left the register.", "state"),
        ("claims_run", "The owner of the found chips may still come.", "until"),
        ("payout_released", "The held payout was paid."),
        ("vault_open", "The vault has its capital and its chips already."),
        ("drawer_exists", "The house has a drawer of this code."),
        ("table_exists", "The house has a table of this code."),
        ("place_exists", "Another place of the house has this code."),
        ("tray_stocked", "The table's tray has had its first chips; fills bring it more."),
        (
            "no_exact_change",
            "The amount cannot be made of the chips that are available.",
            "amount available change short",
        ),
        ("chips_not_in_circulation", "These chips are not in circulation.", "available missing"),
        ("drawer_closed", "The drawer is closed."),
        ("drawer_retired", "The drawer was ended for ever."),
        ("drawer_open", "The drawer is open."),
        ("drawer_counted", "The drawer has been counted; nothing moves there."),
        ("drawer_recounted", "The drawer has been counted twice."),
        ("drawer_not_closed", "The shift has not ended."),
        ("nothing_to_reopen", "No shift has gone back to the vault last."),
        ("drawer_short", "The drawer does not hold enough."),
        ("skim_needed", "So much cash is in the drawer that it takes no more before it is skimmed."),
        ("already_corrected", "The entry has been corrected already."),
        ("identity_required", "It must be recorded who the player of so large an amount is.", "amount held_payouts"),
        ("count_agrees", "The count agrees with the books."),
        ("count_differs", "The count differs from the books."),
        ("no_float", "No float is offered to the drawer."),
        ("float_too_large", "So large a float or replenishment is not issued.", "amount"),
        ("handover_expired", "The float or replenishment was not taken in time."),
        ("handover_open", "A handover at the drawer is open."),
        ("handover_taken", "The handover was taken.", "state"),
        ("handover_withdrawn", "The handover was withdrawn.", "state"),
        ("handover_signed", "The handover is signed already."),
        ("handover_differs", "The count differs from what was offered."),
        ("signature_needed", "A manager must sign first."),
        ("drawer_has_open_work", "Something of the drawer is pending.", "open"),
        ("transfer_requested", "The transfer was requested and not sent yet.", "state"),
        ("transfer_sent", "The transfer was sent and not received yet.", "state"),
        ("transfer_received", "The transfer was received.", "state"),
        ("transfer_cancelled", "The transfer was cancelled.", "state"),
        ("transfer_declined", "The transfer was declined and waits for its sender to take it back.", "state"),
        ("count_mismatch", "The count differs from what was sent."),
        ("recount_needed", "A variance is accepted after two counts that differ."),
        ("supervisor_needed", "Counts have differed so often that a supervisor must count and decide."),
        ("carrier_differs", "Another person was named as the carrier before."),
        ("not_your_side", "Only the other end of the transfer may do this.", "kind"),
        ("tray_count_confirmed", "The count of the tray was confirmed.", "state"),
        ("tray_count_differed", "The witness has counted something else; count again.", "state"),
        ("tray_count_replaced", "A newer count of the tray has replaced this one.", "state"),
        ("tray_moved", "Chips of the tray have moved since the first count."),
        ("box_at_table", "The box is on its table.", "state"),
        ("box_taken", "The box was taken off its table and is not in the count room yet.", "state"),
        ("box_brought", "The box is in the count room and not counted yet.", "state"),
        ("box_counted", "The box was counted.", "state"),
        ("box_received", "The contents of the box were received.", "state"),
        ("box_in_use", "The box is on a table, or waits to be counted."),
        ("chip_move_waiting", "Somebody must still count the chips.", "state"),
        ("chip_move_differed", "The counts of the chips differed; begin again, or a manager decides.", "state"),
        ("chip_move_done", "The chips were counted and posted.", "state"),
        ("nothing_to_share", "No tips were counted that are not shared yet."),
        ("share_paid", "The share was paid."),
        ("house_not_live", "The house serves no guests in its stage.", "stage"),
        ("house_wrong_stage", "The house is not in a stage for this.", "stage"),
        ("house_not_ready", "The house lacks items of its checklist.", "missing"),
        ("house_changed", "The house is not as it was when the digest was read.", "digest"),
        ("house_not_empty", "Something of the house is still open, or in circulation.", "remaining"),
        ("sandbox_exists", "The house has a sandbox that is not closed."),
        ("signed_already", "The role has signed this already."),
        ("day_exists", "The gaming day exists already.", "day"),
        ("day_not_due", "Another gaming day is due by the clock of the house.", "expected"),
        ("currency_in_use", "The books are kept in the currency already.", "expected"),
        ("day_not_later", "The gaming day is not later than the newest one.", "last"),
        ("day_closed", "The gaming day is closed.", "day"),
        ("earlier_day_open", "An earlier gaming day is open.", "open"),
        (
            "day_blocked",
            "Hands of the day are not settled, drawers not closed, or transfers in transit.",
            "blocking",
        ),
        ("package_not_ready", "The package of the gaming day is not made yet.", "day"),
        ("package_signed", "The package of the gaming day is signed.", "day"),
        ("report_run_ended", "The run of the report has been made, has failed or was cancelled.", "state"),
        ("report_not_made", "The run of the report has no files.", "state"),
        ("report_other", "The run that is to be repeated is of another report, or has no moment yet.", "report"),
        ("package_differs", "The package of the gaming day has another SHA-256.", "day"),
    ),
    *_codes(
        422,
        ("amount_not_payable", "No chips of the house make this amount.", "amount smallest"),
        ("chip_set_not_a_ladder", "Each denomination must divide the next.", "denominations"),
        ("unknown_denomination", "The house has no chip of this denomination.", "unknown denominations"),
        ("pieces_not_a_count", "Numbers of pieces are whole numbers from 0.", "denominations"),
        ("no_counterfeits", "Neither counterfeit notes nor chips are named."),
        ("lowered_too_far", "The booking has not so much left to lower.", "max"),
        ("offset_too_large", "Cash and chips of the count do not cancel each other so far.", "max"),
        ("paid_too_much", "No house pays more than the face value of its chips.", "max"),
        ("chips_do_not_add_up", "The pieces are not worth the amount.", "amount value"),
        ("nothing_to_change", "Both sides of the exchange name the same chips.", "chips"),
        ("unknown_chip_set", "The house has no chip set of this code."),
        ("nothing_to_move", "No chips are named."),
        ("drawer_missing", "A drawer is named where withdrawn chips come from it, only."),
        ("notice_in_the_past", "The last day of the notice is past, or today."),
        ("observer_missing", "Surveillance attends a destruction; name the person."),
        ("unknown_observer", "Nobody of surveillance at work has this login, or nobody attends this."),
        ("nothing_to_send", "The transfer is empty."),
        ("limits_in_the_past", "Control points begin now or later.", "valid_from"),
        ("seal_missing", "A box is taken off with a seal; name its number."),
        ("seal_without_box", "The table has no such box to be sealed."),
        ("unknown_login", "The house has nobody with one of these logins.", "logins"),
        ("carrier_not_yet", "A transfer that is only asked for has no carrier yet."),
        ("carrier_missing", "Neither end has named the person who carries the chips."),
        ("unknown_carrier", "No member of staff at work has this login."),
        ("corrects_nothing", "What that count has counted was not in the vault when this one began."),
        ("nothing_offered", "Neither cash nor chips are offered."),
        ("unknown_time_zone", "There is no such time zone."),
        ("unknown_currency", "There is no such currency."),
        ("too_many_places", "The currency has fewer decimal places.", "max"),
        ("unknown_language", "There is no such language.", "unknown"),
        (
            "report_filter",
            "A filter of the report is unknown, missing, or has another kind of value.",
            "filter choices",
        ),
        ("report_group", "The report is not summed by this column.", "choices"),
        ("report_format", "The report has no such format.", "choices"),
        ("report_style", "Separator and decimal mark of a CSV file must differ."),
        ("day_too_early", "The gaming day is too far in the future."),
    ),
)

#: Refusals about people and the audit log.
PEOPLE = (
    *_codes(
        404,
        ("no_person", "No person has been recorded for this player."),
        ("tile_not_covered", "The newest checkpoint of the audit log does not cover the tile (yet).", "size"),
    ),
    *_codes(
        409,
        ("duty_done_today", "The person has worked on this gaming day in a role that a new one excludes.", "roles"),
        ("role_not_held", "The person does not have the role."),
        ("rota_overlap", "The person is on the rota at that time.", "rota_entry"),
        ("second_factor_set", "The person has a second factor; another person resets it."),
        ("second_factor_missing", "The person has begun no second factor."),
        ("player_exists", "The player is registered already.", "player"),
        ("too_many_tables", "The house has more tables than this is for.", "max"),
        ("player_linked", "Another member of staff is linked to this player."),
        ("staff_as_player", "The player works in this house, and so does not play in it.", "player"),
        ("player_seated", "The player sits at a table."),
        ("player_has_chips", "The player still has a balance with the house.", "accounts"),
        ("retention_not_over", "Personal data must be kept longer.", "last_activity until"),
        ("login_taken", "The login is taken.", "login"),
        ("terminal_exists", "A terminal with this code exists already.", "terminal"),
        ("own_terminal", "A terminal cannot revoke itself; use another one."),
        ("not_in_the_log_yet", "The sequencer has not added the event to the log yet."),
        ("log_not_begun", "The log has no checkpoint yet."),
        ("log_key_wrong", "The log is under another signing key than those that are configured."),
        ("log_rotation_pending", "No checkpoint was made since the last rotation of the log's key."),
        ("log_healthy", "The log is healthy and needs no new epoch."),
    ),
    *_codes(422, ("rota_times", "An entry of the rota ends after it starts, at most 16 hours later.")),
)

#: Refusals of the rules engine (`engine/errors.py`).
ENGINE = _codes(
    422,
    ("unknown_game", "No game has this name.", "expected"),
    ("unknown_rules", "No version of any game's rules has this id.", "expected"),
    ("malformed_setup", "Seats, stacks, carry or dealer contradict each other.", "expected"),
    ("stack_too_short", "A seat cannot cover its forced payments.", "expected min player seat"),
    ("search_too_large", "The search would exceed its limit of positions.", "expected"),
    ("unknown_option", "The game has no such option.", "expected"),
    ("option_missing", "The table must set this option.", "expected option must_set"),
    ("option_out_of_range", "The option cannot have this value.", "expected"),
    ("unsupported_variant", "This variant is not supported.", "expected"),
    ("card_not_in_pack", "The pack has no such card.", "expected exception foreign"),
    ("card_already_dealt", "The card is already in another place.", "expected exception"),
    ("card_not_from_deck", "The card is not the next of the known deck.", "expected exception"),
    ("deck_missing", "The cards must be shuffled again first.", "expected exception"),
    ("card_unknown", "A card must be named here.", "expected exception"),
    ("card_mismatch", "The cards shown are not the cards dealt.", "expected exception"),
    ("malformed_action", "The action does not fit the game's grammar.", "expected"),
    ("hand_is_over", "Nothing may follow the end of a hand.", "expected"),
    ("not_your_turn", "Another actor is to act.", "expected"),
    ("verb_not_legal", "The actor may not use this verb now.", "expected"),
    ("amount_out_of_range", "The amount is too small, too large or off the step.", "expected params"),
    ("wrong_target", "The action names the wrong seat.", "expected"),
    ("wrong_count", "The number of cards is wrong.", "expected"),
    ("unreadable_record", "The record is not a JSON object.", "expected"),
    ("unknown_version", "The version of the record's format is unknown.", "expected"),
    ("malformed_record", "The object is not a `chr/1` record.", "expected"),
    ("commit_mismatch", "The seed does not open the commitment.", "expected"),
    ("deck_mismatch", "The deck differs from the one that the seeds produce.", "expected"),
    ("root_mismatch", "The root does not belong to these cards.", "expected"),
    ("malformed_opening", "The object is not the opening of a card.", "expected"),
    ("opening_mismatch", "The opening does not lead to the root.", "expected"),
    ("log_incomplete", "The log ends before the end of the hand.", "expected"),
    ("derived_mismatch", "A stored result differs from the one that the log produces.", "expected"),
)

#: Refusals of the ledger (`ledger/errors.py`).
LEDGER = _codes(
    409,
    ("not_atomic", "The ledger was called outside a transaction.", "params"),
    ("book_busy", "A lock was not free in time; try again.", "params"),
    ("unbalanced", "The legs do not sum to zero.", "params"),
    ("too_few_legs", "A transaction takes at least two accounts.", "params"),
    ("zero_amount", "A leg moves nothing.", "params"),
    ("insufficient_funds", "An account would fall below its floor.", "account available required"),
    ("unbacked", "One commodity would no longer be backed by the other.", "params"),
    ("period_not_open", "No gaming day is open for the posting.", "params"),
    ("invalid_posting", "The posting cannot be stored.", "params"),
    ("unknown_account", "The book has no such account.", "params"),
    ("account_closed", "The account is closed.", "params"),
    ("account_differs", "The account is open with other attributes.", "params"),
    ("account_not_empty", "Only an empty account can be closed.", "params"),
    ("account_has_lanes", "The account has lanes; name one of them.", "params"),
    ("balance_differs", "The account's balance differs from the asserted one.", "params"),
    ("unknown_hold", "The book has no such hold.", "params"),
    ("hold_ended", "The hold was posted, voided or has expired.", "params"),
    ("key_reused", "The posting's key was used for another posting.", "params"),
    ("unknown_transaction", "The book has no such transaction.", "params"),
    ("already_reversed", "The transaction was reversed before.", "params"),
    ("cannot_reverse_reversal", "A reversal is final.", "params"),
    ("not_a_mirror", "The legs are not the original's with opposite signs.", "params"),
    ("immutable", "Entries never change.", "params"),
    ("broken_chain", "The entry does not continue its account's chain.", "params"),
    ("time_reversed", "The posting's time runs backwards.", "params"),
    ("unknown_book", "The book has no accounts.", "params"),
    ("invalid_export", "The option of the export is invalid.", "params"),
)

#: Every code by its name.
ERROR_CODES: Mapping[str, ErrorCode] = {one.code: one for one in (*HTTP, *TABLES, *MONEY, *PEOPLE, *ENGINE, *LEDGER)}


def of(codes: Sequence[str]) -> tuple[ErrorCode, ...]:
    """These codes, in the order of the table. Raises KeyError for one that is not registered."""
    wanted = {ERROR_CODES[code].code for code in codes}
    return tuple(one for one in ERROR_CODES.values() if one.code in wanted)


def rows() -> Iterator[tuple[str, int, str, str]]:
    """Code, HTTP status, meaning and members of every error, for the reference page of errors."""
    for one in ERROR_CODES.values():
        yield one.code, one.status, one.meaning, one.expected
