"""The copy of what a house holds on one player (Regulation (EU) 2016/679, Art. 15 and 20): one file, made at once for
compliance, which hands it out, and kept nowhere.

It names no other person, and nobody of the staff. What is left out is the same for every player and stands in the file
with its reason: so nobody can tell from a copy whether compliance has a note about a player.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from casino.cage.announced_models import AnnouncedCashOut
from casino.cage.models import HeldPayout, NonCashBuyIn
from casino.evidence import complaints
from casino.evidence.forgetting import days_kept
from casino.evidence.models import Complaint, ComplaintState
from casino.hands.models import Hand
from casino.houses import control_points
from casino.houses.models import House
from casino.players import persons
from casino.players.models import Person, Player
from casino.reports import at_once
from casino.reports.catalogue.a16_player_statement import PROTECTION
from casino.reports.catalogue.a16_player_statement import REPORT as STATEMENT
from casino.reports.frame.columns import Row, Type, count, day, flag, money, ref, text, time
from casino.reports.frame.reading import stream
from casino.reports.frame.report import Equality, Format, Report, Results, Retention, Scope, Section, Sensitivity
from casino.safeguards import exclusions, interactions, minors, standing
from casino.safeguards.models import Admission, AskedBy, Exclusion, Interaction, Minor, PlayerLimit, RealityCheck
from casino.staff.models import Role
from casino.tables.models import SeatDevice, Seating, WaitingEntry
from casino.transfers.late_models import LateClaim

#: What is never in a copy, and why.
LEFT_OUT = (
    (
        "entries of compliance under the rules on money laundering",
        "Whether there are any or not, nothing of them is disclosed: Directive (EU) 2015/849, Art. 39 and 41(4); "
        "Regulation (EU) 2024/1624, Art. 73.",
    ),
    ("legal holds, and who has read the player's data", "For the same reason, whether there are any or not."),
    ("why a payout was held", "For the same reason. That it was held, and how much, is in the copy."),
    (
        "what others have said about the player: notes on exclusions that the player has not asked for, complaints of "
        "others, steps of a complaint that were not addressed to the player",
        "Rights of others: Regulation (EU) 2016/679, Art. 15(4).",
    ),
    ("other players and the staff, by name or reference", "Rights of others, likewise."),
    ("cards of others and cards that were not shown", "Rights of others, likewise; the player's own hands are named."),
    ("marks by which an exclusion is found again", "They can be read by nobody; that there is an exclusion is said."),
    (
        "cash and chips of who was not named",
        "The house does not know whose they were.",
    ),
    ("pictures of the video recorder, backups", "The recorder is another system; backups hold the same as this copy."),
)
#: The first word of the events that are receipts of what a player has done, or was done with the player.
RECEIPTS = ("cage", "chips", "exclusion", "minor", "payout", "player", "table", "waiting", "complaint", "seat")
_PERSON_EVENTS = """
SELECT chain.name, event.seq, event.doc ->> 'kind', event.doc ->> 'at', event.leaf_hash
FROM audit_event event JOIN audit_chainhead chain ON chain.id = event.chain_id
WHERE event.house_id = %s AND event.id <= %s AND event.doc -> 'data' ->> 'player' = %s
AND split_part(event.doc ->> 'kind', '.', 1) = ANY(%s) ORDER BY event.id
"""
#: Of the statement what is not among the player's own sections already.
_MOVEMENTS = tuple(one for one in STATEMENT.sections if one.name != PROTECTION)
_TO_THE_PLAYER = (ComplaintState.OPEN, ComplaintState.ANSWERED)


def make(house: House, ref: str, asked: at_once.Asked) -> tuple[bytes, str]:
    """The copy for the player of this reference as it is asked for, and its SHA-256. Raises NotFound, Busy,
    SealKeyWrong."""
    player = persons.get(house, ref)
    return at_once.make(house, _report(house, player), {"player": player.ref}, asked)


def _report(house: House, player: Player) -> Report:
    own = _Own(house, player)

    def equalities(scope: Scope, results: Results) -> Iterator[Equality]:
        yield from STATEMENT.equalities(scope, results)
        records = Person.objects.filter(player=player).count() if own.is_readable() else 0
        shown = len(persons.versions(house, player))
        yield Equality("records of the person = records shown", records, shown, Type.COUNT)

    return Report(
        id="personal-data",
        number="A16+P3",
        version=1,
        title="Copy of personal data",
        text="Everything that the house holds on one player, but for what is named as left out.",
        roles=(Role.COMPLIANCE,),
        sections=(*own.sections(), *_MOVEMENTS, own.receipts()),
        equalities=equalities,
        sensitivity=Sensitivity.PERSONS,
        retention=Retention.LAUNDERING,
        formats=(Format.JSON, Format.PDF),
    )


class _Own:
    """What a house holds on one player, section by section."""

    def __init__(self, house: House, player: Player) -> None:
        self._house, self._player = house, player
        self._of = {"house": house, "player": player}

    def is_readable(self) -> bool:
        """Whether it can be read who the player is."""
        return persons.recorded_now(self._house, self._player) is not None

    def sections(self) -> tuple[Section, ...]:
        """All but accounts, statement and receipts."""
        return (
            Section("player", "Player", (
                ref("player", "Reference"), time("registered_at", "Registered at"), text("person", "Person"),
            ), self._who),
            Section("person", "Person as recorded", (
                count("version", "Version", total=False), time("at", "Recorded at"), text("field", "Field"),
                text("value", "Value"),
            ), self._person),
            Section("use", "What it is used for", (text("about", "About"), text("what", "What")), self._use),
            Section(
                "left_out", "What is left out", (text("what", "What"), text("why", "Why")), lambda scope: LEFT_OUT,
            ),
            Section("admissions", "Admissions", (
                day("day", "Gaming day"), text("document", "Document seen"), text("age_band", "Age"),
                time("at", "At"),
            ), self._admissions),
            Section("limits", "Limits", (
                count("number", "No.", total=False), text("limit", "Limit"), text("span", "Span"),
                money("amount", "Amount", total=False), count("minutes", "Minutes", total=False),
                time("set_at", "Set at"), time("starts_at", "Counts from"),
            ), self._limits),
            Section("exclusions", "Exclusions", (
                count("exclusion", "No.", total=False), text("kind", "Kind"), text("scope", "Scope"),
                text("asked_by", "Asked by"), flag("in_person", "In person"), time("set_at", "From"),
                time("until", "Until"), time("lift_asked_at", "End asked for"), time("lifted_at", "Lifted at"),
                flag("in_force", "In force"), text("note", "Said"),
            ), self._exclusions),
            Section("minors", "Recorded as a minor", (
                count("minor", "No.", total=False), time("at", "At"), count("least_age", "Age of the law", total=False),
                text("born", "Birthday"), text("state", "State"), money("refund", "Given back", total=False),
                money("kept", "Winnings kept", total=False), time("ended_at", "Ended at"),
                time("remitted_at", "Winnings remitted at"),
            ), self._minors),
            Section("interactions", "Interactions", (
                count("number", "No.", total=False), text("interaction", "What"), time("at", "At"),
                text("note", "Said"),
            ), self._interactions),
            Section("reality_checks", "Reality checks", (
                count("number", "No.", total=False), time("at", "At"), text("table", "Table"),
                count("seat", "Seat", total=False), count("minutes", "Minutes", total=False),
            ), self._reality_checks),
            Section("complaints", "Complaints", (
                count("number", "No.", total=False), text("kind", "Kind"), time("received_at", "Received at"),
                time("due_at", "Answer due"), text("state", "State"), text("outcome", "Outcome"), text("adr", "Body"),
                text("step", "Step"), text("text", "Text"),
            ), self._complaints),
            Section("sessions", "Sessions", (
                ref("table", "Table"), count("session", "Session", total=False), count("seat", "Seat", total=False),
                time("sat_at", "Sat down"), time("left_at", "Left"),
            ), self._sessions),
            Section("devices", "Devices at seats", (
                ref("table", "Table"), count("session", "Session", total=False), count("seat", "Seat", total=False),
                ref("device", "Hash of the device's mark"), time("named_at", "Named at"),
            ), self._devices),
            Section("waiting", "Waiting list", (
                count("number", "No.", total=False), text("game", "Game"), text("state", "State"),
                time("added_at", "Added"), time("ended_at", "Ended"),
            ), self._waiting),
            Section("hands", "Hands", (
                ref("hand", "Hand"), text("game", "Game"), count("seat", "Seat", total=False), text("state", "State"),
                time("started_at", "Begun"), time("ended_at", "Ended"),
            ), self._hands),
            Section("payments", "Payments that waited, by card or transfer, or late", (
                text("kind", "Kind"), count("number", "No.", total=False), ref("place", "Place"),
                money("amount", "Amount", total=False), text("state", "State"), text("reference", "Reference"),
                time("at", "At"), time("ended_at", "Ended"),
            ), self._payments),
        )  # fmt: skip

    def receipts(self) -> Section:
        """Every event that is a receipt of the player's, by which it can be proved."""
        columns = (
            ref("chain", "Chain"), count("seq", "No.", total=False), text("kind", "What"), time("at", "At"),
            text("hash", "Hash"),
        )  # fmt: skip
        return Section("receipts", "Receipts", columns, self._receipts, proof=("chain", "seq", "hash"))

    def _who(self, scope: Scope) -> Iterator[Row]:
        recorded = Person.objects.filter(player=self._player).exists()
        person = "never recorded" if not recorded else "recorded" if self.is_readable() else "forgotten"
        yield self._player.ref, self._player.registered_at, person

    def _person(self, scope: Scope) -> Iterator[Row]:
        for one in persons.versions(self._house, self._player):
            for field, value in sorted(one["person"].items()):
                yield one["version"], one["at"], field, value

    def _use(self, scope: Scope) -> Iterator[Row]:
        points = control_points.in_force(self._house)
        yield "purposes", "Running the games and the cage; the law on money laundering; the protection of players."
        yield "sources", "The player; staff who saw it; for exclusions also courts, authorities and registers."
        yield "recipients", "Authorities and courts where the law demands it. Nobody else."
        yield "kept: who the player is", f"{days_kept(points)} days after the player was last seen, then the key goes."
        yield "kept: books", f"{points.retain_books_days} days; ledger and trail have the reference only, for ever."
        yield "decisions by machine", "None but refusals by the player's own limits, or by an exclusion."
        yield "rights", "Correction; erasure when nothing keeps the data; complaint to the data protection authority."

    def _admissions(self, scope: Scope) -> Iterator[Row]:
        for one in Admission.objects.filter(**self._of).order_by("pk"):
            yield one.day, one.document, one.age_band, one.seen_at

    def _limits(self, scope: Scope) -> Iterator[Row]:
        for one in PlayerLimit.objects.filter(**self._of).order_by("number"):
            minutes, amount = (one.most, None) if one.kind == "time" else (None, one.most)
            yield one.number, one.kind, one.span, amount, minutes, one.set_at, one.starts_at

    def _exclusions(self, scope: Scope) -> Iterator[Row]:
        in_force = set(standing.in_force(self._house, self._player).values_list("pk", flat=True))
        own = Exclusion.objects.filter(**self._of)
        matched = Exclusion.objects.filter(pk__in=in_force)
        for one in (own | matched).order_by("number"):
            one.house = self._house
            said = exclusions.note_of(one) if one.asked_by == AskedBy.PLAYER and one.player_id else ""
            yield (
                one.number, one.kind, one.scope, one.asked_by, one.in_person, one.set_at, one.until, one.lift_asked_at,
                one.lifted_at, one.pk in in_force, said,
            )  # fmt: skip

    def _minors(self, scope: Scope) -> Iterator[Row]:
        for one in Minor.objects.filter(**self._of).select_related("remittance").order_by("number"):
            one.house = self._house
            yield (
                one.number, one.recorded_at, one.least_age, minors.said_of(one)["born"], one.state, one.refund,
                one.kept, one.ended_at, one.remittance.remitted_at if one.remittance else None,
            )  # fmt: skip

    def _interactions(self, scope: Scope) -> Iterator[Row]:
        for one in Interaction.objects.filter(**self._of).order_by("number"):
            one.house = self._house
            yield one.number, one.kind, one.at, interactions.note_of(one)

    def _reality_checks(self, scope: Scope) -> Iterator[Row]:
        for one in RealityCheck.objects.filter(**self._of).order_by("number"):
            yield one.number, one.raised_at, one.table, one.seat, one.minutes

    def _complaints(self, scope: Scope) -> Iterator[Row]:
        for one in Complaint.objects.filter(**self._of).order_by("number"):
            said = [(step, words) for step, words in complaints.texts(one).items() if step in _TO_THE_PLAYER]
            for step, words in said:
                yield (
                    one.number, one.kind, one.arrived_at, one.due_at, one.state, one.outcome, one.adr, step, words,
                )  # fmt: skip

    def _sessions(self, scope: Scope) -> Iterator[Row]:
        rows = Seating.objects.filter(**self._of).select_related("session__table").order_by("pk")
        for one in rows.iterator():
            yield one.session.table.code, one.session.number, one.seat, one.sat_at, one.left_at

    def _devices(self, scope: Scope) -> Iterator[Row]:
        rows = SeatDevice.objects.filter(house=self._house, seating__house=self._house, seating__player=self._player)
        for one in rows.select_related("seating__session__table").order_by("pk").iterator():
            session = one.seating.session
            yield session.table.code, session.number, one.seating.seat, one.mark, one.named_at

    def _waiting(self, scope: Scope) -> Iterator[Row]:
        for one in WaitingEntry.objects.filter(**self._of).order_by("number"):
            yield one.number, one.game, one.state, one.added_at, one.ended_at

    def _hands(self, scope: Scope) -> Iterator[Row]:
        dealt = Hand.objects.filter(house=self._house, seats__contains=[{"player": self._player.ref}])
        for one in dealt.only("name", "game", "seats", "state", "started_at", "ended_at").order_by("pk").iterator():
            [seat] = [seat["seat"] for seat in one.seats if seat["player"] == self._player.ref]
            yield one.name, one.game, seat, one.state, one.started_at, one.ended_at

    def _payments(self, scope: Scope) -> Iterator[Row]:
        for held in HeldPayout.objects.filter(**self._of).select_related("drawer").order_by("number"):
            yield (
                "held payout", held.number, held.drawer.code if held.drawer else "", held.amount, held.state, held.note,
                held.held_at, held.ended_at,
            )  # fmt: skip
        for bought in NonCashBuyIn.objects.filter(**self._of).select_related("drawer").order_by("number"):
            yield (
                f"buy-in by {bought.means}", bought.number, bought.drawer.code, bought.amount, bought.state,
                bought.reference, bought.sold_at, bought.ended_at,
            )  # fmt: skip
        for asked in AnnouncedCashOut.objects.filter(**self._of).select_related("drawer").order_by("number"):
            yield (
                "announced cash-out", asked.number, asked.drawer.code, asked.amount, asked.state, "",
                asked.announced_at, asked.ended_at,
            )  # fmt: skip
        for late in LateClaim.objects.filter(**self._of).select_related("drawer").order_by("number"):
            yield "late claim", late.number, late.drawer.code, late.amount, "paid", "", late.paid_at, late.paid_at

    def _receipts(self, scope: Scope) -> Iterator[Row]:
        wanted: list[Any] = [self._house.id, scope.as_of.event, self._player.ref, list(RECEIPTS)]
        for chain, seq, kind, at, leaf in stream(_PERSON_EVENTS, wanted):
            yield chain, seq, kind, datetime.fromisoformat(at), leaf
