"""The person behind a reference: sealed when recorded, and forgotten by destroying the key.

Hands, ledger and audit trail know the reference only. The version of a player's person is 1 as long as no person has
been recorded, and one more with every record; the newest counts, the older ones stay as long as the key does.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from casino.audit.events import AuditEvent
from casino.audit.events.players import PersonRecorded
from casino.core import aead, commands, locks, sql, write
from casino.core.commands import Answer, Command, RequestContext
from casino.core.errors import Gone, NotFound, WrongTerminal
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.players import sealing
from casino.players.models import Person, PersonKey, Player
from casino.staff import as_player
from casino.staff.models import TerminalKind

NOT_YET = 1
#: Where a player has what was read of the person under the lock: the newest record, and whether there is a key.
_READ = "_read_under_the_lock"


def record_person(
    *, command: Command, ref: str, person: dict[str, str], reason: str,
    subject: "PersonOf | None" = None, also: Callable[[Player, Work], None] = lambda player, work: None,
) -> Answer:  # fmt: skip
    """Record who a player is, or record it again. `reason` is one of a few words, never free text: the audit trail
    keeps it, and of the person nothing but the names of the fields and the hash of what was sealed. `also` is done in
    the same transaction, before the event, under the lock of `subject`.

    Raises NotFound, VersionConflict, WrongTerminal at a table, Gone for a person who has been forgotten.
    """

    def change(player: Player, work: Work) -> Outcome:
        house, newest = work.house, _newest(player)
        current = newest.version if newest else NOT_YET
        command.require_version(current)
        version = current + 1
        sealed = sealing.seal(person, _key(player, house, begin=newest is None), house.id, ref, version)
        digest = hashlib.sha256(sealed).hexdigest()
        Person.objects.create(house=house, player=player, version=version, sealed=sealed, sealed_sha256=digest)
        also(player, work)
        fields = sorted(person)
        event = PersonRecorded(player=ref, version=version, sealed_sha256=digest, fields=fields, reason=reason)
        return Outcome(event, {"player": ref, "version": version, "recorded": fields}, 201, version=version)

    return write.write(command, subject or PersonOf(ref), change)


@dataclass(frozen=True, slots=True)
class PersonOf:
    """The person behind the player of this reference, as the subject of a write; `before` is locked first."""

    ref: str
    before: Callable[[UUID], None] = lambda house: None

    def open(self, command: Command) -> Player:
        """Keep others from recording or forgetting the person. Raises NotFound, WrongTerminal."""
        require_away_from_tables(command.context)
        house = command.context.house
        self.before(house.id)
        player, [stored] = lock_beside(house, self.ref, commands.stored_under(command))
        commands.require_none_stored(stored)
        player.house = command.context.house
        return player

    def chain(self, player: Player) -> str:
        """The house's."""
        return player.house.chain

    def advance(self, player: Player, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """The version of the record that was added."""
        return outcome.version, outcome.event

    def answer(self, player: Player, outcome: Outcome) -> Mapping[str, Any]:
        """The recorded fields, by name."""
        return outcome.body


def read_person(*, context: RequestContext, ref: str) -> dict[str, Any]:
    """Who a player is. Raises NotFound (`no_person` where no person was recorded), Gone, WrongTerminal."""
    house = context.house
    require_away_from_tables(context)
    player = get(house, ref)
    newest = _newest(player)
    if newest is None:
        raise NotFound(f"No person has been recorded for {ref}.", code="no_person")
    person = sealing.unseal(bytes(newest.sealed), _key(player, house), house.id, ref, newest.version)
    return {"player": ref, "version": newest.version, "at": newest.at, "person": person}


def recorded_now(house: House, player: Player) -> dict[str, str] | None:
    """What is recorded of a player; None where that is nothing, or was forgotten. Who asks records the read."""
    newest, key = _newest(player), PersonKey.objects.filter(player=player).first()
    if newest is None or key is None:
        return None
    unwrapped = sealing.unwrap(bytes(key.wrapped), house.id, player.ref)
    return sealing.unseal(bytes(newest.sealed), unwrapped, house.id, player.ref, newest.version)


def versions(house: House, player: Player) -> list[dict[str, Any]]:
    """Every record of a player that can still be read, the oldest first: `version`, `at` and `person`. Who asks records
    the read."""
    key = PersonKey.objects.filter(player=player).first()
    if key is None:
        return []
    unwrapped = sealing.unwrap(bytes(key.wrapped), house.id, player.ref)
    return [
        {"version": row.version, "at": row.at}
        | {"person": sealing.unseal(bytes(row.sealed), unwrapped, house.id, player.ref, row.version)}
        for row in Person.objects.filter(player=player).order_by("version")
    ]


def readable(house: House, chunk: int) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Every player whose person can still be read, with all records, the oldest first; `chunk` players are in the clear
    at a time. For who looks for somebody: nothing of it is shown."""
    last = 0
    while keys := list(
        PersonKey.objects.filter(house=house, player__gt=last).select_related("player").order_by("player")[:chunk]
    ):
        rows: dict[int, list[Person]] = {}
        for row in Person.objects.filter(house=house, player__in=[key.pk for key in keys]).order_by("version"):
            rows.setdefault(row.player_id, []).append(row)
        for key in keys:
            ref, unwrapped = key.player.ref, sealing.unwrap(bytes(key.wrapped), house.id, key.player.ref)
            yield (
                ref,
                [sealing.unseal(bytes(row.sealed), unwrapped, house.id, ref, row.version) for row in rows[key.pk]],
            )
        last = keys[-1].pk


def lock(house: House, ref: str) -> Player:
    """A player whose person is locked until the transaction ends. Raises NotFound."""
    return lock_beside(house, ref)[0]


def lock_beside(house: House, ref: str, *beside: sql.Statement | QuerySet[Any, Any]) -> tuple[Player, list[list[Any]]]:
    """As `lock`, and then run `beside` in the same round trip; returns what each of those has found too. Raises
    NotFound."""
    named = {"player__house": house, "player__ref": ref}
    newest = Person.objects.filter(**named).order_by("-version")[:1]
    keys = PersonKey.objects.filter(**named).values_list("pk")
    players, found, keyed, *others = locks.lock_person_of(house.id, ref, _players(house, ref), newest, keys, *beside)
    for player in players:
        player.__dict__[_READ] = (next(iter(found), None), bool(keyed))
        return player, others
    raise NotFound(f"This house has no player {ref}.")


def reading(player: Player) -> tuple[QuerySet[Any, Any], QuerySet[Any, Any]]:
    """What is read of a player's person under the lock, for who takes the lock with something else; `read` takes what
    the two have found."""
    return (
        Person.objects.filter(player=player).order_by("-version")[:1],
        PersonKey.objects.filter(player=player).values_list("pk"),
    )


def read(player: Player, newest: list[Person], keys: list[Any]) -> None:
    """Let the player go by what `reading` has found."""
    player.__dict__[_READ] = (next(iter(newest), None), bool(keys))


def require_known(player: Player) -> Person:
    """The newest record of a player who can still be read. Raises NotFound no_person and Gone person_forgotten."""
    read = player.__dict__.get(_READ)
    newest = read[0] if read else _newest(player)
    if newest is None:
        raise NotFound(f"No person has been recorded for {player.ref}.", code="no_person")
    require_not_forgotten(player)
    return newest


def is_known(player: Player) -> bool:
    """Whether it is recorded who a player is; nobody asks of one who was forgotten. The caller holds the lock."""
    return PersonKey.objects.filter(player=player).exists()


def require_not_forgotten(player: Player) -> None:
    """Refuse a player whose person was recorded and then forgotten; one who was never recorded is taken. The caller
    holds the lock. Raises Gone person_forgotten."""
    read = player.__dict__.get(_READ)
    newest, keyed = read or (_newest(player), PersonKey.objects.filter(player=player).exists())
    if newest is not None and not keyed:
        raise _forgotten(player.ref)


def require_guest(player: Player) -> None:
    """Refuse a player who works in the house, as `lock` has read it. Raises Conflict staff_as_player."""
    if getattr(player, "works_here", False):
        raise as_player.refused(player.ref)


def destroy_key(player: Player) -> None:
    """Destroy a player's data key, and delete the stored answers about the player, after `player.forgotten` was
    recorded in this transaction. Raises Gone."""
    [(there,)] = sql.rows("SELECT players_destroy_key(%s)", [player.id])
    if not there:
        raise _forgotten(player.ref)


def require_away_from_tables(context: RequestContext) -> None:
    """Refuse consoles that stand among players. Raises WrongTerminal."""
    if context.terminal.kind == TerminalKind.TABLE:
        raise WrongTerminal(f"Terminal {context.terminal.code} is at a table; personal data are for cage and office.")


def _players(house: House, ref: str) -> "QuerySet[Player]":
    return Player.objects.filter(house=house, ref=ref).annotate(works_here=as_player.of_staff())


def get(house: House, ref: str) -> Player:
    """A player of the house. Raises NotFound."""
    player = _players(house, ref).first()
    if player is None:
        raise NotFound(f"This house has no player {ref}.")
    return player


def _newest(player: Player) -> Person | None:
    return Person.objects.filter(player=player).order_by("-version").first()


def _key(player: Player, house: House, *, begin: bool = False) -> bytes:
    """A player's data key; `begin` makes one for a player without a recorded person. Raises Gone."""
    if begin:
        key = aead.new_key()
        PersonKey.objects.create(house=house, player=player, wrapped=sealing.wrap(key, house.id, player.ref))
        return key
    stored = PersonKey.objects.filter(player=player).first()
    if stored is None:
        raise _forgotten(player.ref)
    return sealing.unwrap(bytes(stored.wrapped), house.id, player.ref)


def _forgotten(ref: str) -> Gone:
    return Gone(f"Who {ref} was has been forgotten; a returning guest gets a new reference.", code="person_forgotten")
