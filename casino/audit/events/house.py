"""The house as a whole: its founding, its days and snapshots, its capital and duty, what its checks find."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from casino.audit.events.declared import Mark
from casino.audit.events.fields import Amount, Approver, JsonObject, LedgerTransaction, Reason
from casino.audit.events.registry import ApprovedEvent, AuditEvent, event

Day = Annotated[str, "date of the gaming day, ISO 8601"]
Check = Annotated[str, "`custody`: chips against money; `snapshot`: a snapshot against the entries"]


@event("house.founded", chain="house")
class HouseFounded(AuditEvent):
    """The house was founded."""

    name: Annotated[str, "name of the house"]
    currency: Annotated[str, "ISO 4217 code; every amount of the house is in its minor units"]
    currency_exponent: Annotated[int | None, "decimal places of the currency; 0 if absent"] = None
    time_zone: Annotated[str | None, "IANA name of the time zone; UTC where it is absent"] = None
    second_factor_required: Annotated[
        bool | None, "whether people with privileged roles act with a second factor only; absent: not"
    ] = None
    sandbox: Annotated[
        bool | None, "whether it is for tests and rehearsals, plays at once and never goes live; absent: not"
    ] = None
    seal_key: Annotated[str, "names the seal key under which the house's first data key is wrapped"]


@event("house.identity_changed", chain="house")
class IdentityChanged(ApprovedEvent):
    """Parts of who the house is were changed. Name, currency and exponent count at once, time zone and cut-off from
    the next gaming day on."""

    number: Annotated[int, "number of this version of the identity, from 1"]
    identity: Annotated[
        JsonObject,
        "every part: `name`, `legal_name`, `tax_id`, `licence_number`, `address`, `legal_profile`, `languages`, "
        "`currency`, `currency_exponent`, `time_zone`, `day_cut_off`",
    ]
    reason: Reason


@event("house.rules_set", chain="house")
class HouseRulesSet(ApprovedEvent):
    """The rules of the house, as guests read them, were set; they are in force from then on."""

    number: Annotated[int, "number of this version of the rules, from 1"]
    texts: Annotated[Mapping[str, str], "the whole text by language (ISO 639-1)"]
    reason: Reason


@event("house.rehearsal_requested", chain="house")
class RehearsalRequested(AuditEvent):
    """Somebody asked for a rehearsal."""

    rehearsal: Annotated[int, "number of the rehearsal, from 1"]


@event("house.rehearsal_failed", chain="house")
class RehearsalFailed(AuditEvent):
    """A rehearsal could not be played to its end; it counts for nothing."""

    rehearsal: Annotated[int, "number of the rehearsal, from 1"]
    failure: Annotated[str, "stable code of why"]


@event("house.rehearsal_cancelled", chain="house")
class RehearsalCancelled(AuditEvent):
    """Somebody cancelled a rehearsal that was not played yet."""

    rehearsal: Annotated[int, "number of the rehearsal, from 1"]


@event("house.rehearsed", chain="house")
class HouseRehearsed(AuditEvent):
    """An evening was played in a sandbox copy of the house."""

    rehearsal: Annotated[int, "number of the rehearsal, from 1"]
    sandbox: Annotated[str, "code of the sandbox house"]
    configuration: Annotated[str, "SHA-256 of the configuration that was copied"]
    passed: Annotated[bool, "whether every item passed"]
    items: Annotated[Sequence[JsonObject], "`item`, and `failed` (what went wrong) where it did not pass"]
    verified: Annotated[Mapping[str, int], "what the verification of the copy went through: numbers by name"]


@event("house.go_live_signed", chain="house")
class GoLiveSigned(AuditEvent):
    """One of three people signed that the house is ready to go live. Signatures under another digest are void."""

    signature: Annotated[int, "number of the signature, from 1"]
    role: Annotated[str, "the role in which the person signs"]
    digest: Annotated[str, "SHA-256 of what was signed"]
    void: Annotated[Sequence[str] | None, "roles whose signatures are void now; absent if there are none"] = None


@event("house.went_live", chain="house")
class HouseWentLive(AuditEvent):
    """The third of three people signed, and the house is open to guests."""

    signature: Annotated[int, "number of the third signature"]
    role: Annotated[str, "the role in which the person signs"]
    digest: Annotated[str, "SHA-256 of `signed`, which the three signed"]
    signers: Annotated[Mapping[str, str], "login of the person who signed, by role"]
    rehearsal: Annotated[int, "number of the rehearsal that the house has passed"]
    signed: Annotated[JsonObject, "what was signed: the `configuration` and the `figures`"]


@event("house.suspended", chain="house")
class HouseSuspended(ApprovedEvent):
    """The house was suspended: no play, no sale of chips; what is owed is paid out."""

    reason: Reason


@event("house.resumed", chain="house")
class HouseResumed(ApprovedEvent):
    """A suspended house was opened again."""

    reason: Reason


@event("house.closed", chain="house")
class HouseClosed(ApprovedEvent):
    """The house was closed for ever."""

    remaining: Annotated[Sequence[str] | None, "codes of what was left open; absent if there was nothing"] = None
    reason: Reason


@event("house.sandbox_reset", chain="house")
class SandboxReset(AuditEvent):
    """The sandbox was closed for ever, and the next one was founded as a clean copy of it."""

    successor: Annotated[str, "code of the next sandbox"]
    remaining: Annotated[Sequence[str] | None, "codes of what was left open; absent if there was nothing"] = None
    reason: Reason


@event("house.seal_key_rotated", chain="house")
class SealKeyRotated(AuditEvent):
    """Two people had the data keys of the house wrapped under another seal key, and a new data key begun."""

    old_key: Annotated[str, "names the old seal key"]
    new_key: Annotated[str, "names the new seal key"]
    wrapped_count: Annotated[int, "number of data keys that were wrapped again"]
    data_key: Annotated[int, "number of the new data key"]
    reason: Reason
    approver: Approver


@event("day.opened", chain="house")
class DayOpened(AuditEvent):
    """A gaming day was opened; from now on it takes the postings."""

    day: Day


@event("day.closed", chain="house")
class DayClosed(ApprovedEvent):
    """A gaming day was closed by a manager, and a cage supervisor has approved it."""

    day: Day
    snapshot: Annotated[str | None, "name of the closing snapshot"] = None
    totals: Annotated[JsonObject, "`debit` and `credit` of the closing snapshot by commodity"]
    carried: Annotated[
        JsonObject,
        "what goes over into the next day, by name: `balances` of cukassza, bank and carry held by table (minor "
        "units), `boxes` not received, open `tables`, `handovers` that nobody has taken, `found_chips`, "
        "`held_payouts`, `noncash_buy_ins` that are not settled, requested `transfers`, open `holds` and `approvals`, "
        "`chip_moves`, `tray_counts` and `vault_counts` that wait for others, `bank_bags` in transit, `tronc_shares` "
        "that are not paid",
    ]
    package: Annotated[str, "`coming`: the package of the day is made next"]


@event("day.packaged", chain="house")
class DayPackaged(AuditEvent):
    """The package of a closed gaming day was made; it never changes. Its first signer is the manager who closed the
    day."""

    day: Day
    sha256: Annotated[str, "SHA-256 of the package, hexadecimal"]
    size: Annotated[int, "bytes of the package"]
    checkpoint: Annotated[
        JsonObject | None, Mark.NULL, "`epoch`, `size` and `root` of the newest checkpoint that was known; null: none"
    ]


@event("day.package_signed", chain="house")
class DayPackageSigned(AuditEvent):
    """An auditor signed the package of a gaming day."""

    day: Day
    sha256: Annotated[str, "SHA-256 of the package, hexadecimal"]


ForMonth = Annotated[str | None, "the month on whose take it falls, `2026-11`, where it was named"]


@event("house.duty", chain="house")
class DutyDue(ApprovedEvent):
    """Gaming duty on the house's take fell due."""

    amount: Amount
    posting: LedgerTransaction
    reason: Reason
    for_month: ForMonth = None
    due_on: Annotated[str | None, "the day until which it has to be paid, `2026-12-20`, where it was named"] = None


@event("house.duty_rates_set", chain="house")
class DutyRatesSet(ApprovedEvent):
    """The gaming duty by law was stated, from a month on."""

    number: Annotated[int, "number of this version of the rates, from 1"]
    valid_from: Annotated[str, "the first month to which it applies, `2026-11`; none on which duty was booked"]
    tax_code: Annotated[str, "what the authority calls the duty"]
    base: Annotated[str, "on what it falls: `take` or `stakes`"]
    deductions: Annotated[
        Sequence[JsonObject], "what is taken off each month: `name`, and `amount` (minor units) or `figure` of A5"
    ]
    bands: Annotated[
        Sequence[JsonObject], "`above` how much (minor units) at what `rate` (hundredths of a percent), in their order"
    ]
    reason: Reason


@event("house.duty_paid", chain="house")
class DutyPaid(ApprovedEvent):
    """Gaming duty was paid from the bank."""

    amount: Amount
    return_number: Annotated[str, "number of the return"]
    posting: LedgerTransaction
    for_month: ForMonth = None


@event("house.duty_lowered", chain="house")
class DutyLowered(ApprovedEvent):
    """A booking of gaming duty was too high."""

    entry: Annotated[int, "number of the booking in the house's chain"]
    amount: Annotated[int, "what was taken back of it, minor units"]
    posting: LedgerTransaction
    reason: Reason


@event("capital.paid_in", chain="house")
class CapitalPaidIn(ApprovedEvent):
    """The owners have paid capital in; approved once the house is live."""

    amount: Amount
    by: Annotated[str, "`cash`: into the vault; `bank`: into the house's account"]
    note: Annotated[str, "number of the receipt, or of the bank's note"]
    posting: LedgerTransaction


@event("capital.paid_out", chain="house")
class CapitalPaidOut(ApprovedEvent):
    """Capital was paid out to the owners."""

    amount: Amount
    by: Annotated[str, "`cash`: from the vault; `bank`: from the house's account"]
    note: Annotated[str, "number of the receipt, or of the bank's note"]
    posting: LedgerTransaction
    cover: Annotated[
        Mapping[str, int],
        "what was left, minor units: `cash`, `owed` to players, and the worth of the `trays`; cash covers the others",
    ]


@event("snapshot.taken", chain="house")
class SnapshotTaken(AuditEvent):
    """The clock wrote down what every account held."""

    snapshot: Annotated[str, "name of the snapshot: `daily` and the date (UTC)"]


@event("holds.expired", chain="house")
class HoldsExpired(AuditEvent):
    """Some holds have expired and no longer reserve anything."""

    hold_count: Annotated[int, "number of holds"]
    holds: Annotated[
        Sequence[str] | None,
        "keys of the holds, `fill:` or `cash_out:` and the number of what they were for; absent in older events",
    ] = None


@event("imbalance.found", chain="house")
class ImbalanceFound(AuditEvent):
    """A continuous check found an error that is possible only if the database's guards were bypassed."""

    check: Check
    after: Annotated[JsonObject, "what the check found"]
    before: Annotated[JsonObject | None, "its earlier finding, if that was different"] = None


@event("imbalance.cleared", chain="house")
class ImbalanceCleared(AuditEvent):
    """A continuous check found that an earlier error is corrected."""

    check: Check
    before: Annotated[JsonObject, "what it had found"]


@event("catalogue.changed", chain="house")
class CatalogueChanged(AuditEvent):
    """The database's catalogue (functions, triggers, constraints, rights and all other objects) is not the one recorded
    before: after a migration, in a new house, or because somebody changed it."""

    before: Annotated[str | None, "digest recorded before; absent in the first event of a house"] = None
    digest: Annotated[str, "SHA-256 of the lines `DIGEST  OBJECT` of all objects, sorted, hexadecimal"]
    object_count: Annotated[int, "number of objects"]
    difference_count: Annotated[int, "number of objects that are not as the migrations of the code make them"]
    differences: Annotated[Sequence[str] | None, "names of those objects, 100 at most; absent if there are none"] = None
